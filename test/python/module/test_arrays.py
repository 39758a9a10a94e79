"""Which arrays the module takes, and that it does not copy them."""
import ctypes
import pathlib
import subprocess
import sys
import threading
import time
import tracemalloc

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import octavo
import octavo.jax as oj

X = np.random.default_rng(0).normal(size=(6, 64)).astype(np.float32)
EXPECTED = octavo.quantize(X, "mxfp4")


class Dlpack:
    """An array that speaks DLPack and nothing else, as other libraries' tensors do."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device


def resident(field="VmRSS"):
    """Bytes of this process in memory, or the most that there were."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split(field + ":")[1].split()[0]) * 1024


class WithArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("given", [
    X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1], X.astype(">f4"),
    read_only(X), Dlpack(X), Dlpack(np.asfortranarray(X)), WithArray(X), jnp.asarray(X),
    X.view(np.matrix), np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(6, 64),
], ids=["C", "F", "strided", "reversed", "big-endian", "read-only", "DLPack", "DLPack F", "__array__",
        "JAX", "subclass", "unaligned"])
def test_any_array_is_its_values(given):
    tensor = octavo.quantize(given, "mxfp4")
    assert tensor == EXPECTED
    assert type(tensor.elements) is np.ndarray


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn, jnp.float8_e5m2])
def test_jax_dtypes(dtype):
    x = jnp.asarray(X).astype(dtype)
    to = "e4m3fn" if np.dtype(dtype).itemsize == 2 else "f32"
    np.testing.assert_array_equal(octavo.convert(x, to).astype(np.float32),
                                  octavo.convert(np.asarray(x), to).astype(np.float32))


def test_four_bit_arrays_of_jax():
    """XLA packs them, and DLPack says so; their __array__ has them one a byte."""
    quantized = oj.quantize(X, "mxfp4")
    assert quantized.elements.dtype == jnp.float4_e2m1fn
    codes = EXPECTED.elements
    np.testing.assert_array_equal(octavo.convert(quantized.elements, "f32"), codes.astype(np.float32))
    np.testing.assert_array_equal(octavo.pack(quantized.elements), octavo.pack(codes))
    assert octavo.ScaledTensor(quantized.elements, quantized.scales, "mxfp4") == EXPECTED


def test_codes_are_the_elements_in_a_dtype_that_all_know():
    assert EXPECTED.codes.dtype == np.uint8 and np.shares_memory(EXPECTED.codes, EXPECTED.elements)
    assert not EXPECTED.codes.flags.writeable
    np.testing.assert_array_equal(EXPECTED.codes.view(ml_dtypes.float4_e2m1fn), EXPECTED.elements)
    np.testing.assert_array_equal(EXPECTED.T.codes, EXPECTED.codes.T)
    six = octavo.quantize(X, "mxfp6_e2m3")
    assert jnp.asarray(six.codes).dtype == jnp.uint8  # JAX has no dtype of six bits
    np.testing.assert_array_equal(jnp.asarray(six.codes), six.elements.view(np.uint8))


def test_parts_from_jax_are_not_copied():
    elements, scales = jnp.asarray(X).astype(jnp.float8_e4m3fn), jnp.ones((6, 2), jnp.float8_e8m0fnu)
    tensor = octavo.ScaledTensor(elements, scales, "mxfp8_e4m3")
    assert tensor.elements.ctypes.data == elements.unsafe_buffer_pointer()
    assert tensor.scales.ctypes.data == scales.unsafe_buffer_pointer()


def test_parts_by_dlpack_are_not_copied_and_live_on():
    elements, scales = np.zeros((6, 64), np.uint8), np.full((6, 2), 127, np.uint8)
    tensor = octavo.ScaledTensor(Dlpack(elements), Dlpack(scales), "mxfp8_e4m3")
    assert tensor.elements.ctypes.data == elements.ctypes.data
    del elements, scales
    assert (tensor.dequantize() == 0).all()


@pytest.mark.parametrize("given", [lambda x: x, Dlpack, jnp.asarray], ids=["NumPy", "DLPack", "JAX"])
def test_inputs_are_not_copied(given):
    x = given(np.ones((1024, 4096), np.float32))  # 16 MiB
    octavo.amax(x)  # imports, the first time
    tracemalloc.start()
    try:
        octavo.amax(x)
        octavo.convert(x, "e4m3fn")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 2 ** 20  # the 4 MiB that come out


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("call", [
    lambda x: octavo.quantize(x, "nvfp4"),
    lambda x: octavo.quantize(x, "fp8_tensor"),
    lambda x: octavo.quantize(x, "mxfp4", rounding="stochastic", key=1),
    lambda x: octavo.convert(x, "e4m3fn", rounding="stochastic", key=1)],
    ids=["nvfp4", "fp8_tensor", "stochastic", "convert"])
def test_neither_floats_nor_random_numbers_take_memory_of_the_arrays_size(call, dtype):
    x = np.ones((1024, 32768), dtype)  # as float32 and as random numbers 128 MiB
    call(x[:32])
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak, which was the tests' before
    before = resident()
    call(x)
    assert resident("VmHWM") - before < 80 * 2 ** 20  # 32 MiB come out


def lets_others_run(call, times):
    """Whether another thread runs Python during one of so many calls. The interpreter itself makes no
    thread wait for another here: only a call that gives its lock away lets one in."""
    turns, seen = 0, []

    def work():
        for _ in range(times):
            before = turns
            call()
            seen.append(turns - before)
            if any(seen):
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            turns += 1
            time.sleep(1e-5)
    finally:
        sys.setswitchinterval(interval)
    return any(seen)


def test_kernels_run_without_the_interpreters_lock():
    x = np.ones((64, 1 << 15), np.float32)
    q, w = octavo.quantize(x, "mxfp8_e4m3"), octavo.quantize(x, "mxfp4")
    pause = ctypes.PyDLL(None).usleep  # keeps the lock while it sleeps
    assert not lets_others_run(lambda: pause(20_000), 5)
    for call in (lambda: octavo.amax(x), lambda: octavo.convert(x, "e4m3fn"),
                 lambda: octavo.quantize(x, "nvfp4"), lambda: q.dequantize(),
                 lambda: octavo.matmul(x, w.T, bias=x[0, :64], to="bf16"),
                 lambda: octavo.pack(w.elements),
                 lambda: octavo.ScaledTensor(w.codes, w.scales, "mxfp4")):  # its codes are checked
        assert lets_others_run(call, 1000)


def test_the_first_byte_that_is_not_a_code_is_named():
    """Whatever thread finds which: codes are checked in pieces of 64 KiB."""
    codes = np.zeros(1 << 20, np.uint8)
    for first in (0, 65535, 65536, 777777, (1 << 20) - 1):
        codes[first] = codes[-1] = 0x40
        for threads in (1, 2, 0):
            octavo.set_threads(threads)
            with pytest.raises(octavo.FormatError, match=f"0x40 at index {first} "):
                octavo.convert(codes, "f32", source="e2m3fn")
        codes[first] = 0
    codes[:] = 0x3F
    assert (octavo.convert(codes, "f32", source="e2m3fn") == -7.5).all()


def test_more_threads_than_the_machine_has_say_nothing():
    """TBB wrote a warning to stderr, once a process."""
    script = ("import numpy as np, octavo; octavo.set_threads(1000); x = np.ones((1024, 1024), np.float32); "
              "octavo.matmul(x, octavo.quantize(x, 'mxfp4'))")
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")


def test_zero_dimensional_and_numpy_scalars():
    for x in (np.float32(1.1), np.array(1.1, np.float32), Dlpack(np.array(1.1, np.float32))):
        assert octavo.convert(x, "e4m3fn").shape == ()
        assert octavo.convert(x, "e4m3fn") == ml_dtypes.float8_e4m3fn(1.125)
        assert octavo.quantize(x, "mxfp8_e4m3").dequantize() == 1.125


def test_broadcast_arrays_work():
    x = np.broadcast_to(np.float32([1, 2]), (3, 2))
    assert octavo.convert(x, "e4m3fn").astype(np.float32).tolist() == [[1, 2]] * 3


@pytest.mark.parametrize("given, words", [
    (Dlpack(X, device=(2, 0)), r"lies on a device \(DLPack's number 2\).*\.cpu\(\)"),
    (Dlpack(X.astype(ml_dtypes.bfloat16)), "this Dlpack gives no array|expected an array"),
    (WithArray(3), "this WithArray gives no array"),
    ([1.0], "numpy.asarray"),
    (1.0, "found float"),
    (b"1234", "found bytes"),
    (X.astype(bool), "found bool"),
    (X.astype(object), "found object"),
    (X.astype("U"), "found str"),
    (np.zeros(3, [("a", np.float32)]), "found void"),
])
def test_what_is_no_array_of_floats(given, words):
    with pytest.raises(octavo.DtypeError, match=words):
        octavo.quantize(given, "mxfp4")
