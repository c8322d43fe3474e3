"""The only loop over a grid: kernel settings outside, C ascending inside."""

from msvm_select.sweep.loop import gather, iterate, run_sweep

__all__ = ["gather", "iterate", "run_sweep"]
