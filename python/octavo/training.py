"""Matrix products for training in JAX on the CPU, forward and backward in narrow formats.

``dot_general`` quantizes both sides of each product in blocks (MX, NVFP4); its gradients may be
rounded stochastically, and their weight products rotated by random Hadamard transforms.
``delayed_dot_general`` is FP8 with one scale a tensor, taken from the amaxes of earlier steps, which
a program carries from step to step as a pytree. ``LossScale`` keeps small gradients from vanishing.
``ProgramState`` carries what a step that ``octavo.compile`` quantized by a recipe keeps: delayed scales
with their histories, and the state of its random numbers.

    >>> import jax, jax.numpy as jnp, octavo.training as training
    >>> def loss(w, scales, x):
    ...     return (training.delayed_dot_general(x, w, (((1,), (0,)), ((), ())), scales) ** 2).mean()
    >>> x, w = jnp.ones((4, 32)), jnp.ones((32, 8))
    >>> gradient, scales = jax.grad(loss, (0, 1))(w, training.DelayedScales.initial(), x)
    >>> float(scales.scale[0])
    448.0
"""
import dataclasses
import functools
import math
import zlib
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NoReturn, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike, DTypeLike

from . import _core
from .errors import DtypeError, FormatError, ProgramError, ShapeError
from .jax import ScaledArray, convert, quantize
from .jax._operands import kernel
from .jax._products import Side, matrices, product, side_of_array
from .programs import LoadedProgram

__all__ = ["DelayedScales", "LossScale", "ProgramState", "delayed_dot_general", "dot_general", "hadamard"]

_F32_MAX = np.finfo(np.float32).max
_Tree = TypeVar("_Tree")
_BLOCK = 16  # of a random Hadamard transform, as in NVFP4's recipe


def _seal(scale: Any, history: Any, amaxes: Any, xp: Any) -> Any:
    """octavo::numerics::stateSeal of states of any leading axes, by NumPy or JAX."""
    numbers = xp.concatenate([scale, history.reshape(*scale.shape[:-1], -1), amaxes], axis=-1)
    bits = numbers.view(np.uint32) if xp is np else lax.bitcast_convert_type(numbers, jnp.uint32)

    def mixed(x: Any) -> Any:
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return x ^ (x >> np.uint32(16))

    bits = xp.where((bits & np.uint32(0x7F800000)) == 0, np.uint32(0), bits)
    bits = xp.where((bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000), np.uint32(0x7FC00000), bits)
    places = np.arange(1, bits.shape[-1] + 1, dtype=np.uint32) * np.uint32(0x9E3779B9)
    total = mixed(xp.sum(mixed(bits ^ places), axis=-1, keepdims=True, dtype=np.uint32))
    seal = np.uint32(0x3F800000) | (total >> np.uint32(9))
    seal = seal.view(np.float32) if xp is np else lax.bitcast_convert_type(seal, jnp.float32)
    return xp.concatenate([seal, amaxes], axis=-1)


@jax.jit
def _sealed_leaves(scale: Array, history: Array, amaxes: Array) -> tuple[Array, Array, Array]:
    # What is sealed is what is kept, not computed once more.
    barrier: Any = lax.optimization_barrier  # JAX declares no types for it
    scale, history, amaxes = barrier((scale, history, amaxes))
    return scale, history, _seal(scale, history, amaxes, jnp)


def _are_known(*arrays: Any) -> bool:
    """Whether these are arrays whose numbers can be looked at now."""
    return all(isinstance(x, (np.ndarray, np.generic)) or
               (isinstance(x, Array) and not isinstance(x, jax.core.Tracer) and x.is_fully_addressable)
               for x in arrays)


@jax.tree_util.register_pytree_with_keys_class
class DelayedScales:
    """The scales of one product's three tensors: left side, right side, gradient. A pytree of float32
    arrays.

    scale: float32 [3]; values are multiplied by it before they become codes.
    history: float32 [3, N], the amaxes of N steps (docs/semantics.md, F1).

    A third leaf seals the two: JAX adds up gradients, and a sum or a mean of states is no state. The
    seal shows it, so that reading such a state, or using it, raises ProgramError, within a compiled
    program jax.errors.JaxRuntimeError. `merged` combines states.
    """

    __slots__ = ("_scale", "_history", "_seal")
    _scale: Array
    _history: Array
    _seal: Array

    def __init__(self, scale: ArrayLike, history: ArrayLike) -> None:
        are_arrays = all(hasattr(x, "shape") and hasattr(x, "dtype") for x in (scale, history))
        if are_arrays or isinstance(scale, (list, tuple)):
            scale, history = jnp.asarray(scale, jnp.float32), jnp.asarray(history, jnp.float32)
            self._set(scale, history, _first_seal(scale, history))
        else:  # what stands for leaves in JAX's own trees, such as axes
            self._set(scale, history, scale)

    def _set(self, scale: Any, history: Any, seal: Any) -> None:
        for name, value in zip(DelayedScales.__slots__, (scale, history, seal)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"DelayedScales: {name} cannot be set; make another one")

    def tree_flatten_with_keys(self) -> tuple[list[tuple[Any, Array]], None]:
        """For JAX."""
        names = ("scale", "history", "seal")
        leaves = self._scale, self._history, self._seal
        return [(jax.tree_util.GetAttrKey(name), leaf) for name, leaf in zip(names, leaves)], None

    @classmethod
    def tree_unflatten(cls, _: None, leaves: Iterable[Any]) -> "DelayedScales":
        """For JAX."""
        state = object.__new__(cls)
        state._set(*leaves)
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        return DelayedScales.tree_unflatten, (None, (self._scale, self._history, self._seal))

    def __repr__(self) -> str:
        return f"DelayedScales(scale={self._scale}, history={self._history})"

    @property
    def scale(self) -> Array:
        """float32 [3]. Raises ProgramError where this is no state."""
        self._verify()
        return self._scale

    @property
    def history(self) -> Array:
        """float32 [3, N]. Raises ProgramError where this is no state."""
        self._verify()
        return self._history

    @staticmethod
    def initial(length: int = 16) -> "DelayedScales":
        """Scales of 1 and an empty history of `length` steps, at least 1."""
        if length < 1:
            raise ShapeError(f"length: expected at least 1 step, found {length}")
        return DelayedScales(jnp.ones(3, jnp.float32), jnp.zeros((3, length), jnp.float32))

    @staticmethod
    def merged(*states: "DelayedScales", axis_name: Hashable | None = None) -> "DelayedScales":
        """The state after one step that was taken in parts, from the states that its parts gave from the
        one before: microbatches, several uses of a product, devices. Each amax is the largest of the
        parts', and the history has one step more.

        states: each may have leading axes, as jax.vmap and jax.lax.scan give states.
        axis_name: of jax.vmap, jax.pmap or jax.shard_map: the states along it are parts, too.
        """
        if not states:
            raise ShapeError("merged: expected a state or more, found none")
        for state in states:
            state._check(leading=True)
        scale = jnp.concatenate([state._verified().reshape(-1, 3) for state in states])
        history = jnp.concatenate([state._history.reshape(-1, *state._history.shape[-2:]) for state in states])
        amaxes = jnp.concatenate([state._seal[..., 1:].reshape(-1, 3) for state in states])
        # F3 by parts: a scale follows from the largest amax, or stays where none is positive and finite.
        follows = (amaxes > 0) & jnp.isfinite(amaxes)
        new, old = jnp.where(follows, scale, jnp.inf).min(0), jnp.where(follows, 0.0, scale).max(0)
        amax, history = amaxes.max(0), jnp.where(jnp.isnan(history), -jnp.inf, history).max(0)
        if axis_name is not None:
            least: Any = lax.pmin  # JAX declares no types for these
            largest: Any = lax.pmax
            new, old = least(new, axis_name), largest(old, axis_name)
            amax, history = largest(amax, axis_name), largest(history, axis_name)
        history = jnp.where(history == -jnp.inf, jnp.nan, history)
        return DelayedScales._sealed(jnp.where((amax > 0) & jnp.isfinite(amax), new, old), history, amax)

    @staticmethod
    def _sealed(scale: Array, history: Array, amaxes: Array) -> "DelayedScales":
        return DelayedScales.tree_unflatten(None, _sealed_leaves(scale, history, amaxes))

    def updated(self, amaxes: ArrayLike, formats: tuple[str, str, str] = ("e4m3fn", "e4m3fn", "e5m2"),
                margin: float = 0.0) -> "DelayedScales":
        """The scales of the next step, by rules F1 to F3 of docs/semantics.md, from the largest
        magnitudes [3] of this one. As octavo.update_delayed_scale, within a program."""
        self._check()
        return self._next(self._verified(), amaxes, formats, margin)

    def _next(self, before: Array, amaxes: ArrayLike, formats: tuple[str, str, str],
              margin: float) -> "DelayedScales":
        history = self._history.at[:, 0].set(jnp.asarray(amaxes, jnp.float32))
        # The largest, NaN not counted; zeros where there are only NaN keep the scale (F3).
        largest = jnp.max(jnp.where(jnp.isnan(history), 0.0, history), axis=1)
        most = np.array([_core.ElementFormat(name).max for name in formats], np.float32)
        quotient = jnp.float32(2.0 ** -margin) * most / largest
        fits = (largest > 0) & jnp.isfinite(largest)
        scale = jnp.where(fits, jnp.minimum(quotient, _F32_MAX), before)
        if history.shape[1] > 1:
            rest = jnp.roll(history[:, 1:], -1, axis=1).at[:, -1].set(history[:, 0])
            history = jnp.concatenate([jnp.zeros((3, 1), jnp.float32), rest], axis=1)
        else:
            history = jnp.zeros_like(history)
        return DelayedScales._sealed(scale, history, largest)

    def _check(self, leading: bool = False) -> None:
        scale, history = np.shape(self._scale), np.shape(self._history)
        lead = scale[:-1]
        if not _fit(scale, history) or (lead and not leading):
            raise ShapeError(f"DelayedScales: expected scale [3] and history [3, N], found {scale} and {history}")
        for leaf in (self._scale, self._history, self._seal):
            if jnp.result_type(leaf) != jnp.float32:
                raise DtypeError(f"DelayedScales: expected float32, found {jnp.result_type(leaf)}; states "
                                 "are kept as they are")

    def _verify(self) -> None:
        """Raises ProgramError where the numbers are known, and no state."""
        leaves = self._scale, self._history, self._seal
        if not _are_known(*leaves) or not _fit(np.shape(self._scale), np.shape(self._history)):
            return
        scale, history, seal = (np.asarray(leaf) for leaf in leaves)
        if any(leaf.dtype != np.float32 for leaf in (scale, history, seal)) or \
                not np.array_equal(_seal(scale, history, seal[..., 1:], np)[..., 0], seal[..., 0]):
            raise ProgramError(_core.broken_seal)

    def _verified(self) -> Array:
        """The scale of what is a state, as far as it is known; else a program finds out when it runs."""
        self._verify()
        if _are_known(self._scale, self._history, self._seal):
            return self._scale
        scale: Array = kernel("octavo_delayed_scales", (self._scale.shape, jnp.float32))(
            self._scale, self._history, self._seal)
        return scale


def _fit(scale: tuple[int, ...], history: tuple[int, ...]) -> bool:
    return scale[-1:] == (3,) and history[:-1] == scale and history[-1:] != (0,) and len(history) > 1


def _first_seal(scale: Array, history: Array) -> Array:
    """The seal of numbers that a caller has put together, whatever their shapes."""
    if not _fit(scale.shape, history.shape):
        return jnp.zeros(4, jnp.float32)
    if not _are_known(scale, history):
        traced: Array = _seal(scale, history, jnp.zeros_like(scale), jnp)
        return traced
    return jnp.asarray(_seal(np.asarray(scale), np.asarray(history), np.zeros(scale.shape, np.float32), np))


@functools.partial(jax.tree_util.register_dataclass, data_fields=["scale", "steps"], meta_fields=["interval"])
@dataclasses.dataclass(frozen=True)
class LossScale:
    """What a loss is multiplied by, so that gradients that are small do not vanish in a narrow format,
    and how it follows them. A pytree. Powers of two: scaling and its inverse are exact but for what
    overflows or vanishes.

        >>> import jax, jax.numpy as jnp, octavo.training as training
        >>> loss_scale = training.LossScale.initial()
        >>> def loss(w):
        ...     return loss_scale.scaled((w ** 2).sum())
        >>> gradient = loss_scale.unscaled(jax.grad(loss)(jnp.ones(2)))
        >>> loss_scale, fits = loss_scale.updated(gradient)
        >>> gradient.tolist(), bool(fits)
        ([2.0, 2.0], True)

    scale: float32 [], a power of two.
    steps: int32 [], finite steps since it last changed.
    interval: finite steps after which the scale doubles.
    """

    scale: Array
    steps: Array
    interval: int

    @staticmethod
    def initial(scale: float = 2.0 ** 16, interval: int = 2000) -> "LossScale":
        """`scale` is a power of two within float32; `interval` at least 1. Raises FormatError."""
        value = float(scale)
        if not (value > 0 and math.isfinite(value) and math.frexp(value)[0] == 0.5
                and 2.0 ** -126 <= value <= 2.0 ** 127):
            raise FormatError(f"scale: expected a power of two from 2^-126 to 2^127, found {scale}")
        if interval < 1:
            raise FormatError(f"interval: expected at least 1 step, found {interval}")
        return LossScale(jnp.float32(value), jnp.int32(0), int(interval))

    def scaled(self, loss: Array) -> Array:
        """The loss times the scale, in its own dtype."""
        return loss * self.scale.astype(loss.dtype)

    def unscaled(self, gradients: _Tree) -> _Tree:
        """The gradients, a pytree, divided by the scale, in float32. DelayedScales in it stay."""
        divided: _Tree = jax.tree.map(
            lambda each: each if isinstance(each, DelayedScales) else each.astype(jnp.float32) / self.scale,
            gradients, is_leaf=lambda each: isinstance(each, DelayedScales))
        return divided

    def updated(self, gradients: Any) -> tuple["LossScale", Array]:
        """The scale of the next step, and whether all gradients are finite: where they are not, this
        step is to be left out (`jnp.where(fits, new, old)` for parameters and optimizer), and the
        scale is halved, down to 2^-126; after `interval` finite steps it doubles, up to 2^127.
        DelayedScales among the gradients do not count.
        """
        fits = jnp.bool_(True)
        for gradient in jax.tree.leaves(gradients, is_leaf=lambda each: isinstance(each, DelayedScales)):
            if not isinstance(gradient, DelayedScales):
                fits = fits & jnp.isfinite(gradient).all()
        steps = self.steps + 1
        grows = fits & (steps >= self.interval)
        scale = jnp.where(fits, jnp.where(grows, jnp.minimum(self.scale * 2, 2.0 ** 127), self.scale),
                          jnp.maximum(self.scale / 2, 2.0 ** -126))
        return LossScale(scale.astype(jnp.float32), jnp.where(fits & ~grows, steps, 0).astype(jnp.int32),
                         self.interval), fits


@functools.partial(jax.tree_util.register_dataclass, data_fields=["scales", "histories", "random", "seal"],
                   meta_fields=[])
@dataclasses.dataclass(frozen=True)
class ProgramState:
    """What a training step that a recipe quantized takes and gives again, beside what it had before
    (docs/recipes.md): a pytree, to keep with the parameters and to save with them.

        program = octavo.compile(lowered, recipe="fp8-delayed", parameters="^w$")
        state = octavo.training.ProgramState.initial(program, seed=7)
        for batch in batches:
            (w, loss), state = state.run(program, w, batch)

    A field is None where the program has no such state.

    scales: float32 [tensors], ``octavo.scales``.
    histories: float32 [tensors, N], ``octavo.histories``.
    random: uint32 [4], ``octavo.random``: its two words of 64 bits, the low halves first, so that it
        stays whole in JAX without 64-bit types.
    seal: uint32 [1], which goes with the others: sums and means of states are none, and `run` refuses
        them. Leave it out to put a state together.
    """

    scales: ArrayLike | None
    histories: ArrayLike | None
    random: ArrayLike | None
    seal: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.seal is None:
            parts = [part for part in (self.scales, self.histories, self.random) if part is not None]
            are_arrays = bool(parts) and all(hasattr(part, "dtype") for part in parts)
            # What else there may be stands for leaves in JAX's own trees.
            object.__setattr__(self, "seal", self._own_seal() if are_arrays else parts[0] if parts else None)

    def _own_seal(self) -> np.ndarray:
        digest = 0
        for part in (self.scales, self.histories, self.random):
            if isinstance(part, jax.core.Tracer):
                raise ProgramError("ProgramState: made of arrays that JAX traces; make it where its numbers "
                                   "are known")
            array = np.ascontiguousarray(np.zeros(0) if part is None else part)
            digest = zlib.crc32(array.tobytes(), zlib.crc32(f"{array.dtype} {array.shape}".encode(), digest))
        return np.array([digest], np.uint32)

    @staticmethod
    def initial(program: LoadedProgram, seed: int = 0) -> "ProgramState":
        """The state before the first step: scales of 1, histories of 0, and random numbers of this seed,
        from 0 to 2^64 - 1. Raises ProgramError where the program has no state, FormatError."""
        if not 0 <= seed < 2 ** 64:
            raise FormatError(f"seed: expected an integer from 0 to 2^64 - 1, found {seed}")
        first: dict[str, Callable[[Any], Any]] = {
            "octavo.scales": lambda shape: np.ones(shape, np.float32),
            "octavo.histories": lambda shape: np.zeros(shape, np.float32),
            "octavo.random": lambda shape: np.array([seed, 0], np.uint64).view(np.uint32)}
        shapes = {each.name: each.shape for each in program.arguments if each.name in first}
        if not shapes:
            raise ProgramError("program: it has neither scales of earlier steps nor random numbers; a "
                               'recipe with "scaling": "delayed" or "gradient_rounding": "stochastic" '
                               "gives it some")
        return ProgramState(*(make(shapes[name]) if name in shapes else None for name, make in first.items()))

    def run(self, program: LoadedProgram, *args: Any, **named: Any) -> tuple[Any, "ProgramState"]:
        """Calls the program with these arguments and the state: what it gives without the state, a
        tree where one that JAX lowered or exported was compiled and no cache adds scales, else an
        array or a tuple of them; and the state of the next step. Raises ProgramError where the state is
        none that `initial` or `run` gave."""
        if not np.array_equal(np.asarray(self.seal), self._own_seal()):
            raise ProgramError(
                "ProgramState: the numbers are no state that a program gave. States were added, averaged or "
                "rounded, as with the gradients of microbatches or devices. Hand the state of one run to "
                "the next, microbatch by microbatch, or put a whole step into the program")
        given = {"octavo.scales": self.scales, "octavo.histories": self.histories,
                 "octavo.random": None if self.random is None else np.asarray(self.random).view(np.uint64)}
        given = {name: np.asarray(value) for name, value in given.items() if value is not None}
        results = program(*args, **named, **given)
        results = results if isinstance(results, tuple) else (results,)
        own, state = results[:len(results) - len(given)], dict(zip(given, results[-len(given):]))
        random = state.get("octavo.random")
        tree = program._own_tree
        if tree is not None and tree.num_leaves == len(own):
            own = tree.unflatten(own)
        elif len(own) == 1:
            own = own[0]
        return own, ProgramState(
            state.get("octavo.scales"), state.get("octavo.histories"),
            None if random is None else random.view(np.uint32))


def _fp8_side(x: Array, scale: Array, format: str, key: Array | None = None) -> Side:
    """[B, rows, K] as codes of one scale; with a key, rounded stochastically. Finite values saturate. NaN
    and infinities stay, or become NaN, so that a loss scale that is too large shows."""
    row, x = _core.ElementFormat(format), x.astype(jnp.float32)
    within = jnp.clip(x * scale, -row.max, row.max)
    codes = convert(jnp.where(jnp.isinf(x), x, within), format, overflow="special",
                    rounding="ties-to-even" if key is None else "stochastic", key=key)
    inverse = 1 / scale
    if row.nan_code is None:  # then NaN has no code
        inverse = jnp.where(jnp.isfinite(x).all(), inverse, jnp.nan)
    return Side(codes, jnp.broadcast_to(inverse, (*x.shape[:1], 1, 1)),
                 jnp.ones(x.shape[:1], jnp.float32), format, "f32", x.shape[1], x.shape[2])


def _finite_amax(x: Array) -> Array:
    """The largest magnitude of the finite values."""
    x = jnp.abs(x.astype(jnp.float32))
    return jnp.max(jnp.where(jnp.isfinite(x), x, 0.0), initial=0.0)


def _turned(side: Side) -> Side:
    """The same codes, contracted along the other axis: one scale covers both."""
    return dataclasses.replace(side, elements=side.elements.swapaxes(-1, -2), across=side.along,
                               along=side.across)


def _no_gradient(key: Array | None) -> np.ndarray[Any, Any] | None:
    return None if key is None else np.zeros(key.shape, jax.dtypes.float0)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4, 5, 6))
def _delayed(a: Array, b: Array, scales: DelayedScales, key: Array | None, formats: tuple[str, str, str],
             margin: float, is_verified: bool) -> Array:
    return _delayed_forward(a, b, scales, key, formats, margin, is_verified)[0]


def _delayed_forward(a: Array, b: Array, scales: DelayedScales, key: Array | None, formats: tuple[str, str, str],
                     margin: float, is_verified: bool) -> tuple[Array, tuple[Any, ...]]:
    scale = scales._scale if is_verified else scales._verified()
    left = _fp8_side(a, scale[0], formats[0])
    right = _fp8_side(b, scale[1], formats[1])
    # The codes are kept for the gradients, not the wide operands; dtypes by empty arrays.
    kept = (left.elements, left.scales, right.elements, right.scales, scales, scale, key, _finite_amax(a),
            _finite_amax(b), jnp.zeros((0,), a.dtype), jnp.zeros((0,), b.dtype))
    return product(left, right), kept


def _delayed_backward(formats: tuple[str, str, str], margin: float, _: bool, kept: tuple[Any, ...],
                      gradient: Array) -> tuple[Array, Array, DelayedScales, np.ndarray[Any, Any] | None]:
    a, a_scales, b, b_scales, scales, scale, key, a_amax, b_amax, a_like, b_like = kept
    ones = jnp.ones(a.shape[:1], jnp.float32)
    left = Side(a, a_scales, ones, formats[0], "f32", a.shape[1], a.shape[2])
    right = Side(b, b_scales, ones, formats[1], "f32", b.shape[1], b.shape[2])
    narrow = _fp8_side(gradient, scale[2], formats[2], key)
    to_a = product(narrow, _turned(right))
    to_b = product(_turned(narrow), _turned(left))
    following = scales._next(scale, jnp.stack([a_amax, b_amax, _finite_amax(gradient)]), formats, margin)
    return to_a.astype(a_like.dtype), to_b.astype(b_like.dtype), following, _no_gradient(key)


_delayed.defvjp(_delayed_forward, _delayed_backward)


def delayed_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: lax.DotDimensionNumbers,
                        scales: DelayedScales, *,
                        formats: tuple[str, str, str] = ("e4m3fn", "e4m3fn", "e5m2"),
                        margin: float = 0.0, key: Array | None = None,
                        preferred_element_type: DTypeLike = jnp.float32) -> Array:
    """lax.dot_general in FP8 with delayed scaling: lhs and rhs times their scales become codes, and so
    does the gradient, of which both products take codes (docs/semantics.md, F1 to F3). Finite values
    saturate. NaN and infinities stay, or become NaN, and no history has them.

    scales: of this product. Its gradient is no derivative but the scales of the next step, with the
        amaxes of all three tensors: jax.grad for it, too, and put what it gives in its place. JAX adds
        gradients up, and a sum of states is none: its use raises ProgramError. Where a product is used
        several times in a step, each use needs scales of its own; states of microbatches or devices are
        combined by DelayedScales.merged.
    formats: of lhs, rhs, and gradients: 8-bit floats.
    margin: scales are 2^-margin of what would bring the amax to the largest value.
    key: the gradient is rounded stochastically with it, once for both products (N5). A new one each
        step and product.
    Raises FormatError, ShapeError, DtypeError.
    """
    for name in formats:
        row = _core.ElementFormat(name)
        if row.bits != 8 or row.name in ("int8", "e8m0fnu"):
            raise FormatError(f"formats: expected three floats of 8 bits, found {name}; "
                              "dot_general takes MX and NVFP4")
    if not isinstance(scales, DelayedScales):
        raise FormatError(f"scales: expected DelayedScales, found {type(scales).__name__}; "
                          "DelayedScales.initial() makes the first")
    scales._check()
    scales._verify()
    is_verified = _are_known(*jax.tree.leaves(scales))
    a, b, shape = matrices(lhs, rhs, dimension_numbers)
    return _delayed(a, b, scales, key, tuple(formats), margin, is_verified).reshape(shape).astype(
        preferred_element_type)


def hadamard(x: Array, key: Array) -> Array:
    """x with its last axis rotated, 16 elements at a time, by a Hadamard matrix whose columns have
    random signs: an orthogonal matrix H, so that hadamard(a, key) @ hadamard(b, key).T is a @ b.T.
    An outlier is spread over its 16. The axis is padded with zeros to a multiple of 16.
    """
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < _BLOCK:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    signs = jax.random.rademacher(key, (_BLOCK,), jnp.float32)
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % _BLOCK)])
    rotation = signs[:, None] * matrix / np.float32(math.sqrt(_BLOCK))
    groups = x.reshape(*x.shape[:-1], -1, _BLOCK)
    return jnp.matmul(groups, rotation, precision=lax.Precision.HIGHEST).reshape(x.shape)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _blocked(a: Array, b: Array, key: Array | None, formats: tuple[str, str, str],
             rotated: bool) -> Array:
    return _scaled(a, b, formats[0], formats[1])


def _scaled(a: Array, b: Array, left: str, right: str, a_key: Array | None = None,
            b_key: Array | None = None) -> Array:
    """[B, M, K] times [B, N, K], quantized along K; with a key, stochastically, under scales that are
    rounded up, so that no element saturates and the mean of each is its value."""
    def side(x: Array, format: str, key: Array | None) -> ScaledArray:
        if key is None:
            return quantize(x, format)
        # A scale in f32 is as good as not rounded.
        rule = "round-up" if _core.ScaledFormat(format).scale.bits <= 8 else None
        return quantize(x, format, rule=rule, rounding="stochastic", key=key)

    sides = side(a, left, a_key), side(b, right, b_key)
    return product(side_of_array(sides[0], "lhs"), side_of_array(sides[1], "rhs"))


def _blocked_forward(a: Array, b: Array, key: Array | None, formats: tuple[str, str, str],
                     rotated: bool) -> tuple[Array, tuple[Array, Array, Array | None]]:
    return _blocked(a, b, key, formats, rotated), (a, b, key)


def _blocked_backward(formats: tuple[str, str, str], rotated: bool, kept: tuple[Array, Array, Array | None],
                      gradient: Array) -> tuple[Array, Array, np.ndarray[Any, Any] | None]:
    a, b, key = kept
    left, right, narrow = formats
    keys: Any = [None] * 3 if key is None else jax.random.split(key, 3)
    # Blocks lie along the contracted axis, so that each product quantizes its operands anew.
    to_a = _scaled(gradient, b.swapaxes(-1, -2), narrow, right, keys[0])
    g, x = gradient.swapaxes(-1, -2), a.swapaxes(-1, -2)
    if rotated:
        g, x = hadamard(g, keys[2]), hadamard(x.astype(jnp.float32), keys[2])
    to_b = _scaled(g, x, narrow, left, keys[1])
    return to_a.astype(a.dtype), to_b.astype(b.dtype), _no_gradient(key)


_blocked.defvjp(_blocked_forward, _blocked_backward)


def dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: lax.DotDimensionNumbers,
                formats: tuple[str, str, str], *, key: Array | None = None, rotated: bool = False,
                preferred_element_type: DTypeLike = jnp.float32) -> Array:
    """lax.dot_general with both sides quantized in blocks along the contracted axes, and so the
    products of its gradient.

    formats: scaled formats of lhs, rhs and gradients: ("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e5m2").
    key: gradients are rounded stochastically with it, under scales that are rounded up (S5), lhs and
        rhs to nearest (N5). A new one each step and product.
    rotated: both sides of the product that is the gradient of rhs, the weight, are rotated by
        `hadamard` before they are quantized, as NVFP4's training recipe does. Needs a key.
    Raises FormatError, ShapeError, DtypeError.
    """
    if len(formats) != 3:
        raise FormatError(f"formats: expected three (lhs, rhs, gradients), found {len(formats)}")
    names = tuple(_core.ScaledFormat(each).name for each in formats)
    if rotated and key is None:
        raise FormatError("rotated=True and key=jax.random.key(...) go together")
    a, b, shape = matrices(lhs, rhs, dimension_numbers)
    return _blocked(a, b, key, names, rotated).reshape(shape).astype(preferred_element_type)
