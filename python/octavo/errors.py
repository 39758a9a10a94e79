"""The exceptions of octavo. Each message says what is wrong, what was found and what to do."""


class Error(Exception):
    """The base class of all exceptions of octavo."""


class FormatError(Error, ValueError):
    """An unknown name (of a format, a scale rule, a rounding, ...), a value out of range, or a format that the
    call does not support."""


class DtypeError(Error, TypeError):
    """An array with a dtype, or an object of a type, that the call does not take."""


class ShapeError(Error, ValueError):
    """A shape, an axis or an index that does not fit the other arguments."""


class NonFiniteError(Error, ValueError):
    """NaN or infinity in values to be quantized: by a call, when a weight is bound, or when a program runs.
    The message names the index of the first such value if it is known."""


class FileError(Error, ValueError):
    """A file that is damaged, holds something else than expected, or cannot be read or written."""


class ProgramError(Error, ValueError):
    """A program that cannot be read or compiled, an unknown or missing argument of a program, or a failed run."""
