"""Rows -> ranked Results -> a table for a terminal, a file, and back."""

from msvm_select.report.ranking import Results, rank, ranking_column
from msvm_select.report.terminal import summary, table

__all__ = ["Results", "rank", "ranking_column", "summary", "table"]
