"""A trained machine on its own: fitted, kept in a file, asked for classes."""
