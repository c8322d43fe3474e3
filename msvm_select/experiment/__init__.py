"""Experiments of the papers, beside the figures that they print."""
