"""Every public function with arrays of wrong shapes, dtypes, ranks and layouts: an answer or an error
that says what is wrong, and no access beyond a buffer, which the sanitizers' build sees.

Functions, classes and methods are found by introspection: a new one without a case fails. The same
arrays in every run; OCTAVO_EXAMPLES is how many others to draw for each function instead.
"""
import functools
import importlib.util
import inspect
import os
import pickle
import subprocess
import tempfile

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.checkpoint
import octavo.jax as oj
import pytest

FORMATS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
ELEMENTS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ElementFormat)]
DTYPES = [np.dtype(name) for name in (
    "float32", "float64", "float16", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e2m3fn,
    "uint8", "int8", "int32", "bool", "complex64", ">f4")]
IN_JAX = [dtype for dtype in DTYPES if dtype.isnative and dtype != ml_dtypes.float6_e2m3fn]
EXTENTS = (0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 129)
LAYOUTS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "reversed": lambda x: x[::-1] if x.ndim else x,
    "unaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    if x.size else x,
    "broadcast": lambda x: np.broadcast_to(x, (2, *x.shape)),
}
EXAMPLES = int(os.environ.get("OCTAVO_EXAMPLES", 0))
HUGE = (1 << 20, 1 << 36)  # beyond any memory, without overcommitting what there is


class Draw:
    """What a case asks for: values of hypothesis."""

    def __init__(self, data):
        self.data = data

    def of(self, *values):
        return self.data.draw(st.sampled_from(values))

    def shape(self, most=4):
        return tuple(self.data.draw(st.lists(st.sampled_from(EXTENTS), max_size=most).filter(
            lambda shape: np.prod(shape, dtype=np.int64) <= 1 << 14)))

    def array(self, *shapes, dtypes=DTYPES, others=DTYPES):
        """Any array, or half of the time one of those shapes or dtypes that are right."""
        if shapes and self.of(True, False):
            shape = self.of(*shapes)
        else:
            shape = self.shape()
        dtype = self.of(*dtypes) if self.of(True, True, False) else self.of(*others)
        if self.of(*[False] * 15, True):
            return np.broadcast_to(np.zeros((), dtype), HUGE)
        values = np.random.default_rng(self.of(0, 1)).integers(-9, 9, shape)
        if dtype.kind in "biuc" or dtype.itemsize > 1:
            array = values.astype(dtype)
        else:  # every code, of six and four bits too
            array = (values & ((1 << octavo.ElementFormat(dtype).bits) - 1)).astype(np.uint8).view(dtype)
        return LAYOUTS[self.of(*LAYOUTS)](array)

    def floats(self, *shapes):
        return self.array(*shapes, dtypes=[np.dtype(np.float32)])

    def out(self):
        """Mostly none; else an array for a result, which seldom fits."""
        return self.array((4, 64), (33, 17), (4, 4), (4, 2)) if self.of(False, False, True) else None

    def axis(self):
        return self.of(-1, -1, 0, 1, -2, 5)

    def tensor(self):
        """A tensor of parts that fit; sometimes one whose parts' memory is written to."""
        format, shape = self.of(*FORMATS), self.of((4, 64), (33, 17), (2, 3, 40), (32, 32), (0, 32), (64,), ())
        made = octavo.quantize(np.ones(shape, np.float32), format, axis=self.of(-1, 0) if shape else -1)
        elements = made.codes.copy()
        tensor = octavo.ScaledTensor(elements, made.scales.copy(), format, axis=made.axis, outer=made.outer)
        if self.of(*[False] * 3, True):
            elements[...] = 0xFF
        if len(shape) >= 2 and tensor.axis >= len(shape) - 2 and self.of(True, False):
            tensor = tensor.mT
        return tensor

    def part(self, right):
        """A part of a scaled array: the right one, a piece of it, or anything."""
        choice = self.of("right", "right", "cut", "grown", "any")
        if choice == "cut" and right.ndim:
            right = right[..., :-1]
        if choice == "grown":
            right = np.stack([right, right])
        return jax.device_put(self.array(dtypes=IN_JAX, others=IN_JAX) if choice == "any" else right)

    def scaled(self):
        """An octavo.jax.ScaledArray, mostly of parts that do not fit; JAX compiles nothing to make it."""
        format, shape = self.of(*FORMATS), self.of((4, 64), (2, 3, 40), (3, 33), (0, 32), (64,))
        q = octavo.quantize(np.ones(shape, np.float32), format, axis=self.of(-1, 0, -len(shape)))
        elements = q.elements if q.elements.dtype in IN_JAX else q.codes
        axis = q.axis - q.ndim
        return oj.ScaledArray(self.part(elements), self.part(q.scales), self.part(np.float32(q.outer)),
                              self.of(format, format, *FORMATS, "none"), self.of(axis, axis, -1, -2, 0, 3, -9))

    def side(self):
        return self.of(self.scaled, self.scaled, lambda: self.floats((4, 64), (64, 4), (2, 40, 3)))()


def matmul_arguments(d):
    return {name: d.floats((4, 33), (33,), (4, 4), ()) for name in ("addend", "bias", "residual")
            if d.of(False, False, True)}


PRODUCT = """func.func @main(%w: tensor<4x64xf32> {octavo.name = "w"}, %x: tensor<4x64xf32> {octavo.name = "x"}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""


def compiled(d):
    """A program of a weight that seldom fits, called with what seldom fits."""
    if importlib.util.find_spec("octavo._programs") is None:
        return None
    weight = d.of(d.tensor, d.floats, lambda: d.floats((4, 64)), lambda: d.floats((4, 64)))()
    if d.of(True, False, False, False):
        return octavo.compile(PRODUCT).dot_errors(weight, d.array((4, 64)), quantize=d.of(*FORMATS), parameters="w")
    program = octavo.compile(PRODUCT, quantize=d.of(None, *FORMATS), parameters="w", activations=d.of(None, "none"))
    return program(weight, d.of(d.array, lambda: d.floats((4, 64)))(), out=d.out())


def bound(d):
    if importlib.util.find_spec("octavo._programs") is None:
        return None
    weight = d.of(d.tensor, d.array, lambda: d.floats((4, 64)), lambda: d.floats((4, 64)))()
    return octavo.compile(PRODUCT, weights={"w": weight}, quantize=d.of(None, *FORMATS))(np.ones((4, 64), np.float32))


def calibrated(d):
    if importlib.util.find_spec("octavo._programs") is None:
        return None
    x = d.of(d.tensor, d.array, lambda: d.floats((4, 64)), lambda: d.floats((4, 64)))()
    return octavo.calibrate(PRODUCT, d.of([x], [(x,)], [{"x": x}], [{"y": x}], x),
                            weights={"w": np.ones((4, 64), np.float32)}, columns=d.of(False, True))


def tuned(d):
    """Tuned with one format, so that few runs are made where all fits."""
    if importlib.util.find_spec("octavo._programs") is None:
        return None
    weight = d.of(d.tensor, d.array, lambda: d.floats((4, 64)), lambda: d.floats((4, 64)))()
    inputs = d.of(d.array, lambda: d.floats((4, 64)), lambda: np.ones((4, 64), np.float32))()
    return octavo.tune(PRODUCT, d.of({"x": inputs}, (inputs,), [(inputs,)], inputs), weights={"w": weight},
                       budget="cosine >= 0.9", formats=["mxfp4"]).chosen.value


@functools.cache
def compiled_folder():
    folder = tempfile.mkdtemp()
    program = os.path.join(folder, "p.mlir")
    with open(program, "w") as file:
        file.write(PRODUCT)
    subprocess.run([os.path.join(os.environ["OCTAVO_BIN_DIR"], "octavo"), "compile", program, "-o", f"{folder}/out"],
                   check=True, capture_output=True)
    return f"{folder}/out"


def loaded(d):
    if importlib.util.find_spec("octavo._programs") is None:
        return None
    return octavo.load_program(compiled_folder())(d.of(d.array, lambda: d.floats((4, 64)))(),
                                                  d.of(d.tensor, lambda: d.floats((4, 64)))(), out=d.out())


NUMPY = {
    "amax": lambda d: octavo.amax(d.array()),
    "analyze": lambda d: octavo.analyze(d.floats((4, 64)), d.of(*FORMATS)),
    "cap_fnuz": lambda d: octavo.cap_fnuz(d.array(), source=d.of(None, "e4m3fnuz", "e5m2fnuz", "e4m3fn")),
    "Program": compiled,
    "calibrate": calibrated,
    "compile": bound,
    "convert": lambda d: octavo.convert(d.array(), d.of(*ELEMENTS), source=d.of(None, None, *ELEMENTS), out=d.out()),
    "cfloat8_bias": lambda d: octavo.cfloat8_bias(d.of(d.tensor, d.array)()),
    "current_scale": lambda d: octavo.current_scale(d.floats(), d.of(*ELEMENTS)),
    "dequantize": lambda d: octavo.dequantize(d.tensor(), out=d.out()),
    "formats": lambda d: octavo.formats(),
    "from_cfloat8": lambda d: octavo.from_cfloat8(d.array(dtypes=[DTYPES[10]]), d.of(*ELEMENTS),
                                                  bias=d.of(0, 7, 63, 64, -1, 1 << 70, 1.5, None)),
    "get_threads": lambda d: octavo.get_threads(),
    "isa": lambda d: octavo.isa(),
    "LoadedProgram": loaded,
    "load": lambda d: octavo.load(saved(d)),
    "load_program": lambda d: octavo.load_program(d.of("/nowhere", b"/nowhere", 3, None, os.devnull)),
    "matmul": lambda d: octavo.matmul(d.of(d.tensor, lambda: d.floats((4, 64), (3, 4, 33)))(),
                                      d.of(d.tensor, lambda: d.floats((64, 4), (33, 5)))(),
                                      **matmul_arguments(d), to=d.of("f32", "bf16", "e4m3fn", "e2m1fn"), out=d.out()),
    "pack": lambda d: octavo.pack(d.array(dtypes=[DTYPES[8], DTYPES[9], DTYPES[10]]), d.of(None, *ELEMENTS)),
    "presets": lambda d: octavo.presets(d.of(*FORMATS)),
    "quantize": lambda d: octavo.quantize(
        d.floats(), d.of(*FORMATS), axis=d.axis(), nan="propagate", outer=d.of(None, None, 0.5, 1e-30),
        preset=d.of(None, None, "jax", "torchao-rceil"), out=d.of(None, None, (d.out(), d.out()))),
    "quantize_both": lambda d: octavo.quantize_both(d.floats(), d.of(*FORMATS), nan="propagate", outer=d.of(None, 2)),
    "samples": lambda d: octavo.samples("normal", d.of(0, 7, -1, 1 << 60)),
    "save": lambda d: saved(d),
    "set_threads": lambda d: octavo.set_threads(d.of(0, 1, 2, -1)),
    "to_fnuz": lambda d: octavo.to_fnuz(d.array(dtypes=DTYPES[4:6]), d.array(()), source=d.of(None, "e4m3fn")),
    "to_ocp": lambda d: octavo.to_ocp(d.array(dtypes=DTYPES[6:7]), d.array(()), source=d.of(None, "e4m3fnuz"),
                                      no_twin=d.of("refuse", "saturate", "requantize")),
    "Tuning": tuned,
    "tune": tuned,
    "unpack": lambda d: octavo.unpack(d.array(dtypes=[DTYPES[10]]), d.of(*ELEMENTS)),
    "update_delayed_scale": lambda d: octavo.update_delayed_scale(d.floats((3, 16)), d.floats((3,), ()), "e4m3fn"),
    "ElementFormat": lambda d: octavo.ElementFormat(d.of(*DTYPES, *ELEMENTS)),
    "ErrorRow": lambda d: octavo.ErrorRow(d.array()),  # rows come from analyze
    "ScaledFormat": lambda d: octavo.ScaledFormat(d.of(*DTYPES, *FORMATS)),
    "ScaledTensor": lambda d: octavo.ScaledTensor(
        d.array((4, 64), (2, 3, 40)), d.array((4, 2), (4, 4), (1, 1), (4, 1)), d.of(*FORMATS), axis=d.axis()),
    "ScaledTensor.dequantize": lambda d: d.tensor().dequantize(out=d.out()),
    "ScaledTensor.__array__": lambda d: np.asarray(d.tensor()),
    "ScaledTensor.__eq__": lambda d: d.tensor() == d.of(d.tensor, d.array)(),
    "ScaledTensor.__getitem__": lambda d: d.tensor()[d.of(0, -1, slice(32), slice(16, None), (..., slice(0, 32)),
                                                          slice(1 << 62), 1 << 70, (0, 0, 0, 0), None)],
    "ScaledTensor.__getstate__": lambda d: pickle.loads(pickle.dumps(d.tensor())),
    "ScaledTensor.__init__": lambda d: NUMPY["ScaledTensor"](d),
    "ScaledTensor.__len__": lambda d: len(d.tensor()),
    "PackedWeight": lambda d: octavo.matmul(d.of(d.tensor, lambda: d.floats((4, 64), (3, 4, 33)))(),
                                            octavo.PackedWeight(d.tensor(), d.of("f32", *FORMATS))),
    "ScaledTensor.__matmul__": lambda d: d.tensor() @ d.of(d.tensor, d.floats)(),
    "ScaledTensor.__repr__": lambda d: repr(d.tensor()),
    "ScaledTensor.__rmatmul__": lambda d: d.floats((3, 4), (5, 64)) @ d.tensor(),
    "ScaledTensor.__setstate__": lambda d: octavo.ScaledTensor.__new__(octavo.ScaledTensor).__setstate__(
        (d.array((4, 64), dtypes=[np.dtype("uint8")]), d.array((4, 2), dtypes=[np.dtype("uint8")]),
         d.of(*FORMATS), d.of(1, 0, 9, "1"), d.of(1.0, np.nan, None), d.of(None, 2.0, "2"))[:d.of(6, 6, 6, 5)]),
    "checkpoint.config": lambda d: octavo.checkpoint.config(opened(d)),
    "checkpoint.lint": lambda d: octavo.checkpoint.lint(written(d), ["vllm"]),
    "checkpoint.open": lambda d: opened(d),
    "checkpoint.write": lambda d: written(d),
    "checkpoint.Checkpoint": lambda d: octavo.checkpoint.Checkpoint(written(d)),
    "checkpoint.Finding": lambda d: octavo.checkpoint.Finding(d.array()),  # findings come from lint
    "checkpoint.Checkpoint.dequantize": lambda d: opened(d).dequantize(d.of("a.weight", "b", "c")),
    "checkpoint.Checkpoint.get": lambda d: opened(d).get(d.of("a.weight", "b", "c"), d.array()),
    "checkpoint.Checkpoint.input_scale": lambda d: opened(d).input_scale("a"),
    "checkpoint.Checkpoint.items": lambda d: list(opened(d).items()),
    "checkpoint.Checkpoint.keys": lambda d: opened(d).keys(),
    "checkpoint.Checkpoint.outer_scale": lambda d: opened(d).outer_scale("a"),
    "checkpoint.Checkpoint.values": lambda d: list(opened(d).values()),
    "checkpoint.Checkpoint.__contains__": lambda d: (d.array() in opened(d)),
    "checkpoint.Checkpoint.__getitem__": lambda d: opened(d)[d.of("a.weight", "a", "b", "c")],
    "checkpoint.Checkpoint.__init__": lambda d: octavo.checkpoint.Checkpoint(written(d)),
    "checkpoint.Checkpoint.__iter__": lambda d: list(opened(d)),
    "checkpoint.Checkpoint.__len__": lambda d: len(opened(d)),
    "checkpoint.Checkpoint.__repr__": lambda d: repr(opened(d)),
}
DOT = [((1,), (0,)), ((1,), (1,)), ((2,), (1,)), ((0, 1), (0, 1)), ((7,), (0,))]
JAX = {
    "amax": lambda d: oj.amax(d.array()),
    "convert": lambda d: oj.convert(d.floats(), d.of(*ELEMENTS)),
    "dequantize": lambda d: oj.dequantize(d.scaled()),
    "fake_quantize": lambda d: oj.fake_quantize(d.floats(), d.of(*FORMATS), axis=d.axis(), outer=d.of(None, d.floats(()))),
    "from_tensor": lambda d: oj.from_tensor(d.of(d.tensor, d.array)()),
    "matmul": lambda d: oj.matmul(d.side(), d.side()),
    "pack": lambda d: oj.pack(d.array(dtypes=[DTYPES[8], DTYPES[10]]), d.of(None, *ELEMENTS)),
    "quantize": lambda d: oj.quantize(d.floats(), d.of(*FORMATS), axis=d.axis(), outer=d.of(None, None, 0.5, d.floats(()))),
    "register": lambda d: oj.register(),
    "scaled_dot_general": lambda d: oj.scaled_dot_general(
        d.floats((4, 64), (2, 3, 40)), d.floats((64, 3), (4, 64)), (d.of(*DOT), d.of(((), ()), ((0,), (0,)))),
        configs=d.of(["mxfp8_e4m3"] * 3, ["nvfp4"] * 3)),
    "scaled_matmul": lambda d: oj.scaled_matmul(
        *(jnp.asarray(d.array((2, 4, 64), dtypes=[DTYPES[4], DTYPES[8]], others=IN_JAX)) for _ in range(2)),
        *(jnp.asarray(d.array((2, 4, 2), (2, 4, 4), (2, 4, 1), dtypes=[DTYPES[7], DTYPES[4]], others=IN_JAX))
          for _ in range(2))),
    "unpack": lambda d: oj.unpack(d.array(dtypes=[DTYPES[10]]), d.of(*ELEMENTS)),
    "ScaledArray": lambda d: d.scaled(),
    "ScaledArray.__len__": lambda d: len(d.scaled()),
    "ScaledArray.batched": lambda d: d.scaled().batched(d.of(1, 0, 2, 5, None)),
    "ScaledArray.dequantize": lambda d: d.scaled().dequantize(),
    "ScaledArray.to_tensor": lambda d: d.scaled().to_tensor(),
    "ScaledArray.__array__": lambda d: np.asarray(d.scaled()),
    "ScaledArray.__getitem__": lambda d: d.scaled()[d.of(0, -1, slice(0, 32), slice(1, 3), (..., slice(16)), (0, 0), 9, d.array())],
    "ScaledArray.__matmul__": lambda d: d.scaled() @ d.side(),
    "ScaledArray.__rmatmul__": lambda d: jnp.asarray(d.array((4, 64), (3, 4), others=IN_JAX, dtypes=IN_JAX)) @ d.scaled(),
}


def saved(d):
    path = d.folder / "tensors.safetensors"
    octavo.save(path, {"x": d.of(d.tensor, d.array)(), "y": d.array()})
    return path


def written(d):
    folder = d.folder / f"checkpoint{sum(1 for _ in d.folder.iterdir())}"
    octavo.checkpoint.write(folder, {"a.weight": d.of(d.tensor, d.array)(), "b": d.array()},
                            d.of("compressed-tensors", "modelopt", "deepseek"))
    return folder


def opened(d):
    return octavo.checkpoint.open(written(d))


def methods(owner):
    """Names of what a class defines itself that can be called, but for what every object has."""
    dull = set(dir(object)) - {"__init__", "__eq__", "__getstate__", "__repr__"} | {"__weakref__"}
    return {name for name, value in vars(owner).items()
            if callable(value) and name not in dull and not isinstance(value, (property, type))}


def public(module, prefix=""):
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            continue
        yield prefix + name
        if isinstance(thing, type) and name in ("ScaledTensor", "Checkpoint"):
            yield from (f"{prefix}{name}.{method}" for method in methods(thing))
        elif isinstance(thing, type) and module is oj:  # what dataclasses write, reads no array
            yield from (f"{name}.{method}" for method in methods(thing) - {
                "__init__", "__eq__", "__repr__", "__replace__", "__setattr__", "__delattr__", "__hash__"})


def test_every_public_function_has_a_case():
    assert set(public(octavo)) | set(public(octavo.checkpoint, "checkpoint.")) == NUMPY.keys()
    assert set(public(oj)) == JAX.keys()
    for cases in (NUMPY, JAX):
        assert all(inspect.isfunction(case) for case in cases.values())


def read(result):
    """Looks at all that a result has, by introspection."""
    if isinstance(result, (list, tuple)):
        for each in result:
            read(each)
    elif isinstance(result, (octavo.ScaledTensor, oj.ScaledArray)):
        for name in dir(type(result)):
            if not name.startswith("_") and not callable(getattr(type(result), name)) and name not in ("T", "mT"):
                getattr(result, name)
        read(result.dequantize())
    elif isinstance(result, (np.ndarray, jax.Array)):
        np.asarray(result).tobytes()


# MemoryError for huge shapes; KeyError and IndexError are what Python's protocols ask for.
ANSWERS = (octavo.Error, MemoryError, KeyError, IndexError)


def check(case, data, folder, answers):
    d = Draw(data)
    d.folder = folder
    try:
        read(case(d))
    except answers:
        pass
    except jax.errors.JaxRuntimeError as error:  # codes of six bits are seen when a program runs
        assert "octavo:" in str(error) or "RESOURCE_EXHAUSTED" in str(error)
    except (TypeError, ValueError) as error:
        # nanobind's own of objects that are not numbers or names, and NumPy's of what is too large
        assert any(words in str(error) for words in (
            "incompatible function arguments", "too big", "too large", "no constructor", "unsupported operand",
            "Maximum allowed", "could not be broadcast", "hanging the dtype", "hanging to a larger")), error
    octavo.set_threads(0)


def settings(examples):
    return hypothesis.settings(max_examples=EXAMPLES or examples, derandomize=not EXAMPLES,
                               suppress_health_check=list(hypothesis.HealthCheck))


@pytest.mark.parametrize("name", NUMPY)
@settings(40)
@hypothesis.given(data=st.data())
def test_arrays_of_numpy(name, tmp_path_factory, data):
    check(NUMPY[name], data, tmp_path_factory.mktemp("wrong"), ANSWERS)


@pytest.mark.parametrize("name", JAX)
@settings(20)
@hypothesis.given(data=st.data())
def test_arrays_of_jax(name, tmp_path_factory, data):
    check(JAX[name], data, None, ANSWERS)
