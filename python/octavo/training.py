"""Matrix products in narrow formats for training in JAX on the CPU, forward and backward.

``dot_general`` quantizes both operands of a product in blocks (MX, NVFP4). Its gradients may be rounded
stochastically, and rotated by random Hadamard transforms.
``delayed_dot_general`` multiplies in FP8 with one scale for each tensor. The scales come from the largest
magnitudes of earlier steps, which the program carries from step to step as a pytree, ``DelayedScales``.
``LossScale`` keeps small gradients from underflowing.
``ProgramState`` is the state of a training step that ``octavo.compile`` quantized by a recipe: delayed
scales, their histories and the state of random numbers.

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
_BLOCK = 16  # elements that a random Hadamard transform rotates together, as in NVFP4's training recipe


def _seal(scale: Any, history: Any, amaxes: Any, xp: Any) -> Any:
    """The seals of states, as octavo::numerics::stateSeal computes them. States may have leading axes; xp is numpy
    or jax.numpy."""
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
    # The barrier makes XLA seal the stored numbers instead of computing them a second time.
    barrier: Any = lax.optimization_barrier  # JAX declares no types for it
    scale, history, amaxes = barrier((scale, history, amaxes))
    return scale, history, _seal(scale, history, amaxes, jnp)


def _are_known(*arrays: Any) -> bool:
    """Whether all are arrays with numbers that can be read now: not traced, and on this process's devices."""
    return all(isinstance(x, (np.ndarray, np.generic)) or
               (isinstance(x, Array) and not isinstance(x, jax.core.Tracer) and x.is_fully_addressable)
               for x in arrays)


@jax.tree_util.register_pytree_with_keys_class
class DelayedScales:
    """The scales of the three tensors of a product: left operand, right operand, gradient. A pytree of float32
    arrays.

    scale: float32 [3]; values are multiplied by it before they become codes.
    history: float32 [3, N], the largest magnitudes of N steps (docs/semantics.md, F1).

    JAX adds gradients up, but a sum or mean of states is not a state. So a third leaf holds a seal of the other two.
    Reading or using a state with a broken seal raises ProgramError, or jax.errors.JaxRuntimeError inside a
    compiled program. ``merged`` combines states.
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
        else:  # placeholders that JAX puts in place of leaves, such as axes
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
        """float32 [3]. Raises ProgramError if the seal is broken."""
        self._verify()
        return self._scale

    @property
    def history(self) -> Array:
        """float32 [3, N]. Raises ProgramError if the seal is broken."""
        self._verify()
        return self._history

    @staticmethod
    def initial(length: int = 16) -> "DelayedScales":
        """The state before the first step: scales of 1, and a history of zeros.

        length: the number of steps in the history, at least 1. Raises ShapeError.
        """
        if length < 1:
            raise ShapeError(f"length: expected at least 1 step, found {length}")
        return DelayedScales(jnp.ones(3, jnp.float32), jnp.zeros((3, length), jnp.float32))

    @staticmethod
    def merged(*states: "DelayedScales", axis_name: Hashable | None = None) -> "DelayedScales":
        """Combines the states of the parts of one step: microbatches, several uses of a product, or devices. Each part
        started from the same state. The result's amaxes are the largest of the parts, and its history is one
        step longer.

        states: one or more. A state may have leading axes, as jax.vmap and jax.lax.scan return states.
        axis_name: an axis of jax.vmap, jax.pmap or jax.shard_map; the states along it are parts, too.

        Raises ShapeError, DtypeError, ProgramError.
        """
        if not states:
            raise ShapeError("merged: expected a state or more, found none")
        for state in states:
            state._check(leading=True)
        scale = jnp.concatenate([state._verified().reshape(-1, 3) for state in states])
        history = jnp.concatenate([state._history.reshape(-1, *state._history.shape[-2:]) for state in states])
        amaxes = jnp.concatenate([state._seal[..., 1:].reshape(-1, 3) for state in states])
        # Rule F3 for parts: the largest amax decides a scale, which stays if no amax is positive and finite.
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
        """The state of the next step (docs/semantics.md, F1 to F3). octavo.update_delayed_scale does the same outside
        of JAX programs.

        amaxes: float32 [3], the largest magnitudes of this step.
        formats: the element formats of the left operand, the right operand and the gradient.
        margin: scales are divided by 2^margin.

        Raises ShapeError, DtypeError, FormatError, ProgramError.
        """
        self._check()
        return self._next(self._verified(), amaxes, formats, margin)

    def _next(self, before: Array, amaxes: ArrayLike, formats: tuple[str, str, str],
              margin: float) -> "DelayedScales":
        history = self._history.at[:, 0].set(jnp.asarray(amaxes, jnp.float32))
        # The largest amax without NaN. If all are NaN it is 0, which keeps the scale (F3).
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
        """Raises ProgramError if the numbers are known and the seal is broken."""
        leaves = self._scale, self._history, self._seal
        if not _are_known(*leaves) or not _fit(np.shape(self._scale), np.shape(self._history)):
            return
        scale, history, seal = (np.asarray(leaf) for leaf in leaves)
        if any(leaf.dtype != np.float32 for leaf in (scale, history, seal)) or \
                not np.array_equal(_seal(scale, history, seal[..., 1:], np)[..., 0], seal[..., 0]):
            raise ProgramError(_core.broken_seal)

    def _verified(self) -> Array:
        """The scale. The seal is checked now if the numbers are known, else when the program runs."""
        self._verify()
        if _are_known(self._scale, self._history, self._seal):
            return self._scale
        scale: Array = kernel("octavo_delayed_scales", (self._scale.shape, jnp.float32))(
            self._scale, self._history, self._seal)
        return scale


def _fit(scale: tuple[int, ...], history: tuple[int, ...]) -> bool:
    return scale[-1:] == (3,) and history[:-1] == scale and history[-1:] != (0,) and len(history) > 1


def _first_seal(scale: Array, history: Array) -> Array:
    """The seal of a caller's numbers; zeros if their shapes are not those of a state."""
    if not _fit(scale.shape, history.shape):
        return jnp.zeros(4, jnp.float32)
    if not _are_known(scale, history):
        traced: Array = _seal(scale, history, jnp.zeros_like(scale), jnp)
        return traced
    return jnp.asarray(_seal(np.asarray(scale), np.asarray(history), np.zeros(scale.shape, np.float32), np))


@functools.partial(jax.tree_util.register_dataclass, data_fields=["scale", "steps"], meta_fields=["interval"])
@dataclasses.dataclass(frozen=True)
class LossScale:
    """A dynamic scale of the loss, so that small gradients do not underflow in a narrow format. A pytree. The scale
    is a power of two, so scaling and unscaling are exact unless a value overflows or underflows.

        >>> import jax, jax.numpy as jnp, octavo.training as training
        >>> loss_scale = training.LossScale.initial()
        >>> def loss(w):
        ...     return loss_scale.scaled((w ** 2).sum())
        >>> gradient = loss_scale.unscaled(jax.grad(loss)(jnp.ones(2)))
        >>> loss_scale, fits = loss_scale.updated(gradient)
        >>> gradient.tolist(), bool(fits)
        ([2.0, 2.0], True)

    scale: float32 [], a power of two.
    steps: int32 [], the number of steps with finite gradients since the scale last changed.
    interval: the number of such steps after which the scale doubles.
    """

    scale: Array
    steps: Array
    interval: int

    @staticmethod
    def initial(scale: float = 2.0 ** 16, interval: int = 2000) -> "LossScale":
        """The scale before the first step.

        scale: a power of two from 2^-126 to 2^127.
        interval: steps with finite gradients after which the scale doubles, at least 1.

        Raises FormatError.
        """
        value = float(scale)
        if not (value > 0 and math.isfinite(value) and math.frexp(value)[0] == 0.5
                and 2.0 ** -126 <= value <= 2.0 ** 127):
            raise FormatError(f"scale: expected a power of two from 2^-126 to 2^127, found {scale}")
        if interval < 1:
            raise FormatError(f"interval: expected at least 1 step, found {interval}")
        return LossScale(jnp.float32(value), jnp.int32(0), int(interval))

    def scaled(self, loss: Array) -> Array:
        """The loss times the scale, in the dtype of the loss."""
        return loss * self.scale.astype(loss.dtype)

    def unscaled(self, gradients: _Tree) -> _Tree:
        """The gradients, a pytree, divided by the scale, in float32. DelayedScales in the tree stay as they are."""
        divided: _Tree = jax.tree.map(
            lambda each: each if isinstance(each, DelayedScales) else each.astype(jnp.float32) / self.scale,
            gradients, is_leaf=lambda each: isinstance(each, DelayedScales))
        return divided

    def updated(self, gradients: Any) -> tuple["LossScale", Array]:
        """Returns the scale of the next step, and a bool array [] that tells whether all gradients are finite.

        gradients: a pytree. DelayedScales in it are ignored.

        If a gradient is not finite, the scale is halved, down to 2^-126, and the caller skips the step: parameters
        and optimizer become ``jnp.where(fits, new, old)``. After ``interval`` steps with finite gradients the
        scale doubles, up to 2^127.
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
    """The state that a recipe adds to a training step, to be passed from step to step (docs/recipes.md). A pytree, to
    be saved with the parameters.

        program = octavo.compile(lowered, recipe="fp8-delayed", parameters="^w$")
        state = octavo.training.ProgramState.initial(program, seed=7)
        for batch in batches:
            (w, loss), state = state.run(program, w, batch)

    A field is None if the program has no such state.

    scales: float32 [tensors], the program's argument ``octavo.scales``.
    histories: float32 [tensors, N], ``octavo.histories``.
    random: uint32 [4], ``octavo.random``: two 64-bit words, each as two halves, the low half first. JAX without 64-bit
        types can hold them.
    seal: uint32 [1], a checksum of the other fields. ``run`` refuses a sum or mean of states, whose seal does not
        match. None computes it.
    """

    scales: ArrayLike | None
    histories: ArrayLike | None
    random: ArrayLike | None
    seal: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.seal is None:
            parts = [part for part in (self.scales, self.histories, self.random) if part is not None]
            are_arrays = bool(parts) and all(hasattr(part, "dtype") for part in parts)
            # Otherwise the parts are placeholders that JAX puts in place of leaves.
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
        """The state before the first step: scales of 1, and histories of zeros.

        program: the compiled training step.
        seed: of the random numbers, from 0 to 2^64 - 1.

        Raises ProgramError if the program has no state, FormatError for another seed.
        """
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
        """Calls the program with these arguments and this state.

        program: the compiled training step.
        args, named: its other arguments, by position and by name.

        Returns the program's own results and the state of the next step. The results have the tree of the JAX function
        if JAX lowered or exported the program and no quantized cache adds results; else they are an array or a tuple
        of arrays. Raises ProgramError if the state is not one that ``initial`` or ``run`` returned, and the
        errors of a call.
        """
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
    """Quantizes x [B, rows, K] with one scale; with a key, rounds stochastically. Finite values saturate. NaN and
    infinities stay or become NaN, so that a too large loss scale is noticed."""
    row, x = _core.ElementFormat(format), x.astype(jnp.float32)
    within = jnp.clip(x * scale, -row.max, row.max)
    codes = convert(jnp.where(jnp.isinf(x), x, within), format, overflow="special",
                    rounding="ties-to-even" if key is None else "stochastic", key=key)
    inverse = 1 / scale
    if row.nan_code is None:  # the scale carries NaN instead
        inverse = jnp.where(jnp.isfinite(x).all(), inverse, jnp.nan)
    return Side(codes, jnp.broadcast_to(inverse, (*x.shape[:1], 1, 1)),
                 jnp.ones(x.shape[:1], jnp.float32), format, "f32", x.shape[1], x.shape[2])


def _finite_amax(x: Array) -> Array:
    """The largest magnitude of the finite values."""
    x = jnp.abs(x.astype(jnp.float32))
    return jnp.max(jnp.where(jnp.isfinite(x), x, 0.0), initial=0.0)


def _turned(side: Side) -> Side:
    """The operand with its last two axes exchanged. Its codes stay valid because one scale covers them all."""
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
    # The gradients need the codes, not the wide operands. Empty arrays keep the operands' dtypes.
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
    """lax.dot_general in FP8 with delayed scaling (docs/semantics.md, F1 to F3).

    lhs and rhs are multiplied by their scales and become codes. So does the gradient, whose codes both
    products of the backward pass use. Finite values saturate. NaN and infinities stay or become NaN; histories
    ignore them.

    lhs, rhs, dimension_numbers, preferred_element_type: as in lax.dot_general.
    scales: the state of this product. Its gradient is not a derivative: it is the state of the next step. So
        differentiate by ``scales`` too, and replace the state by its gradient. JAX adds gradients up, but a sum of
        states is not a state, and using it raises ProgramError: each use of a product in a step needs its
        own scales. DelayedScales.merged combines the states of microbatches or devices.
    formats: the 8-bit float formats of lhs, rhs and the gradient.
    margin: scales are 2^-margin times the scale that maps the amax to the format's largest value.
    key: with a key, the gradient is rounded stochastically, once for both products (N5). Use a new key for each step
        and product.

    Returns the product in preferred_element_type. Raises FormatError, ShapeError, DtypeError, ProgramError.
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
    """Rotates the last axis of x, 16 elements at a time, by a Hadamard matrix with random signs.

    The rotation spreads an outlier over its 16 elements. It is orthogonal, so hadamard(a, key) @ hadamard(b, key).T
    equals a @ b.T up to rounding.

    x: floats [..., K].
    key: of jax.random, for the signs.

    Returns [..., K'], where K' is K rounded up to a multiple of 16; zeros fill the axis.
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
    """[B, M, K] times [B, N, K], quantized along K. An operand with a key is rounded stochastically. Its scales are
    rounded up, so that no element saturates and the expected value of each is exact."""
    def side(x: Array, format: str, key: Array | None) -> ScaledArray:
        if key is None:
            return quantize(x, format)
        # Rounding an f32 scale makes no difference.
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
    # Blocks lie along the contracted axis, which differs between the products: each quantizes again.
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
    """lax.dot_general whose operands are quantized in blocks along the contracted axes. The products of its
    gradient are quantized likewise.

    lhs, rhs, dimension_numbers, preferred_element_type: as in lax.dot_general.
    formats: the scaled formats of lhs, rhs and the gradient, such as ("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e5m2").
    key: with a key, the gradient is rounded stochastically, under scales that are rounded up (S5); lhs and rhs are
        rounded to nearest (N5). Use a new key for each step and product.
    rotated: True rotates the operands of the product that is the gradient of rhs, the weight, with ``hadamard`` before
        it quantizes them, as NVFP4's training recipe does. This needs a key.

    Returns the product in preferred_element_type. Raises FormatError, ShapeError, DtypeError.
    """
    if len(formats) != 3:
        raise FormatError(f"formats: expected three (lhs, rhs, gradients), found {len(formats)}")
    names = tuple(_core.ScaledFormat(each).name for each in formats)
    if rotated and key is None:
        raise FormatError("rotated=True and key=jax.random.key(...) go together")
    a, b, shape = matrices(lhs, rhs, dimension_numbers)
    return _blocked(a, b, key, names, rotated).reshape(shape).astype(preferred_element_type)
