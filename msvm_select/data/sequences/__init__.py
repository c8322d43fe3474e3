"""Sequences of letters: FASTA, alphabets, labels, and what features they have.

Nothing on the way of a table imports this room; names.py says where the reader is.
"""
