"""``python -m msvm_select`` is ``msvm-select``."""

from msvm_select.cli import main

main()
