"""The two-class machines that one-versus-one and one-versus-all are made of."""
