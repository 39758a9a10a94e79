"""What octavo raises: each says what is wrong, what was found, and what to do."""


class Error(Exception):
    """The base of every error that octavo raises on purpose."""


class FormatError(Error, ValueError):
    """A name that nothing has (format, rule, rounding, ...), or a format that cannot do this."""


class DtypeError(Error, TypeError):
    """An array whose dtype, or an object whose type, is not one that the call takes."""


class ShapeError(Error, ValueError):
    """A shape, an axis or an index that does not fit."""


class NonFiniteError(Error, ValueError):
    """NaN or infinity in values that are to be quantized, when a weight is bound or a program runs, too; the
    message has the first one's index where it is known."""


class FileError(Error, ValueError):
    """A file that is damaged, holds something else, or cannot be written."""


class ProgramError(Error, ValueError):
    """A program that cannot be read or compiled, an unknown or missing argument, or a run that failed."""
