"""Functions for the tests of compiled operations: their text, their arguments, and their results, compiled and interpreted."""
import json
import os
import pathlib
import subprocess

import numpy as np
from random_programs import tensor
from test_compiled import outputs

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
NARROW = {"f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3": 8, "f8E3M4": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8,
          "f8E8M0FNU": 8, "f6E3M2FN": 6, "f6E2M3FN": 6, "f4E2M1FN": 4}
NUMPY = {"i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16, "i32": np.int32,
         "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


class Function:
    """A function @main whose arguments have types of NumPy, and its text."""

    def __init__(self):
        self.arguments, self.arrays, self.lines, self.results, self.kinds = [], [], [], [], []

    def argument(self, array, element):
        self.arguments.append(f"%in{len(self.arrays)}: {tensor(array.shape, element)}")
        self.arrays.append(array)
        return f"%in{len(self.arrays) - 1}"

    def emit(self, text):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def convert(self, name, shape, before, after):
        return self.emit(f"stablehlo.convert {name} : ({tensor(shape, before)}) -> {tensor(shape, after)}")

    def constant(self, literal, element):
        return self.emit(f"stablehlo.constant dense<{literal}> : tensor<{element}>")

    def give(self, name, shape, element):
        """As a result of a type that files have: a narrow float as what it stands for, which tells codes apart."""
        if element in NARROW:
            name, element = self.convert(name, shape, element, "f32"), "f32"
        if element in ("i4", "ui4", "i2", "ui2"):
            name, element = self.convert(name, shape, element, "i8"), "i8"
        self.results.append(name)
        self.kinds.append(tensor(shape, element))

    def text(self):
        kinds = ", ".join(self.kinds)
        return (f"func.func @main({', '.join(self.arguments)}) -> ({kinds}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(self.results)} : {kinds}\n}}\n")

    def run(self, folder, backend):
        program = folder / "program.mlir"
        program.write_text(self.text())
        return outputs(program, self.arrays, folder, backend)

    def assert_all_is_compiled(self, folder):
        explained = subprocess.run([OCTAVO, "run", folder / "program.mlir", "--explain-compile", "--json"],
                                   capture_output=True, text=True)
        assert explained.returncode == 0, explained.stderr
        for function in json.loads(explained.stdout)["functions"]:
            assert function["compiled"] and not function["interpreted"], function["interpreted"]

    def assert_bits(self, folder):
        """The results, which both backends have."""
        wanted, found = self.run(folder, "reference"), self.run(folder, "compiled")
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), (self.results[i], self.kinds[i])
            if a.dtype.kind not in "iub":  # any NaN is as good as another; zeros have signs
                isnan = np.isnan(b)
                assert np.array_equal(isnan, np.isnan(a)), i
                a, b = np.where(isnan, 0, a), np.where(isnan, 0, b)
            different = np.flatnonzero(np.frombuffer(a.tobytes(), np.uint8) != np.frombuffer(b.tobytes(), np.uint8))
            assert different.size == 0, (
                f"{self.results[i]}: {a.ravel()[different[0] // a.itemsize]!r} and "
                f"{b.ravel()[different[0] // a.itemsize]!r} at {different[0] // a.itemsize}\n{self.text()[:4000]}")
        self.assert_all_is_compiled(folder)
        return found


def codes(function, element):
    """All codes of a narrow float as its elements, 256 of them."""
    numbers = np.arange(256, dtype=np.uint8)
    if NARROW[element] == 8:
        return function.emit(f"stablehlo.bitcast_convert {function.argument(numbers, 'ui8')} : "
                             f"(tensor<256xui8>) -> {tensor([256], element)}")
    finite = np.concatenate([np.linspace(-8, 8, 255), [-0.0]]).astype(np.float32)
    return function.convert(function.argument(finite, "f32"), [256], "f32", element)


def spread(element):
    """Values of a wider type, among them all that rounding to a narrow format could get wrong."""
    drawn = np.random.default_rng(3)
    if NUMPY[element] == np.bool_:
        return np.arange(4096) % 3 == 0
    if NUMPY[element] in (np.float32, np.float64, np.float16):
        bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[NUMPY[element]().itemsize]
        ties = [sign * (1 + k / 32) * 2.0**e for e in range(-24, 20) for k in range(32) for sign in (1, -1)]
        ties = np.array(ties, np.float64)
        with np.errstate(over="ignore"):
            exact = np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf),
                                    [0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 2.0**-127, 1.5 * 2.0**-127, 2.0**-149, 2.0**127,
                                     1.5 * 2.0**127, 1e300]]).astype(NUMPY[element])
        return np.concatenate([exact, drawn.integers(0, np.iinfo(bits).max, 4096, dtype=bits).view(NUMPY[element])])
    limits = np.iinfo(NUMPY[element])
    return np.concatenate([drawn.integers(limits.min, limits.max, 2048, dtype=NUMPY[element], endpoint=True),
                           (drawn.integers(0, 60000, 2048) - (30000 if limits.min else 0)).astype(NUMPY[element]),
                           np.array([limits.min, limits.max, 0], NUMPY[element])])


def drawn_values(shape, element, seed=0):
    drawn = np.random.default_rng(seed)
    kind = NUMPY.get(element, np.float32)
    if kind == np.bool_:
        return drawn.integers(0, 2, shape).astype(bool)
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return drawn.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
    return (drawn.standard_normal(shape) * 4).astype(kind)


def value(function, shape, element, seed=0):
    array = drawn_values(shape, element, seed)
    if element in NUMPY:
        return function.argument(array, element)
    if element in ("i4", "ui4"):
        return function.convert(function.argument(drawn_values(shape, "i8", seed), "i8"), shape, "i8", element)
    return function.convert(function.argument(array, "f32"), shape, "f32", element)


ELEMENTS = [*NUMPY, "bf16", "f8E5M2", "f8E4M3FNUZ", "f4E2M1FN", "i4", "ui4"]
INITIAL = {"maximum": {"f": "-1.0", "i": "0"}, "minimum": {"f": "1.0", "i": "0"}, "add": {"f": "0.5", "i": "1"},
           "multiply": {"f": "1.0", "i": "1"}}


def literal(element, operation):
    if element == "i1":
        return "true" if operation in ("multiply", "minimum") else "false"
    return INITIAL[operation]["f" if element[0] in "fb" else "i"]


def kind_of(element, total=False):
    if element[0] in "fb":
        return "TOTALORDER" if total else "FLOAT"
    return "UNSIGNED" if element[0] == "u" or element == "i1" else "SIGNED"


def body(names, element, count=1):
    """A region of `count` arguments before and as many after: an operation of each pair, or what comes after."""
    scalar = f"tensor<{element}>"
    arguments = ", ".join(f"%{side}{i}: {scalar}" for side in "ab" for i in range(count))
    lines, results = [], []
    for i in range(count):
        result = f"%b{i}"
        for k, name in enumerate(names):
            lines.append(f"      %r{i}{k} = stablehlo.{name} %a{i}, {result} : {scalar}")
            result = f"%r{i}{k}"
        results.append(result)
    return (f"({{\n    ^bb0({arguments}):\n" + "\n".join(lines) +
            f"\n      stablehlo.return {', '.join(results)} : {', '.join([scalar] * count)}\n  }})")


def roundings(arrays, element, folder):
    """What the arrays are in another type."""
    function = Function()
    for array in arrays:
        kind = {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32"}[array.dtype]
        name = function.argument(array, kind)
        if element != kind:
            name = function.convert(name, array.shape, kind, element)
        function.give(function.convert(name, array.shape, element, "f32"), array.shape, "f32")
    return function.run(folder, "reference")


def complex_value(function, shape, part, seed=0):
    """Its name, and what it is to NumPy."""
    element = f"complex<{part}>"
    sides = [drawn_values(shape, part, seed + 100 * i) for i in range(2)]
    names = [function.argument(each, part) for each in sides]
    return (function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {tensor(shape, element)}"),
            (sides[0] + 1j * sides[1].astype(np.complex128 if part == "f64" else np.complex64)))


def give_parts(function, name, shape, part):
    for which in ("real", "imag"):
        function.give(function.emit(f"stablehlo.{which} {name} : ({tensor(shape, f'complex<{part}>')}) -> {tensor(shape, part)}"),
                      shape, part)


def complex_results(found):
    return [np.asarray(real, np.float64) + 1j * imaginary for real, imaginary in zip(found[::2], found[1::2], strict=True)]
