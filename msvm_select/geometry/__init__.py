"""Balls and margins in feature space, from kernel values alone."""
