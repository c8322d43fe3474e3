"""The renderer of pages: a finished sweep -> one self-contained file of HTML."""
