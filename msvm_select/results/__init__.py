"""The rows of a sweep: ranked, chosen from, compared, read back from a file."""

from msvm_select.results.ranking import Results, rank, ranking_column

__all__ = ["Results", "rank", "ranking_column"]
