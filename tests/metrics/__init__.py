"""Metrics beside scikit-learn and beside their own definitions."""
