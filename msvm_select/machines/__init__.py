"""Losses, and the machines that are trained with them."""
