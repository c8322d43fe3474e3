"""The only loop over a grid: kernel settings outside, C ascending inside."""

from msvm_select.sweep.extend import Extension
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import gather, iterate, run_sweep

__all__ = ["Extension", "Journal", "gather", "iterate", "run_sweep"]
