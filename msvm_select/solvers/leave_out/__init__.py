"""Exact leave-one-out: every machine without one sample, from the full machine."""
