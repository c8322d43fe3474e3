"""What can go wrong, by whose hand it can be mended."""


class MsvmError(Exception):
    """The base: a message for a person, never a bug (bugs keep their traceback)."""


class DataError(MsvmError):
    """The data cannot be used; says the file, the line, the column and the way out."""


class SettingsError(MsvmError):
    """A setting is not of its form, or two of them contradict each other."""


class KernelError(MsvmError):
    """A Gram matrix that no optimum is defined for (indefinite, not finite)."""


class SolverError(MsvmError):
    """A solver has no answer at all; the cell becomes a row with its reason."""


class NotSeparableError(SolverError):
    """No machine without slack separates the classes; it names who is in the way."""
