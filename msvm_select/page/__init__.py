"""A finished sweep -> one self-contained page of HTML."""
