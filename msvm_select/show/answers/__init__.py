"""One file an answer: what a command found, as a table and in every format."""
