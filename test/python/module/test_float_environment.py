"""Every function computes as IEEE 754 has it by default, whatever state of the processor its caller
brings: the bits are those of the default state, and the caller's state is what it was afterwards.

fegetenv and fesetenv of the C library hold the control registers: on x86-64 the x87 control word at
byte 0 and MXCSR at byte 28 of fenv_t, on AArch64 FPCR at byte 0."""
import ctypes
import os
import pathlib
import platform
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import octavo
import pytest

X86 = platform.machine() in ("x86_64", "AMD64")
ARM = platform.machine() in ("aarch64", "arm64")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux") or not (X86 or ARM),
                                reason="reads glibc's fenv_t of x86-64 or AArch64")

C = ctypes.CDLL("libm.so.6") if sys.platform.startswith("linux") else None
# (x87 control word, MXCSR), or FPCR: flushed results, subnormals taken for zero, three roundings.
DEFAULT = (0x37F, 0x1F80) if X86 else (0,)
STATES = {
    "flushed": (0x37F, 0x9F80), "zeros": (0x37F, 0x1FC0), "flushed-zeros": (0x37F, 0x9FC0),
    "down": (0x77F, 0x3F80), "up": (0xB7F, 0x5F80), "toward-zero": (0xF7F, 0x7F80),
    "all": (0xF7F, 0xFFC0), "x87-single": (0x07F, 0x1F80),
} if X86 else {"flushed": (1 << 24,), "up": (1 << 22,), "down": (2 << 22,), "toward-zero": (3 << 22,)}


def controls():
    """The control registers, without the flags of exceptions that were met."""
    found = (ctypes.c_uint8 * 64)()
    assert C.fegetenv(found) == 0
    raw = bytes(found)
    if X86:
        return int.from_bytes(raw[:2], "little") & 0x0F7F, int.from_bytes(raw[28:32], "little") & 0xFFC0
    return (int.from_bytes(raw[:4], "little"),)


class State:
    """The processor's state within a block."""

    def __init__(self, state):
        self.state = state

    def _set(self, state):
        environment = (ctypes.c_uint8 * 64)()
        assert C.fegetenv(environment) == 0
        if X86:
            environment[0:2] = state[0].to_bytes(2, "little")
            environment[28:32] = state[1].to_bytes(4, "little")
        else:
            environment[0:4] = state[0].to_bytes(4, "little")
        assert C.fesetenv(environment) == 0

    def __enter__(self):
        self.before = controls()
        self._set(self.state)

    def __exit__(self, *_):
        self._set(self.before)


RNG = np.random.default_rng(0)
# Values whose products, quotients and scales are subnormal, beside others.
TINY = (RNG.standard_normal((8, 64)) * 1e-38).astype(np.float32)
SMALLEST = (RNG.standard_normal((512, 1024)) * 1e-39).astype(np.float32)  # enough for several threads
X = RNG.standard_normal((8, 64)).astype(np.float32)
W = RNG.standard_normal((16, 64)).astype(np.float32)
# Made here: what NumPy computes within a state is the state's.
TINIER, LIFTED, HISTORY, SCALES = TINY * np.float32(0.1), TINY * np.float32(2.0 ** 20), np.abs(TINY[:2, :4]), np.float32([3, 1e-39])
FORMATS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
NARROW = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ElementFormat) and row.bits <= 8]


def parts(tensor):
    return [tensor.codes, tensor.scales.view(np.uint8), np.float64(tensor.outer)]


def quantized(format):
    found = []
    for x in (TINY, X, SMALLEST[:64]):
        tensor = octavo.quantize(x, format)
        found += [*parts(tensor), tensor.dequantize()]
    return found


def converted(format):
    return [octavo.convert(x, format) for x in (TINY, LIFTED, X)]


def multiplied(format):
    weights = octavo.quantize(W, format)
    return [octavo.matmul(octavo.quantize(x, format), weights.T) for x in (TINY, X)] + [octavo.matmul(SMALLEST[:, :64], weights.T)]


def scaled():
    return [*octavo.update_delayed_scale(HISTORY, SCALES, "e4m3fn", margin=1),
            *octavo.current_scale(HISTORY[0], "e5m2", epsilon=0.1), octavo.amax(TINIER),
            octavo.matmul(X, octavo.quantize(W, "mxfp8_e4m3").T, to="e4m3fn", scale=0.1),
            *parts(octavo.quantize(X, "nvfp4", outer=0.0007))]


def twins():
    tensor = octavo.quantize(TINY, "fp8_row")
    return [each for each in octavo.to_fnuz(tensor.elements, tensor.scales) if isinstance(each, np.ndarray)]


CALLS = {**{f"quantize {name}": (quantized, name) for name in FORMATS},
         **{f"convert {name}": (converted, name) for name in NARROW},
         **{f"matmul {name}": (multiplied, name) for name in ("mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row", "mxint8")},
         "scales": (scaled,), "fnuz": (twins,)}


def raw(values):
    return [np.ascontiguousarray(value).tobytes() for value in values]


@pytest.fixture(scope="module")
def expected():
    """In the default state. `octavo.quantize` and its kin are held to their rules there by other tests."""
    assert controls() == DEFAULT
    return {name: raw(call(*arguments)) for name, (call, *arguments) in CALLS.items()}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_results_are_those_of_the_default_state(expected, state):
    wrong = []
    for name, (call, *arguments) in CALLS.items():
        with State(state):
            before = controls()
            found = call(*arguments)
            after = controls()
        if raw(found) != expected[name]:
            wrong.append(name)
        assert after == before, f"{name} leaves {after}, its caller had {before}"
    assert not wrong


def test_the_states_are_states():
    """What this file sets, NumPy computes with."""
    x = np.full(4, 1e-39, np.float32)
    if X86:
        with State(STATES["flushed-zeros"]):
            flushed = x * np.float32(1)
        assert not flushed.any() and x.any()
    with State(STATES["up"]):
        up = np.float32([1]) / np.float32([3])
    with State(STATES["down"]):
        down = np.float32([1]) / np.float32([3])
    assert up[0] > down[0]


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_threads_of_the_pool_do_not_keep_a_state(expected, state):
    """A first call in a new thread makes an arena of its own; then another thread uses the pool."""
    found = []

    def call():
        with State(state):
            found.append(raw(quantized("mxfp8_e4m3")))
    threads = octavo.get_threads()
    octavo.set_threads(2)
    try:
        for _ in range(3):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()
        found.append(raw(quantized("mxfp8_e4m3")))
    finally:
        octavo.set_threads(threads)
    assert all(each == expected["quantize mxfp8_e4m3"] for each in found)


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "mxfp6_e2m3", "mxint8", "nvfp4", "fp8_tensor", "fp8_row"])
def test_calls_from_xla_have_the_same_bits(format):
    """XLA's threads flush subnormals: 1e-39 is below the smallest normal number."""
    jax = pytest.importorskip("jax")
    import octavo.jax as oj
    weights = octavo.quantize(W, format)
    for x in (TINY, SMALLEST[:8, :64], X):
        tensor = octavo.quantize(x, format)
        array, right = oj.from_tensor(tensor), oj.from_tensor(weights)
        made = jax.jit(lambda x: oj.quantize(x, format))(x)
        for part, own in ((made.elements, tensor.elements), (made.scales, tensor.scales)):
            np.testing.assert_array_equal(np.asarray(part).view(np.uint8), np.asarray(own).view(np.uint8))
        assert float(np.asarray(made.outer)) == tensor.outer
        for found, own in ((jax.jit(oj.dequantize)(array), tensor.dequantize()),
                           (jax.jit(lambda x: oj.fake_quantize(x, format))(x), tensor.dequantize()),
                           (jax.jit(lambda a, b: oj.matmul(a, b.mT))(array, right), octavo.matmul(tensor, weights.T)),
                           (jax.jit(lambda a, b: oj.matmul(a, b.mT))(x, right), octavo.matmul(x, weights.T))):
            np.testing.assert_array_equal(np.asarray(found).view(np.uint32), own.view(np.uint32))
        # A batch against one matrix, whose outer scales multiply last.
        batch = jax.jit(lambda x, b: oj.matmul(jax.vmap(lambda x: oj.quantize(x, format))(x), b.mT))(x[None], right)
        np.testing.assert_allclose(np.asarray(batch[0], np.float64), octavo.matmul(tensor, weights.T), rtol=3e-7, atol=2e-45)


PROGRAM = """func.func @main(%x: tensor<512x1024xf32>) -> (tensor<512x1024xf32>, tensor<512xf32>, tensor<512x1024xf32>) {
  %half = stablehlo.constant dense<0.3> : tensor<512x1024xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %half : tensor<512x1024xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = stablehlo.tanh %0 : tensor<512x1024xf32>
  return %0, %1, %2 : tensor<512x1024xf32>, tensor<512xf32>, tensor<512x1024xf32>
}"""


@pytest.mark.mlir
@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("compiled_in", ["default", "state"])
def test_programs(backend, compiled_in):
    """0.3 and sums are rounded, products are subnormal; the program is read and compiled in either state."""
    own = octavo.compile(PROGRAM, backend=backend)(SMALLEST)
    product = (SMALLEST.astype(np.float64) * np.float64(np.float32(0.3))).astype(np.float32)
    np.testing.assert_array_equal(own[0], product)
    for state in STATES.values():
        made = octavo.compile(PROGRAM, backend=backend)
        with State(state):
            if compiled_in == "state":
                made = octavo.compile(PROGRAM, backend=backend)
            before = controls()
            found = made(SMALLEST)
            after = controls()
        assert after == before
        assert raw(found) == raw(own)


@pytest.mark.mlir
@pytest.mark.parametrize("threads", [1, 2])
def test_the_c_interface(tmp_path, threads):
    """A folder that `octavo compile` wrote, loaded and run in every state."""
    bin = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
    (tmp_path / "p.mlir").write_text(PROGRAM)
    subprocess.run([bin / "octavo", "compile", tmp_path / "p.mlir", "-o", tmp_path / "p"], check=True, capture_output=True)
    library = ctypes.CDLL(str(bin / "liboctavo-program.so"))
    library.octavo_program_load.restype = ctypes.c_void_p
    library.octavo_program_free.argtypes = [ctypes.c_void_p]
    library.octavo_program_run_on.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    results = [np.empty((512, 1024), np.float32), np.empty(512, np.float32), np.empty((512, 1024), np.float32)]
    given = (ctypes.c_void_p * 1)(SMALLEST.ctypes.data)
    into = (ctypes.c_void_p * 3)(*(result.ctypes.data for result in results))
    seen = []
    for state in (DEFAULT, *STATES.values(), DEFAULT):
        with State(state):
            before = controls()
            program = library.octavo_program_load(str(tmp_path / "p").encode())
            status = library.octavo_program_run_on(program, given, into, threads)
            after = controls()
        library.octavo_program_free(program)
        assert program and status == 0 and after == before
        seen.append(raw(results))
    np.testing.assert_array_equal(results[0], (SMALLEST.astype(np.float64) * np.float64(np.float32(0.3))).astype(np.float32))
    assert all(each == seen[0] for each in seen)


def test_a_conversion_is_that_of_ml_dtypes_in_every_state():
    """A right value from elsewhere: e5m2 of tiny values, ties among them."""
    x = np.float32([1.5, 1.25, 1.125, 1.375, 2.0 ** -17, 3 * 2.0 ** -17, 1e-39, -1.0 / 3])
    own = x.astype(ml_dtypes.float8_e5m2)
    for state in STATES.values():
        with State(state):
            found = octavo.convert(x, "e5m2")
        np.testing.assert_array_equal(found.view(np.uint8), own.view(np.uint8))
