"""Roundings of gradients and weights, stated in NumPy with the values that ml_dtypes lists."""
import math

import ml_dtypes
import numpy as np


def stochastic(x, r, dtype):
    """N5 among the values that ml_dtypes lists: away from zero if r < 2^32 d; beyond them the largest."""
    codes = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float64)
    grid = np.sort(codes[np.isfinite(codes)])
    magnitude = np.minimum(np.abs(x.astype(np.float64)), grid[-1])
    below = np.searchsorted(grid, magnitude, "right") - 1
    low, high = grid[below], grid[np.minimum(below + 1, len(grid) - 1)]
    with np.errstate(invalid="ignore"):
        d = np.where(high > low, (magnitude - low) / (high - low), 0)
    return np.copysign(np.where(r < d * 2.0 ** 32, high, low), x)


def nearest(x, r, dtype):
    """As `stochastic`, of which it takes the place: `r` decides nothing."""
    most = float(ml_dtypes.finfo(dtype).max)
    return np.clip(x, -most, most).astype(dtype).astype(np.float64)


def blocks(x, dtype, r=None):
    """MXFP8 along the last axis; the values. Scales by OCP MX's rule (S3, floor), or, where `r` rounds
    stochastically, the least under which no element saturates (S3, round-up)."""
    split = x.reshape(*x.shape[:-1], -1, 32)
    most = float(ml_dtypes.finfo(dtype).max)
    emax = math.frexp(most)[1] - 1
    amax = np.abs(split).max(-1, keepdims=True)
    scale = 2.0 ** (np.frexp(amax)[1] - 1 - emax)
    if r is not None:
        scale = np.where(amax > most * scale, 2 * scale, scale)
    codes = (nearest if r is None else stochastic)(split / scale, None if r is None else r.reshape(split.shape), dtype)
    return (codes * scale).reshape(x.shape)
