"""Solvers: Dual + start -> Solution, each by its own method to the same optimum.

To add one: write its file with a subclass of ``Solver`` and give it a line in
``msvm_select/names.py``; the contract tests then run over it. Heavy packages are
imported when it solves.
"""
