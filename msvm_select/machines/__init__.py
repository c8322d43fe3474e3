"""Machines: labels + Gram + C -> the dual problem to solve; named by their loss."""
