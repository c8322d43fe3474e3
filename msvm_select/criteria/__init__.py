"""Criteria: what a sweep may rank its cells by.

To add one: write its file with a subclass of ``Criterion``, give it a line in
``msvm_select/names.py``, and say in ``tests/criteria/`` what must hold of it.
"""
