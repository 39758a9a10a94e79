"""octavo in JAX programs on the CPU: quantize, dequantize, convert and scaled products, under
``jax.jit``, ``jax.vmap`` and ``jax.grad``.

The kernels of octavo run inside the compiled program through XLA's foreign function interface, so
results have the bits of docs/semantics.md. ``scaled_matmul`` and ``scaled_dot_general`` have the
signatures of ``jax.nn``, which on the CPU raises NotImplementedError; after ``register()`` those of
``jax.nn`` themselves run here.

    >>> import jax, jax.numpy as jnp, octavo.jax as oj
    >>> x = jax.random.normal(jax.random.key(0), (4, 64))
    >>> q = jax.jit(lambda x: oj.quantize(x, "mxfp8_e4m3"))(x)
    >>> q.scales.shape
    (4, 2)
    >>> float(jnp.abs(oj.dequantize(q) - x).max()) < 0.25
    True
"""
import dataclasses
import functools
import json
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike, DTypeLike

from . import _core, _scaled_index
from .errors import DtypeError, FormatError, ShapeError

__all__ = [
    "ScaledArray",
    "amax",
    "convert",
    "dequantize",
    "fake_quantize",
    "from_tensor",
    "matmul",
    "pack",
    "quantize",
    "register",
    "scaled_dot_general",
    "scaled_matmul",
    "unpack",
]

for _name, _target in _core.jax_targets().items():
    jax.ffi.register_ffi_target(_name, _target, platform="cpu")
try:  # what these calls take and give stays as it is, so jax.export may write them (docs/jax.md)
    from jax._src.export._export import _CUSTOM_CALL_TARGETS_GUARANTEED_STABLE as _stable_targets
    _stable_targets.update(_core.jax_targets())
except ImportError:  # another JAX: jax.export names the targets that disabled_checks must allow
    pass

_FORMATS = _core.formats()
_F32 = _core.ElementFormat("f32")
_WIDE = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


def _element_format(format: str | _core.ElementFormat | DTypeLike,
                    widths: Sequence[int]) -> _core.ElementFormat:
    row = _core.ElementFormat(format)
    if row.bits not in widths:
        known = ", ".join(each for each, row in _FORMATS.items()
                          if isinstance(row, _core.ElementFormat) and row.bits in widths)
        raise FormatError(f"format: {row.name} has {row.bits} bits; available: {known}")
    return row


def _is_in_bytes(format: _core.ElementFormat) -> bool:
    """Whether JAX has the codes in uint8: XLA has no six-bit floats, nor formats that ml_dtypes lacks."""
    return format.bits == 6 or format.numpy is None


def _dtype(format: _core.ElementFormat):
    """The dtype of codes in JAX."""
    return np.dtype(jnp.uint8) if _is_in_bytes(format) else jnp.dtype(format.numpy)


def _array(x: ArrayLike, name: str) -> Array:
    if isinstance(x, _core.ScaledTensor):
        raise DtypeError(f"{name}: found an octavo.ScaledTensor; octavo.jax.from_tensor makes a "
                         "ScaledArray of it, octavo.dequantize its values")
    if not isinstance(x, Array) and (hasattr(x, "__array__") or hasattr(x, "__dlpack__")):
        x = _core.jax_array(x, name)  # masks and views that torch resolves, as octavo takes them
    try:
        return jnp.asarray(x)
    except (TypeError, ValueError) as error:
        raise DtypeError(f"{name}: expected an array, found {type(x).__name__}: "
                         f"{error}") from error
    except jax.errors.JaxRuntimeError as error:
        if "Invalid XLA PrimitiveType" not in str(error):  # memory
            raise
        raise DtypeError(f"{name}: JAX has no arrays of {np.asarray(x).dtype}; x.view(numpy.uint8) "
                         "has its codes") from error


def _floats(x: ArrayLike, name: str) -> Array:
    x = _array(x, name)
    if x.dtype.name not in _WIDE:
        raise DtypeError(f"{name}: expected float32, bfloat16 or float16, found {x.dtype}; "
                         "convert it with astype")
    return x.astype(jnp.float32)


def _axis_from_end(axis: int, x: Array) -> int:
    """Which axis from the end that is: 1 is the last."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise DtypeError(f"axis: expected an integer, found {axis!r}: blocks lie along one "
                         "axis") from None
    if x.ndim == 0:
        raise ShapeError("x: expected one axis or more, found none; reshape it to (1,)")
    if not -x.ndim <= index < x.ndim:
        raise ShapeError(f"axis: expected {-x.ndim} to {x.ndim - 1} for shape {x.shape}, found {index}")
    return x.ndim - index % x.ndim


def _outer_operand(outer: ArrayLike | None) -> Array:
    """An outer scale that is given, or nothing, as the kernel takes both."""
    if outer is None:
        return jnp.zeros((0,), jnp.float32)
    given = _floats(np.float32(outer) if isinstance(outer, (int, float)) else outer, "outer")
    if given.ndim:
        raise ShapeError(f"outer: expected one number, found shape {given.shape}; jax.vmap "
                         "goes over several")
    return _without_gradient(lambda given: given, "outer has no gradient")(given)


def _random_bits(rounding: str | None, key: Array | None, shape: tuple[int, ...]) -> Array:
    if (rounding == "stochastic") != (key is not None):
        raise FormatError("rounding=\"stochastic\" and key=jax.random.key(...) go together")
    if key is None:
        return jnp.zeros((0,), jnp.uint32)
    try:
        return jax.random.bits(key, shape, jnp.uint32)
    except (TypeError, ValueError) as error:  # of the three arguments only the key is the caller's
        found = f"{key.dtype} {list(key.shape)}" if hasattr(key, "dtype") else repr(key)
        raise DtypeError(f"key: expected one key of jax.random.key(...), found {found}; "
                         "jax.vmap goes over several") from error


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["elements", "scales", "outer"],
    meta_fields=["format", "axis"])
@dataclasses.dataclass(frozen=True, eq=False)
class ScaledArray:
    """Elements on a grid of scales: value = element * scale * outer. A pytree.

    elements: codes of the format's elements (uint8 for six-bit floats), of the tensor's shape.
    scales: one a block.
    outer: float32; one for each member of the leading axes that ``vmap`` added.
    format: the name of the scaled format.
    axis: the axis that a product contracts, counted from the end.
    """

    elements: Array
    scales: Array
    outer: Array
    format: str
    axis: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values."""
        return self.elements.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.elements.ndim

    @property
    def size(self) -> int:
        """Number of values."""
        return self.elements.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values, float32; that of the codes is elements.dtype."""
        return np.dtype(np.float32)

    @property
    def nbytes(self) -> int:
        """Bytes of elements and scales in memory."""
        return self.elements.nbytes + self.scales.nbytes + self.outer.nbytes

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ShapeError("len: expected one axis or more, found none")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        """Whether format, axis and all parts are the same, bit for bit; outside of jit."""
        if not isinstance(other, ScaledArray):
            return NotImplemented
        if (self.format, self.axis) != (other.format, other.axis):
            return False
        parts = [[_concrete(getattr(array, name), "==") for name in ("elements", "scales", "outer")]
                 for array in (self, other)]
        return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
                   for a, b in zip(*parts))

    __hash__ = None  # type: ignore[assignment]

    @property
    def T(self) -> "ScaledArray":
        """The matrix transposed."""
        if self.ndim != 2:
            raise ShapeError(f"T: expected a matrix, found shape {self.shape}; mT swaps the last two axes")
        return self.mT

    @property
    def mT(self) -> "ScaledArray":
        """The last two axes exchanged."""
        if self.ndim < 2 or self.axis not in (-1, -2):
            raise ShapeError("mT: expected blocks along one of the last two axes, which it swaps; "
                             f"found shape {self.shape}, axis {self.axis}")
        return ScaledArray(self.elements.swapaxes(-1, -2), self.scales.swapaxes(-1, -2), self.outer,
                           self.format, -3 - self.axis)

    def __getitem__(self, key: Any) -> "ScaledArray":
        """A part with its scales: integers, traced ones too, on axes without blocks, slices on the
        edges of blocks, and `...`. Raises ShapeError, IndexError."""
        _parts(self)
        *parts, axis = _scaled_index.parts(self.elements, self.scales, self.outer, self.format,
                                           self.axis, key)
        return ScaledArray(*parts, format=self.format, axis=axis)

    def batched(self, axes: int = 1) -> "ScaledArray":
        """The same values as a batch over the first `axes` axes, with scales for each member, as
        ``vmap`` makes one of quantize: ``jax.vmap`` and ``jax.lax.scan`` go over it. Scales of more
        than one member are repeated. Raises ShapeError where blocks lie along one of the axes."""
        array, _, _ = _parts(self)
        members = _scaled_index.members(array.elements.ndim, array.outer.ndim, array.format, array.axis, axes)
        lead = array.shape[:members]
        outer = array.outer.reshape(array.outer.shape + (1,) * (members - array.outer.ndim))
        return ScaledArray(
            array.elements, jnp.broadcast_to(array.scales, lead + array.scales.shape[members:]),
            jnp.broadcast_to(outer, lead), array.format, array.axis)

    def to_tensor(self) -> _core.ScaledTensor:
        """The same as an octavo.ScaledTensor, which octavo.save takes; outside of jit.
        Raises ShapeError where vmap gave each member an outer scale."""
        _parts(self)
        if self.outer.ndim != 0:
            raise ShapeError("to_tensor: expected one outer scale, found outer of shape "
                             f"{self.outer.shape}; take one member, as in array[0]")
        elements, scales, outer = (_concrete(part, "to_tensor")
                                   for part in (self.elements, self.scales, self.outer))
        return _core.ScaledTensor(elements, scales, self.format, axis=self.axis, outer=float(outer))

    def dequantize(self) -> Array:
        """The values as float32, as octavo.jax.dequantize gives them."""
        return dequantize(self)

    def __matmul__(self, other: "ScaledArray | ArrayLike") -> Array:
        return matmul(self, other)

    def __rmatmul__(self, other: ArrayLike) -> Array:
        return matmul(other, self)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise DtypeError("a ScaledArray is not an array: dequantize() gives its values, to_tensor() an "
                         "octavo.ScaledTensor, elements and scales are its codes")

    __array_ufunc__ = None  # array @ scaled is __rmatmul__, array + scaled a TypeError


def _concrete(part: ArrayLike, name: str) -> np.ndarray:
    if isinstance(part, jax.core.Tracer):
        raise DtypeError(f"{name}: found arrays that are traced; it is for outside of jit, vmap and grad")
    return np.asarray(part)


def _register_with_export() -> None:
    """Lets jax.export write programs that take and give ScaledArray."""
    from jax import export

    export.register_pytree_node_serialization(
        ScaledArray, serialized_name="octavo.jax.ScaledArray",
        serialize_auxdata=lambda meta: json.dumps(meta).encode(),
        deserialize_auxdata=lambda text: tuple(json.loads(text)))


_register_with_export()


def from_tensor(tensor: _core.ScaledTensor) -> ScaledArray:
    """A ScaledArray of an octavo.ScaledTensor, such as octavo.load and octavo.checkpoint give."""
    if not isinstance(tensor, _core.ScaledTensor):
        raise DtypeError(f"tensor: expected an octavo.ScaledTensor, found {type(tensor).__name__}")
    held = np.uint8 if _dtype(tensor.format.element) == np.uint8 else tensor.elements.dtype
    return ScaledArray(jnp.asarray(tensor.elements.view(held)), jnp.asarray(tensor.scales),
                       jnp.float32(tensor.outer), tensor.format.name, tensor.axis - tensor.ndim)


def _parts(array: ScaledArray) -> tuple[ScaledArray, list[int], list[int]]:
    """The same of JAX's arrays, checked to be what the kernels read; the shapes of a member of the
    batch that vmap made and of a block."""
    if not isinstance(array, ScaledArray):
        raise DtypeError(f"array: expected a ScaledArray, found {type(array).__name__}; "
                         "quantize makes one")
    row = _core.ScaledFormat(array.format)
    parts = {name: _array(getattr(array, name), name) for name in ("elements", "scales", "outer")}
    axis = operator.index(array.axis) if hasattr(array.axis, "__index__") else 0
    if axis >= 0:
        raise ShapeError("axis: expected a negative number, counted from the end, found "
                         f"{array.axis!r}")
    member, block = _core.jax_parts(row.name, -axis, *(
        (str(part.dtype), part.shape) for part in parts.values()))
    return ScaledArray(**parts, format=row.name, axis=axis), member, block


def _without_gradient(function: Callable[..., Any], fix: str) -> Callable[..., Any]:
    """`function` of arrays, which refuses to be differentiated with a sentence."""
    wrapped = jax.custom_jvp(function)

    @wrapped.defjvp
    def _(primals, tangents):
        raise TypeError(fix)

    return wrapped


def quantize(x: ArrayLike, format: str | _core.ScaledFormat, *, axis: int = -1,
             rule: str | None = None, preset: str | None = None, rounding: str | None = None,
             overflow: str | None = None, nan: str | None = None,
             key: Array | None = None, outer: ArrayLike | None = None) -> ScaledArray:
    """Quantizes an array (docs/semantics.md, S2 to S9).

    x: one axis or more; float32, bfloat16 or float16.
    format: a scaled format or its name: "mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row", ...
    axis: the axis that a product contracts; blocks lie along it.
    rule: how a block's scale comes from its largest magnitude; the format's own if None.
    preset: the settings of an owner ("torchao-rceil", "jax", ...: docs/scale-rules.md), a rule
        among them. What follows replaces a preset's setting.
    rounding: of elements, "ties-to-even" if neither it nor a preset is given; "stochastic" takes
        its bits from ``key``.
    overflow: "saturate" (None) or "special", for elements beyond the element format.
    nan: "propagate", if neither it nor a preset is given, makes the blocks of NaN and infinities
        NaN, as JAX programs expect; "error" makes the program fail; "saturate" lets infinities
        saturate.
    outer: for NVFP4, a scale of the whole tensor that was calibrated, or that tensors share; None
        takes it from the tensor. It multiplies; a program fails where it is not positive and finite.

    It has no gradient of its own: fake_quantize and scaled_dot_general have.
    Raises FormatError, DtypeError, ShapeError.
    """
    x, row = _array(x, "x"), _core.ScaledFormat(format)
    options = _options(row, rule, preset, rounding, overflow, nan, outer)
    return _quantize(x, _random_bits(rounding, key, x.shape), _outer_operand(outer), row, axis,
                     options)


def _options(row: _core.ScaledFormat, rule: str | None, preset: str | None, rounding: str | None,
             overflow: str | None, nan: str | None, outer: ArrayLike | None) -> dict[str, str]:
    """The settings as the kernel takes them: empty where the preset's or the default holds."""
    _core.jax_check_options(row.name, rule, preset, rounding, overflow, nan, outer is not None)
    return dict(rule=rule or "", preset=preset or "", rounding=rounding or "",
                overflow=overflow or "", nan=nan or ("" if preset else "propagate"))


def _quantize(x: Array, bits: Array, outer: Array, row: _core.ScaledFormat, axis: int,
              options: dict[str, str]) -> ScaledArray:
    given = x.dtype
    x = _floats(x, "x")
    from_end = _axis_from_end(axis, x)
    if options["preset"]:
        _core.check_edge(row.name, options["preset"], x.shape, x.ndim - from_end)
    grid = _core.jax_scale_shape(row.name, x.shape, x.ndim - from_end)
    call = jax.ffi.ffi_call(
        "octavo_quantize",
        (jax.ShapeDtypeStruct(x.shape, _dtype(row.element)),
         jax.ShapeDtypeStruct(grid, _dtype(row.scale)), jax.ShapeDtypeStruct((), jnp.float32)),
        vmap_method="broadcast_all")
    call = functools.partial(call, format=row.name, axis_from_end=np.int64(from_end),
                             input=_WIDE[given.name], **options)
    elements, scales, outer = _without_gradient(
        call, "octavo.jax.quantize has no gradient; fake_quantize and scaled_dot_general pass it "
        "straight through")(x, bits, outer)
    return ScaledArray(elements, scales, outer, row.name, -from_end)


def dequantize(array: ScaledArray) -> Array:
    """The values, element * scale * outer, each rounded once to float32 (docs/semantics.md, S1).
    Raises DtypeError, ShapeError, FormatError where the parts are not those of the format."""
    array, _, _ = _parts(array)
    call = jax.ffi.ffi_call(
        "octavo_dequantize", jax.ShapeDtypeStruct(array.shape, jnp.float32),
        vmap_method="broadcast_all")
    call = functools.partial(call, format=array.format, axis_from_end=np.int64(-array.axis))
    return _without_gradient(call, "octavo.jax.dequantize has no gradient; fake_quantize passes it "
                             "straight through")(array.elements, array.scales, array.outer)


def fake_quantize(x: ArrayLike, format: str | _core.ScaledFormat, *, axis: int = -1,
                  rule: str | None = None, preset: str | None = None, rounding: str | None = None,
                  overflow: str | None = None, nan: str | None = None,
                  key: Array | None = None, outer: ArrayLike | None = None) -> Array:
    """dequantize(quantize(x)) in the dtype of x. Its derivative passes straight through, forward
    and backward (arXiv 1308.3432); there is none by outer. Arguments and errors are those of
    quantize."""
    x, row = _array(x, "x"), _core.ScaledFormat(format)
    options = _options(row, rule, preset, rounding, overflow, nan, outer)

    @jax.custom_jvp
    def through(x, bits, outer):
        quantized = _quantize(x, bits, outer, row, axis, options)
        return dequantize(quantized).astype(x.dtype)

    @through.defjvp
    def _(primals, tangents):
        return through(*primals), tangents[0]

    return through(x, _random_bits(rounding, key, x.shape), _outer_operand(outer))


def convert(x: ArrayLike, format: str | _core.ElementFormat | DTypeLike, *,
            rounding: str = "ties-to-even", overflow: str = "special", nan: str = "negative-zero",
            key: Array | None = None) -> Array:
    """Codes of an element format (docs/semantics.md, N2 to N8), in its dtype (uint8 for six-bit
    floats). The derivative passes straight through, forward and backward; codes in integers, those
    of six-bit floats and of int8, have none in JAX and refuse to be differentiated.

    x: any shape; float32, bfloat16 or float16.
    format: "e4m3fn", "e5m2", "e2m1fn", ...; a row of octavo.formats(), or a dtype.
    overflow: "special" (Inf or NaN where the format has one, as astype does) or "saturate".
    nan: what NaN becomes in a format without one: "negative-zero" or "maximum".
    """
    row = _element_format(format, range(1, 9))
    _core.jax_check_conversion(rounding, overflow, nan)
    x = _array(x, "x")
    bits = _random_bits(rounding, key, x.shape)

    def codes(x, bits):
        call = jax.ffi.ffi_call("octavo_convert", jax.ShapeDtypeStruct(x.shape, _dtype(row)),
                                vmap_method="broadcast_all")
        return call(_floats(x, "x"), bits, format=row.name, rounding=rounding, overflow=overflow,
                    nan=nan)

    if not jnp.issubdtype(_dtype(row), jnp.floating):
        return _without_gradient(
            codes, f"octavo.jax.convert to {row.name} has no gradient: its codes are {_dtype(row)} "
            "in JAX; fake_quantize to a scaled format passes it straight through")(x, bits)
    through = jax.custom_jvp(codes)

    @through.defjvp
    def _(primals, tangents):
        return through(*primals), tangents[0].astype(_dtype(row))

    return through(x, bits)


def amax(x: ArrayLike) -> Array:
    """The largest magnitude of float32, bfloat16 or float16 values, a float32; 0 of none, NaN if
    one is NaN. Raises DtypeError."""
    return jnp.max(jnp.abs(_floats(x, "x")), initial=0.0)


def pack(codes: ArrayLike, format: str | _core.ElementFormat | DTypeLike | None = None) -> Array:
    """Codes of fewer than 8 bits along the last axis as bytes, as octavo.pack lays them.

    codes: [..., n] of whole bytes: float4_e2m1fn, or codes in uint8 with `format`, whose bits above
        the format's are dropped.

    Returns uint8 [..., n * bits / 8]. Raises FormatError, DtypeError, ShapeError.
    """
    codes = _array(codes, "codes")
    row = _element_format(codes.dtype if format is None else format, range(1, 8))
    if codes.dtype != jnp.uint8:
        if codes.dtype != _dtype(row):
            raise DtypeError(f"codes: expected {'' if _is_in_bytes(row) else f'{row.numpy} or '}uint8, "
                             f"found {codes.dtype}")
        codes = lax.bitcast_convert_type(codes, jnp.uint4)
    group = 8 // math.gcd(8, row.bits)  # codes that fill whole bytes
    if codes.ndim == 0 or codes.shape[-1] % group:
        raise ShapeError(f"codes: expected a multiple of {group} on the last axis, found shape "
                         f"{codes.shape}; pad it")
    parts = codes.astype(jnp.uint8).reshape(*codes.shape[:-1], codes.shape[-1] // group, group)
    return _regrouped(parts, row.bits, 8).reshape(*codes.shape[:-1], codes.shape[-1] * row.bits // 8)


def _regrouped(parts: Array, bits: int, new_bits: int) -> Array:
    """The bit stream of [..., n] parts of `bits` bits, in parts of `new_bits`, the first in the low
    bits; what a part has above its bits is dropped."""
    n = parts.shape[-1]
    parts = parts.astype(jnp.uint32) & ((1 << bits) - 1)

    def part(at):  # the bits [at, at + new_bits)
        places = [(i, i * bits - at) for i in range(n) if -bits < i * bits - at < new_bits]
        return sum(parts[..., i] << place if place >= 0 else parts[..., i] >> -place
                   for i, place in places) & ((1 << new_bits) - 1)

    return jnp.stack([part(at) for at in range(0, n * bits, new_bits)], -1).astype(jnp.uint8)


def unpack(packed: ArrayLike, format: str | _core.ElementFormat | DTypeLike) -> Array:
    """The codes that pack packed: [..., bytes * 8 / bits] in the format's dtype, uint8 for six-bit
    floats. Raises FormatError, DtypeError, ShapeError."""
    packed = _array(packed, "packed")
    row = _element_format(format, range(1, 8))
    if packed.dtype != jnp.uint8:
        raise DtypeError(f"packed: expected uint8, found {packed.dtype}")
    group = 8 // math.gcd(8, row.bits)
    size = row.bits * group // 8
    if packed.ndim == 0 or packed.shape[-1] % size:
        raise ShapeError(f"packed: expected a multiple of {size} bytes on the last axis, found shape "
                         f"{packed.shape}")
    codes = _regrouped(packed.reshape(*packed.shape[:-1], packed.shape[-1] // size, size), 8, row.bits)
    codes = codes.reshape(*packed.shape[:-1], packed.shape[-1] * 8 // row.bits)
    if _is_in_bytes(row):
        return codes
    return lax.bitcast_convert_type(codes.astype(jnp.uint4), _dtype(row))


@dataclasses.dataclass(frozen=True)
class _Side:
    """One side of a product [..., rows, K], contracted along its last axis."""

    elements: Array
    scales: Array
    outer: Array
    element: str  # format names; no scale: plain float32
    scale: str
    across: int
    along: int

    @property
    def lead(self):
        return self.elements.shape[:-2]

    def values(self) -> Array:
        """What it stands for, by JAX's own operations."""
        if not self.scale:
            return self.elements
        element = _core.ElementFormat(self.element)
        values = (_decode(self.elements, element) if _is_in_bytes(element)
                  else self.elements.astype(jnp.float32) / (64 if element.name == "int8" else 1))
        rows, depth = self.elements.shape[-2:]
        scales = jnp.repeat(jnp.repeat(self.scales.astype(jnp.float32), self.across, -2)
                            [..., :rows, :], self.along, -1)[..., :depth]
        return values * scales * self.outer[..., None, None]

    def broadcast(self, lead: tuple[int, ...]) -> "_Side":
        def spread(array):
            return jnp.broadcast_to(array, lead + array.shape[-2:])

        return dataclasses.replace(
            self, elements=spread(self.elements), scales=spread(self.scales) if self.scale
            else jnp.zeros(lead + (0,), jnp.float32), outer=jnp.broadcast_to(self.outer, lead))


def _decode(codes: Array, format: _core.ElementFormat) -> Array:
    return jnp.asarray(_core.jax_values(format.name), jnp.float32)[codes]


def _side_of_array(array: ScaledArray, name: str) -> _Side:
    """A side [..., rows, K] of an array that is quantized along its last axis."""
    array, member, block = _parts(array)
    if len(member) < 2:
        raise ShapeError(f"{name}: expected two axes or more in each member of a batch of shape "
                         f"{array.outer.shape}, found shape {array.shape}")
    row = _core.ScaledFormat(array.format)
    lead = array.ndim - 2
    outer = array.outer.reshape(array.outer.shape + (1,) * (lead - array.outer.ndim))
    return _Side(array.elements, array.scales, jnp.broadcast_to(outer, array.shape[:-2]),
                 row.element.name, row.scale.name, block[-2], block[-1])


def _side_of_floats(x: Array) -> _Side:
    return _Side(x, jnp.zeros((), jnp.float32), jnp.ones(x.shape[:-2], jnp.float32), "", "", 1, 1)


def _product(left: _Side, right: _Side) -> Array:
    """[..., M, K] times [..., N, K] over K, in float32: the kernels where they have this pair of
    formats and blocks (docs/semantics.md, D3 to D5), else values multiplied in float32."""
    depth = left.elements.shape[-1]
    lead = jnp.broadcast_shapes(left.lead, right.lead)
    rows, columns = left.elements.shape[-2], right.elements.shape[-2]
    attributes = dict(
        left_element=left.element, left_scale=left.scale, left_across=left.across,
        left_along=left.along, right_element=right.element, right_scale=right.scale,
        right_across=right.across, right_along=right.along)
    if not right.scale or _core.jax_product_refusal(*attributes.values(), depth) is not None:
        return jnp.einsum("...mk,...nk->...mn", left.values(), right.values(),
                          precision=lax.Precision.HIGHEST)
    if left.across == 1 and not right.lead and left.lead:
        # The rows of all members against one matrix: one product, the matrix packed once. Outer
        # scales differ by member and multiply last (D5).
        flat = dataclasses.replace(
            left, elements=left.elements.reshape(math.prod(left.lead) * rows, depth),
            scales=left.scales.reshape(math.prod(left.lead) * rows, left.scales.shape[-1])
            if left.scale else left.scales,
            outer=jnp.ones((), jnp.float32))
        outer = left.outer[..., None, None]
        if not left.scale:
            return _product(flat, right).reshape(*lead, rows, columns)
        alone = dataclasses.replace(right, outer=jnp.ones((), jnp.float32))
        sums, both = _product(flat, alone).reshape(*lead, rows, columns), outer * right.outer
        numbers = jnp.finfo(jnp.float32)
        return jnp.where((abs(both) >= numbers.tiny) & (abs(both) <= numbers.max),
                         sums * both, sums * outer * right.outer)
    left, right = left.broadcast(lead), right.broadcast(lead)
    call = jax.ffi.ffi_call(
        "octavo_product", jax.ShapeDtypeStruct((*lead, rows, columns), jnp.float32),
        vmap_method="broadcast_all")
    call = functools.partial(call, **{name: np.int64(value) if isinstance(value, int) else value
                                      for name, value in attributes.items()})
    no_gradient = "a product of scaled arrays has no gradient by them; scaled_dot_general has"
    parts = left.scales, left.outer, right.elements, right.scales, right.outer
    if left.scale:
        return _without_gradient(call, no_gradient)(left.elements, *parts)

    product = jax.custom_vjp(call)

    def forward(x, *parts):
        if any(part.perturbed for part in parts):
            raise TypeError(no_gradient)
        *_, elements, scales, outer = values = [part.value for part in parts]
        return call(x.value, *values), (elements, scales, outer)

    def backward(kept, gradient):
        elements, scales, outer = kept
        values = dataclasses.replace(right, elements=elements, scales=scales, outer=outer).values()
        return (jnp.einsum("...mn,...nk->...mk", gradient, values, precision=lax.Precision.HIGHEST),
                *[None] * len(parts))

    product.defvjp(forward, backward, symbolic_zeros=True)
    return product(left.elements, *parts)


def matmul(a: ScaledArray | ArrayLike, b: ScaledArray | ArrayLike) -> Array:
    """a @ b in float32 for [..., M, K] and [..., K, N], of which one at least is a ScaledArray
    whose axis is the contracted one (-1 of a, -2 of b). Leading axes broadcast.

    A plain a meets the scaled b in float32 (see octavo.matmul for its error bound). A plain side has a
    gradient, by the other's values in float32; a scaled one has none.
    Raises ShapeError, DtypeError.
    """
    def side(operand, name, axis):
        if isinstance(operand, ScaledArray):
            if operand.ndim < 2:
                raise ShapeError(f"{name}: expected two axes or more, found shape {operand.shape}; "
                                 "quantize it as a matrix of one row or column")
            if operand.axis != axis:
                raise ShapeError(f"{name}: expected an array quantized along axis {axis}, "
                                 f"found axis {operand.axis} of shape {operand.shape}; quantize it "
                                 f"with axis={axis}")
            return _side_of_array(operand if axis == -1 else operand.mT, name)
        x = _floats(operand, name)
        if x.ndim < 2:
            raise ShapeError(f"{name}: expected two axes or more, found shape {x.shape}")
        return _side_of_floats(x if axis == -1 else x.swapaxes(-1, -2))

    left, right = side(a, "a", -1), side(b, "b", -2)
    if left.elements.shape[-1] != right.elements.shape[-1]:
        raise ShapeError(f"a and b: expected the same K, found {left.elements.shape[-1]} and "
                         f"{right.elements.shape[-1]}")
    if not left.scale and not right.scale:
        raise DtypeError("a or b: expected a ScaledArray, found plain arrays; jnp.matmul multiplies those")
    return _product(left, right)


def scaled_matmul(lhs: Array, rhs: Array, lhs_scales: Array, rhs_scales: Array,
                  preferred_element_type: DTypeLike = jnp.float32) -> Array:
    """jax.nn.scaled_matmul on the CPU: [B, M, K] times [B, N, K] over K, block by block.

    lhs_scales, rhs_scales: [B, M, K_a], [B, N, K_b] with K % K_a == 0 and K % K_b == 0.

    Sums are in float32, rounded once to preferred_element_type. Formats and block sizes that the
    kernels do not multiply are dequantized and multiplied in float32.
    Raises ValueError where jax.nn's does.
    """
    operands = {"lhs": lhs, "rhs": rhs, "lhs_scales": lhs_scales, "rhs_scales": rhs_scales}
    if any(x.ndim != 3 for x in operands.values()):
        raise ShapeError("scaled_matmul: expected four operands [B, rows, K], found " +
                         ", ".join(f"{name} {x.shape}" for name, x in operands.items()))
    if lhs.shape[0] != rhs.shape[0] or lhs.shape[2] != rhs.shape[2]:
        raise ShapeError(f"lhs and rhs: expected the same B and K, found {lhs.shape} and {rhs.shape}")
    sides = []
    for name, x, scales in (("lhs", lhs, lhs_scales), ("rhs", rhs, rhs_scales)):
        blocks = scales.shape[2]
        if scales.shape[:2] != x.shape[:2] or blocks == 0 or x.shape[2] % blocks != 0:
            raise ShapeError(f"{name}_scales: expected {(*x.shape[:2], 'K / block')} for {name} "
                             f"{x.shape}, found {scales.shape}")
        try:
            element, scale = (_core.ElementFormat(each.dtype) for each in (x, scales))
        except FormatError:
            element = scale = _F32
        if element.bits > 8 or element.name == "int8":
            x, scales = x.astype(jnp.float32), scales.astype(jnp.float32)
            element = scale = _F32
        sides.append(_Side(x, scales, jnp.ones(x.shape[:1], jnp.float32), element.name, scale.name,
                           1, x.shape[2] // blocks))
    return _product(*sides).astype(preferred_element_type)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _dot(a: Array, b: Array, formats: tuple[str, str, str]) -> Array:
    """[B, M, K] times [B, N, K] over K, both quantized along K."""
    left, right = (_side_of_array(quantize(x, format), name)
                   for x, format, name in zip((a, b), formats, ("lhs", "rhs")))
    return _product(left, right)


def _dot_forward(a, b, formats):
    return _dot(a, b, formats), (a, b)


def _dot_backward(formats, operands, gradient):
    # Quantized anew along the axes that these products contract: a scaled array of other blocks is
    # another tensor (recipes of MXFP8 training do the same).
    a, b = operands
    left, right, narrow = formats
    to_a = _dot(gradient, b.swapaxes(-1, -2), (narrow, right, narrow))
    to_b = _dot(gradient.swapaxes(-1, -2), a.swapaxes(-1, -2), (narrow, left, narrow))
    return to_a.astype(a.dtype), to_b.astype(b.dtype)


_dot.defvjp(_dot_forward, _dot_backward)


def scaled_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: lax.DotDimensionNumbers,
                       preferred_element_type: DTypeLike = jnp.float32,
                       configs: Sequence[Any] | None = None,
                       implementation: str | None = None) -> Array:
    """jax.nn.scaled_dot_general on the CPU: quantizes both sides along the contracted axes and
    multiplies them; so do the products of its gradient.

    configs: scaled formats or their names for lhs, rhs and gradients, ["mxfp8_e4m3", "mxfp8_e4m3",
        "mxfp8_e5m2"]; or what jax.nn.get_scaled_dot_general_config gives, three times, which takes
        JAX's own quantization. None is lax.dot_general.
    implementation: ignored, as jax.nn does.
    Contracted extents need not be multiples of the block.
    """
    if configs is None:
        return lax.dot_general(lhs, rhs, dimension_numbers,
                               preferred_element_type=preferred_element_type)
    if len(configs) != 3:
        raise ShapeError(f"configs: expected three (lhs, rhs, gradients), found {len(configs)}")
    configs = [config.name if isinstance(config, _core.ScaledFormat) else config
               for config in configs]
    if not all(isinstance(config, str) for config in configs):
        register()
        return jax.nn.scaled_dot_general(lhs, rhs, dimension_numbers, preferred_element_type,
                                         configs)
    for config in configs:
        _core.ScaledFormat(config)
    a, b, shape = _matrices(lhs, rhs, dimension_numbers)
    return _dot(a, b, tuple(configs)).reshape(shape).astype(preferred_element_type)


def _matrices(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: lax.DotDimensionNumbers) -> (
        tuple[Array, Array, tuple[int, ...]]):
    """The operands of a dot_general as [B, M, K] and [B, N, K], and the shape of its result."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers

    def matrices(x, contract, batch, name):
        axes = [*contract, *batch]
        if not set(axes) <= set(range(x.ndim)) or len(set(axes)) < len(axes):
            raise ShapeError(f"dimension_numbers: expected axes of {name}, 0 to {x.ndim - 1}, each "
                             f"once, found contracted {tuple(contract)} and batch {tuple(batch)}")
        kept = [axis for axis in range(x.ndim) if axis not in contract and axis not in batch]
        extents = [[x.shape[axis] for axis in axes] for axes in (batch, kept, contract)]
        return (x.transpose(*batch, *kept, *contract).reshape([math.prod(e) for e in extents]),
                extents)

    lhs, rhs = _checked(lhs, "lhs"), _checked(rhs, "rhs")
    a, (batch, rows, depth) = matrices(lhs, lhs_contract, lhs_batch, "lhs")
    b, (rhs_batch_extents, columns, rhs_depth) = matrices(rhs, rhs_contract, rhs_batch, "rhs")
    if batch != rhs_batch_extents or depth != rhs_depth:
        raise ShapeError(f"dimension_numbers: expected extents that agree, found batch {batch} and "
                         f"{rhs_batch_extents}, contracted {depth} and {rhs_depth}")
    return a, b, (*batch, *rows, *columns)


def _checked(x: ArrayLike, name: str) -> Array:
    x = _array(x, name)
    _floats(x, name)
    return x


def register() -> None:
    """Makes jax.nn.scaled_matmul, and with it jax.nn.scaled_dot_general, run on the CPU by these
    kernels. May be called more than once. Raises ImportError where this JAX keeps its primitive
    elsewhere (written for JAX 0.10)."""
    try:
        from jax._src.cudnn.scaled_matmul_stablehlo import _scaled_matmul_p
        from jax._src.interpreters import mlir
    except ImportError as error:
        raise ImportError(f"jax {jax.__version__} does not have jax.nn.scaled_matmul where octavo "
                          "looks for it (JAX 0.10 does); use octavo.jax.scaled_matmul") from error

    def lowered(lhs, rhs, lhs_scales, rhs_scales, *, preferred_element_type):
        return [scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type)]

    mlir.register_lowering(_scaled_matmul_p, mlir.lower_fun(lowered, multiple_results=True),
                           platform="cpu")
