"""Benchmarks: each ratio against a peer that is measured in the same run."""
