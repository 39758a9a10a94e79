"""octavo.jax.pack and unpack: codes of fewer than 8 bits in bytes."""
import math

import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike, DTypeLike

from .. import _core
from ..errors import DtypeError, ShapeError
from ._operands import as_array, codes_dtype, element_format, is_in_bytes


def pack(codes: ArrayLike, format: str | _core.ElementFormat | DTypeLike | None = None) -> Array:
    """Packs codes of fewer than 8 bits along the last axis into bytes, as octavo.pack does.

    codes: [..., n], float4_e2m1fn, or uint8 codes with ``format``, whose unused high bits are ignored. The n
        codes must fill whole bytes.
    format: the element format of uint8 codes, or its dtype; None takes the format from the dtype of ``codes``.

    Returns uint8 [..., n * bits / 8]. Raises FormatError, DtypeError, ShapeError.
    """
    codes = as_array(codes, "codes")
    row = element_format(codes.dtype if format is None else format, range(1, 8))
    if codes.dtype != jnp.uint8:
        if codes.dtype != codes_dtype(row):
            raise DtypeError(f"codes: expected {'' if is_in_bytes(row) else f'{row.numpy} or '}uint8, "
                             f"found {codes.dtype}")
        codes = lax.bitcast_convert_type(codes, jnp.uint4)
    group = 8 // math.gcd(8, row.bits)  # codes that fill whole bytes
    if codes.ndim == 0 or codes.shape[-1] % group:
        raise ShapeError(f"codes: expected a multiple of {group} on the last axis, found shape "
                         f"{codes.shape}; pad it")
    parts = codes.astype(jnp.uint8).reshape(*codes.shape[:-1], codes.shape[-1] // group, group)
    return _regrouped(parts, row.bits, 8).reshape(*codes.shape[:-1], codes.shape[-1] * row.bits // 8)


def unpack(packed: ArrayLike, format: str | _core.ElementFormat | DTypeLike) -> Array:
    """Unpacks the codes that pack packed.

    packed: uint8 [..., bytes].
    format: an element format of fewer than 8 bits, or its dtype.

    Returns [..., bytes * 8 / bits] in the format's dtype; uint8 for six-bit floats. Raises FormatError, DtypeError,
    ShapeError.
    """
    packed = as_array(packed, "packed")
    row = element_format(format, range(1, 8))
    if packed.dtype != jnp.uint8:
        raise DtypeError(f"packed: expected uint8, found {packed.dtype}")
    group = 8 // math.gcd(8, row.bits)
    size = row.bits * group // 8
    if packed.ndim == 0 or packed.shape[-1] % size:
        raise ShapeError(f"packed: expected a multiple of {size} bytes on the last axis, found shape "
                         f"{packed.shape}")
    codes = _regrouped(packed.reshape(*packed.shape[:-1], packed.shape[-1] // size, size), 8, row.bits)
    codes = codes.reshape(*packed.shape[:-1], packed.shape[-1] * 8 // row.bits)
    if is_in_bytes(row):
        return codes
    return lax.bitcast_convert_type(codes.astype(jnp.uint4), codes_dtype(row))


def _regrouped(parts: Array, bits: int, new_bits: int) -> Array:
    """Regroups the bit stream of [..., n] parts of `bits` bits into parts of `new_bits`. The first part lies in the
    low bits. Bits of a part above its width are ignored."""
    n = parts.shape[-1]
    parts = parts.astype(jnp.uint32) & ((1 << bits) - 1)

    def part(at: int) -> Array | int:  # the bits [at, at + new_bits)
        places = [(i, i * bits - at) for i in range(n) if -bits < i * bits - at < new_bits]
        return sum(parts[..., i] << place if place >= 0 else parts[..., i] >> -place
                   for i, place in places) & ((1 << new_bits) - 1)

    return jnp.stack([part(at) for at in range(0, n * bits, new_bits)], -1).astype(jnp.uint8)
