"""octavo in JAX programs on the CPU: quantize, dequantize, convert and scaled products, under
``jax.jit``, ``jax.vmap`` and ``jax.grad``.

The kernels of octavo run inside the compiled program through XLA's foreign function interface.
Results are those of the module ``octavo``, whose help says which have the same bits on every
instruction set. ``scaled_matmul`` and ``scaled_dot_general`` have the
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
import jax

from .. import _core
from ._packing import pack, unpack
from ._products import matmul, register, scaled_dot_general, scaled_matmul
from ._quantization import amax, convert, fake_quantize, quantize
from ._scaled_array import ScaledArray, dequantize, from_tensor

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
try:  # the targets' interfaces never change, so jax.export may write them into files (docs/jax.md)
    from jax._src.export._export import _CUSTOM_CALL_TARGETS_GUARANTEED_STABLE as _stable_targets
    _stable_targets.update(_core.jax_targets())
except ImportError:  # in another version of JAX, jax.export asks for disabled_checks and names the targets
    pass
