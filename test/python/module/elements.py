"""What the codes of narrow element formats mean: what ml_dtypes says, and of a float that it lacks,
which has no Inf and no NaN, what OCP MX 5.3.2 says, in NumPy."""
import numpy as np


def dtype(row):
    """The dtype of arrays of the format's codes."""
    return np.dtype(row.numpy or np.uint8)


def values(codes, row):
    """The values of codes, in uint8 or the format's dtype, as float64."""
    codes = codes.view(np.uint8)
    if row.numpy:
        return codes.view(row.numpy).astype(np.float64) / (64 if row.name == "int8" else 1)
    sign = np.where(codes >> row.bits - 1, -1.0, 1.0)
    exponent = codes >> row.trailing_significand_bits & (1 << row.exponent_bits) - 1
    significand = (codes & (1 << row.trailing_significand_bits) - 1) / 2.0 ** row.trailing_significand_bits
    normal = exponent > 0
    return sign * (significand + normal) * 2.0 ** (np.maximum(exponent, 1).astype(np.float64) - row.bias)


def rounded(x, row):
    """Codes of the values nearest to x, ties to the even code, in the format's dtype. NaN is the zero of
    the other sign, as ml_dtypes has it in such floats."""
    if row.numpy:
        return x.astype(row.numpy)
    positive = values(np.arange(1 << row.bits - 1, dtype=np.uint8), row)
    magnitude = np.minimum(np.abs(x.astype(np.float64)), row.max)
    high = np.clip(np.searchsorted(positive, magnitude), 1, len(positive) - 1)
    below, above = magnitude - positive[high - 1], positive[high] - magnitude
    code = np.where((above < below) | ((above == below) & (high % 2 == 0)), high, high - 1)
    nan = np.isnan(x)
    return (np.where(nan, 0, code) | (np.signbit(x) ^ nan) << row.bits - 1).astype(np.uint8)
