"""The rows of a sweep: ranked, chosen from, compared, read back from a file."""
