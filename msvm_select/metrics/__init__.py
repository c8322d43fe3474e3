"""Metrics of pooled answers, and probabilities from outputs."""
