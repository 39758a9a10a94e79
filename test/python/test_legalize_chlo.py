"""--octavo-legalize-chlo: programs of CHLO's operations give what they gave before, where the interpreter
evaluates the operations themselves."""

import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from accuracy import legalized
from element_rules import FLOATS, INTEGERS
from on_xla import on_xla
from test_reference import OCTAVO, assert_same, run

pytestmark = pytest.mark.mlir

# How many units in the last place the results of f32 and of f64 may differ by.
BOUNDS = {
    "acos": (2, 2), "acosh": (2, 3), "asin": (2, 2), "asinh": (2, 2), "atan": (1, 1), "atanh": (2, 2),
    "bessel_i1e": (4, 4), "cosh": (2, 2), "digamma": (4, 4), "erf": (3, 3), "erf_inv": (4, 4), "erfc": (4, 4),
    "lgamma": (4, 6), "sinh": (3, 3), "tan": (0, 0), "square": (0, 0), "conj": (0, 0),
    "zeta": (6, 8), "polygamma": (6, 8), "next_after": (0, 0),
}
COMPLEX_BOUNDS = {
    "acos": 4, "acosh": 4, "asin": 4, "asinh": 4, "atan": 4, "atanh": 4, "cosh": 0, "sinh": 0, "tan": 0, "square": 3,
    "conj": 0,
}
BINARY = {"zeta", "polygamma", "next_after"}
PREDICATES = ["is_inf", "is_neg_inf", "is_pos_inf"]
WIDE = {"f32": np.float32, "f64": np.float64}
# Each beside each, in every pair: what ends up as a special case somewhere.
SPECIALS = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 2, -2, 3, 1e-30, -1e-30, 1e30, -1e30, 1e-40, -1e-40,
            3.4e38, -3.4e38, -2.5, -3, 1.5, 12, 40, 1e-300, 1e300]


def tensor(size, element):
    return f"tensor<{size}x{element}>"


class Program:
    """Calls of operations on arguments; results of narrow floats are widened to f32."""

    def __init__(self, size):
        self.size, self.arguments, self.lines, self.results = size, {}, [], []

    def argument(self, name, kind, element=None):
        """An argument of a kind that files have, converted."""
        self.arguments[name] = kind
        if element and element != kind:
            self.lines.append(f"%{name}_{element} = stablehlo.convert %{name} : ({tensor(self.size, kind)}) -> {tensor(self.size, element)}")
            return f"%{name}_{element}"
        return f"%{name}"

    def call(self, operation, operands, element, result=None, attributes=""):
        given, result = tensor(self.size, element), tensor(self.size, result or element)
        self.lines.append(f'%r{len(self.lines)} = "{operation}"({", ".join(operands)}){attributes} : '
                          f'({", ".join([given] * len(operands))}) -> {result}')
        return f"%r{len(self.lines) - 1}"

    def give(self, case, value, element):
        kind = element if element in WIDE else "i32" if element == "i1" else "f32"
        if kind != element:
            value = self.call("stablehlo.convert", [value], element, kind)
        self.results.append((case, value, kind))

    def text(self):
        types = [tensor(self.size, kind) for _, _, kind in self.results]
        body = "\n  ".join(self.lines)
        return (f"func.func @main({', '.join(f'%{n}: {tensor(self.size, k)}' for n, k in self.arguments.items())}) -> "
                f"({', '.join(types)}) {{\n  {body}\n  return {', '.join(v for _, v, _ in self.results)} : {', '.join(types)}\n}}\n")

    def both(self, folder, *arrays):
        """Of each case the results of the operation and of what it is legalized to."""
        text = self.text()
        runs = [run(folder, one, *arrays, backend="reference") for one in (text, legalized(text))]
        return {case: pair for (case, _, _), *pair in zip(self.results, *runs, strict=True)}


def ulps(found, expected, dtype):
    """The distance in units in the last place of `dtype`: 0 of NaN and NaN, infinite where one is a special
    number or the other has another sign of zero."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    info = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.abs(expected))[1] - 1, info.minexp)
        distance = np.abs(found - expected) / np.ldexp(1.0, exponent - info.nmant)
    distance = np.where(found == expected, 0.0, distance)
    is_special = ~np.isfinite(found) | ~np.isfinite(expected)
    same = (np.isnan(found) & np.isnan(expected)) | (found == expected)
    distance = np.where(is_special, np.where(same, 0.0, np.inf), distance)
    return np.where((found == 0) & (expected == 0) & (np.signbit(found) != np.signbit(expected)), np.inf, distance)


@pytest.fixture
def random():
    return np.random.default_rng(16)


def samples(random, dtype):
    """Pairs: the special numbers beside one another, and numbers of every size."""
    with np.errstate(all="ignore"):
        x, y = (grid.ravel().astype(dtype) for grid in np.meshgrid(SPECIALS, SPECIALS))
    spread = [sign * np.exp(random.uniform(-20, 20, 150)) for sign in (1, -1)]
    usual = np.concatenate([*spread, random.uniform(-12, 12, 600), random.uniform(-1, 1, 300), 1 + spread[0][:50] * 1e-6])
    # Orders of polygamma and zeta are integers above all, and neither is defined at most pairs.
    orders = np.concatenate([random.integers(0, 8, usual.size // 2), random.uniform(0.9, 6, usual.size - usual.size // 2)])
    with np.errstate(all="ignore"):
        return np.concatenate([x, orders.astype(dtype)]), np.concatenate([y, usual.astype(dtype)])


def is_measured(case, x, y):
    """Not near the zeros of functions at negative arguments, where a result is the small difference of large
    numbers (test_at_negative_arguments has these), and not polygamma of orders that no factorial is listed of."""
    with np.errstate(all="ignore"):
        if case in ("lgamma", "digamma"):
            return ~(x < 0) | (x == np.floor(x))
        if case in ("zeta", "polygamma"):
            return (~(y < 0) | (y == np.floor(y))) & ~((case == "polygamma") & (x > 170) & np.isfinite(x))
    return np.ones(x.shape, bool)


def functions(random, dtype, element):
    x, y = samples(random, dtype)
    program = Program(x.size)
    kind = element if element in WIDE else "f32"
    operands = [program.argument(name, kind, element) for name in "xy"]
    for name in BOUNDS:
        program.give(name, program.call(f"chlo.{name}", operands[:1 + (name in BINARY)], element), element)
    for name in PREDICATES:
        program.give(name, program.call(f"chlo.{name}", operands[:1], element, "i1"), "i1")
    return program, [array.astype(WIDE[kind]) for array in (x, y)]


@pytest.mark.parametrize("element", WIDE)
def test_functions(tmp_path, random, element):
    dtype = WIDE[element]
    program, arrays = functions(random, dtype, element)
    for case, (expected, found) in program.both(tmp_path, *arrays).items():
        if case in PREDICATES:
            assert expected.any() and np.array_equal(found, expected), case
            continue
        distance = np.where(is_measured(case, *arrays), ulps(found, expected, dtype), 0)
        worst = distance.argmax()
        assert distance[worst] <= BOUNDS[case][element == "f64"], (
            case, [array[worst] for array in arrays], found[worst], expected[worst])


@pytest.mark.parametrize("element", [name for name in FLOATS if name not in WIDE])
def test_functions_of_narrow_floats(tmp_path, random, element):
    """Computed in f32 and rounded once: the nearest, but where the exact value is all but halfway. What is 0
    in f32 is NaN in f8E8M0FNU, which has no zero, and not its smallest number."""
    type = FLOATS[element]
    program, arrays = functions(random, type.dtype, element)
    with np.errstate(all="ignore"):
        wide = [array.astype(type.dtype).astype(np.float64) for array in arrays]
    for case, (expected, found) in program.both(tmp_path, *arrays).items():
        if case in PREDICATES:
            assert np.array_equal(found, expected), case
            assert expected.any() == type.infinite, case
            continue
        distance = np.where(is_measured(case, *wide), ulps(found, expected, type.dtype), 0)
        if element == "f8E8M0FNU":
            distance = np.where((expected == 2.0**-127) & np.isnan(found), 0, distance)
        worst = distance.argmax()
        exact = case in ("tan", "square", "conj", "next_after")
        assert distance[worst] <= (0 if exact else 1), (case, [w[worst] for w in wide], found[worst], expected[worst])
        assert np.mean(distance > 0) <= 0.005, case


@pytest.mark.parametrize("element", WIDE)
def test_at_negative_arguments(tmp_path, random, element):
    """The largest of the numbers that a result is the sum of is what its error is measured by."""
    dtype = WIDE[element]
    x = -np.concatenate([np.exp(random.uniform(-20, 4, 400)), random.uniform(0, 12, 400)]).astype(dtype)
    n = random.integers(0, 6, x.size).astype(dtype)
    program = Program(x.size)
    operands = [program.argument(name, element) for name in "xns"]
    for name in ("lgamma", "digamma"):
        program.give(name, program.call(f"chlo.{name}", operands[:1], element), element)
    program.give("polygamma", program.call("chlo.polygamma", [operands[1], operands[0]], element), element)
    program.give("zeta", program.call("chlo.zeta", [operands[2], operands[0]], element), element)
    near = np.abs(x - np.rint(x))
    pole = np.maximum(near, np.finfo(dtype).tiny)
    sizes = {"lgamma": np.abs(np.log(pole)) + np.abs(x) + 1, "digamma": 1 / pole + 3,
             "polygamma": None, "zeta": None}
    for case, (expected, found) in program.both(tmp_path, x, n, n + 2).items():
        size = sizes[case]
        if size is None:
            order = n + 1 if case == "polygamma" else n + 2
            factorial = np.cumprod([1, 1, 2, 3, 4, 5, 6])[n.astype(int)] if case == "polygamma" else 1
            size = factorial * (pole.astype(np.float64) ** -order + 2)
        finite = np.isfinite(expected) & np.isfinite(found)
        assert np.array_equal(np.isfinite(expected), np.isfinite(found)) and finite.sum() > 500, case
        assert np.array_equal(expected[~finite], found[~finite], equal_nan=True), case
        error = np.abs(found[finite].astype(np.float64) - expected[finite]) / (np.finfo(dtype).eps * size[finite])
        assert error.max() <= 8, (case, x[finite][error.argmax()], error.max())


@pytest.mark.parametrize("element", WIDE)
def test_complex_functions(tmp_path, random, element):
    """On both sides of the branch cuts, at zeros of either sign and at infinities. What is known of a result
    where a part of the argument is NaN, C's functions say and formulas do not."""
    dtype = WIDE[element]
    x, y = (array[:len(SPECIALS) ** 2 + 600] for array in samples(random, dtype))
    y = y.copy()
    x[-600:] = random.permutation(y)[:600]
    x[-80:-40], y[-40:] = random.choice([0.0, -0.0], (2, 40))
    program = Program(x.size)
    parts = [program.argument(name, element) for name in "xy"]
    kind = f"complex<{element}>"
    z = program.call("stablehlo.complex", parts, element, kind)
    for name in COMPLEX_BOUNDS:
        value = program.call(f"chlo.{name}", [z], kind)
        for half in ("real", "imag"):
            program.give((name, half), program.call(f"stablehlo.{half}", [value], kind, element), element)
    has_nan = np.isnan(x) | np.isnan(y)
    for (name, half), (expected, found) in program.both(tmp_path, x, y).items():
        distance = ulps(found, expected, dtype)
        distance = np.where(has_nan, 0, distance)
        assert np.isnan(found[has_nan]).any(), (name, half)
        worst = distance.argmax()
        assert distance[worst] <= COMPLEX_BOUNDS[name], (name, half, x[worst], y[worst], found[worst], expected[worst])


@pytest.mark.parametrize("name", [name for name in INTEGERS if name != "i1"])
def test_mulhi(tmp_path, name):
    type = INTEGERS[name]
    grid = [int(v) for v in {type.low, type.low + 1, type.high, type.high - 1, 0, 1, max(-1, type.low), type.high // 2,
                             *map(int, type.sample())}]
    x, y = ([v for v in grid for _ in grid], grid * len(grid))
    literals = [", ".join(map(str, v)) for v in (x, y)]
    t = tensor(len(x), name)
    wide = "ui64" if type.low == 0 else "i64"
    text = f"""func.func @main() -> {tensor(len(x), wide)} {{
      %x = stablehlo.constant dense<[{literals[0]}]> : {t}
      %y = stablehlo.constant dense<[{literals[1]}]> : {t}
      %0 = chlo.mulhi %x, %y : {t}, {t} -> {t}
      %1 = stablehlo.convert %0 : ({t}) -> {tensor(len(x), wide)}
      return %1 : {tensor(len(x), wide)} }}"""
    (found,) = run(tmp_path, legalized(text))
    assert [int(v) for v in found] == [a * b >> type.bits for a, b in zip(x, y)]


@pytest.mark.parametrize("k", [0, 3, 9])
def test_top_k(tmp_path, random, k):
    """Of each kind of element, with ties, both zeros and NaN of either sign: in the total order."""
    floats = np.concatenate([[0.0, -0.0, np.nan, -np.inf, np.inf, 1, 1, -1, 2], random.permutation([0.0, -0.0, 3, 3, 3, np.nan, -5, 1, 1])])
    arrays = {"f32": np.copysign(floats, random.choice([1, -1], 18)).astype(np.float32).reshape(2, 9)}
    for kind in ("i32", "i8", "ui8", "i1"):
        arrays[kind] = random.integers(-3, 3, (2, 9)).astype(np.int32)
    lines, results = [], []
    for kind in arrays:
        stored = "f32" if kind == "f32" else "i32"
        types = [f"tensor<2x{k}x{e}>" for e in (kind, "i32", stored)]
        lines.append(f"""%{kind}_x = stablehlo.convert %{kind} : (tensor<2x9x{stored}>) -> tensor<2x9x{kind}>
          %{kind}_v, %{kind}_i = chlo.top_k(%{kind}_x, k = {k}) : tensor<2x9x{kind}> -> ({types[0]}, {types[1]})
          %{kind}_r = stablehlo.convert %{kind}_v : ({types[0]}) -> {types[2]}""")
        results += [(f"%{kind}_r", types[2]), (f"%{kind}_i", types[1])]
    values, types = zip(*results)
    arguments = ", ".join(f"%{kind}: tensor<2x9x{'f32' if kind == 'f32' else 'i32'}>" for kind in arrays)
    body = "\n".join(lines)
    text = f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n{body}\nreturn {', '.join(values)} : {', '.join(types)}\n}}"
    found = run(tmp_path, legalized(text), *arrays.values())
    for expected, after in zip(run(tmp_path, text, *arrays.values()), found, strict=True):
        assert_same(after, expected)
    # NumPy sorts integers stably, the negated ones in descending order.
    places = np.argsort(-arrays["i32"], axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found[3], places)
    np.testing.assert_array_equal(found[2], np.take_along_axis(arrays["i32"], places, 1))


def test_constants(tmp_path):
    text = """func.func @main(%x: tensor<?x3xi64>) -> (tensor<2xf32>, tensor<?x3xf32>) {
      %0 = chlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
      %1 = "chlo.constant_like"(%x) <{value = 2.5 : f32}> : (tensor<?x3xi64>) -> tensor<?x3xf32>
      return %0, %1 : tensor<2xf32>, tensor<?x3xf32> }"""
    numbers, like = run(tmp_path, legalized(text), np.zeros((2, 3), np.int64))
    np.testing.assert_array_equal(numbers, np.array([1.5, -2.0], np.float32))
    np.testing.assert_array_equal(like, np.full((2, 3), 2.5, np.float32))


@pytest.mark.parametrize("rows", [0, 1, 3, 4])
def test_bounded_extents(tmp_path, random, rows):
    bounded = "tensor<?x{}xf32, #stablehlo.bounds<4, ?>>"
    text = f"""func.func @main(%x: {bounded.format(1)}, %y: tensor<3xf32>) -> {bounded.format(3)} {{
      %0 = chlo.broadcast_add %x, %y : ({bounded.format(1)}, tensor<3xf32>) -> {bounded.format(3)}
      %1 = chlo.erf %0 : {bounded.format(3)} -> {bounded.format(3)}
      return %1 : {bounded.format(3)} }}"""
    x, y = random.normal(size=(rows, 1)).astype(np.float32), random.normal(size=3).astype(np.float32)
    (expected,), (found,) = (run(tmp_path, one, x, y) for one in (text, legalized(text)))
    assert found.shape == expected.shape == (rows, 3)
    assert rows == 0 or ulps(found, expected, np.float32).max() <= BOUNDS["erf"][0]


# Of each operation that broadcasts, the elements.
BROADCASTS = {
    "add": "f32", "subtract": "f32", "multiply": "f32", "divide": "f32", "maximum": "f32", "minimum": "f32",
    "remainder": "f32", "power": "f32", "atan2": "f32", "next_after": "f32", "zeta": "f32", "polygamma": "f32",
    "and": "i32", "or": "i32", "xor": "i32", "shift_left": "i32", "shift_right_arithmetic": "i32",
    "shift_right_logical": "i32",
}


def broadcasts(dimensions):
    """Each broadcast_* of operands whose shapes are 2x1x3 and 4x1, and the other operations; `dimensions` spells
    an extent."""

    def t(shape, element):
        return f"tensor<{''.join(f'{dimensions(n)}x' for n in shape)}{element}>"
    x, y, z = (2, 1, 3), (4, 1), (2, 4, 3)
    lines, results = [], []

    def call(name, operands, result, attributes=""):
        names, types = zip(*operands)
        lines.append(f'%r{len(lines)} = "chlo.{name}"({", ".join(names)}) {{{attributes}}} : ({", ".join(types)}) -> {result}')
        results.append((f"%r{len(lines) - 1}", result))

    for name, element in BROADCASTS.items():
        given = ("%x", t(x, element)), ("%y", t(y, element))
        if element == "i32":
            given = ("%i", t(x, element)), ("%j", t(y, element))
        call(f"broadcast_{name}", given, t(z, element))
    floats = ("%x", t(x, "f32")), ("%y", t(y, "f32"))
    call("broadcast_subtract", [floats[0], ("%v", t((2,), "f32"))], t(x, "f32"), "broadcast_dimensions = array<i64: 0>")
    call("broadcast_compare", floats, t(z, "i1"), "comparison_direction = #chlo<comparison_direction LT>")
    predicate = results.pop()
    call("broadcast_compare", floats, t(z, "i1"), "comparison_direction = #chlo<comparison_direction GE>, "
         "compare_type = #chlo<comparison_type TOTALORDER>")
    total = results.pop()
    call("broadcast_select", [predicate, *floats], t(z, "f32"))
    call("broadcast_select", [total, *floats], t(z, "f32"))
    call("broadcast_complex", floats, t(z, "complex<f32>"))
    made, kind = results.pop()
    call("square", [(made, kind)], kind)
    call("conj", [results.pop()], kind)
    made, kind = results.pop()
    for half in ("real", "imag"):
        lines.append(f"%{half} = stablehlo.{half} {made} : ({kind}) -> {t(z, 'f32')}")
        results.append((f"%{half}", t(z, "f32")))
    call("constant_like", [floats[0]], t(x, "i32"), "value = 7 : i32")
    lines.append(f"%values, %indices = chlo.top_k(%x, k = 2) : {t(x, 'f32')} -> ({t(x[:2], 'f32')[:-4]}2xf32>, {t(x[:2], 'i32')[:-4]}2xi32>)")
    results += [("%values", t(x[:2], "f32")[:-4] + "2xf32>"), ("%indices", t(x[:2], "i32")[:-4] + "2xi32>")]
    for name in BOUNDS:
        call(name, [floats[0]] * (1 + (name in BINARY)), t(x, "f32"))
    values, types = zip(*results)
    arguments = f"%x: {t(x, 'f32')}, %y: {t(y, 'f32')}, %v: {t((2,), 'f32')}, %i: {t(x, 'i32')}, %j: {t(y, 'i32')}"
    body = "\n  ".join(lines)
    return (f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n  {body}\n"
            f"  return {', '.join(values)} : {', '.join(types)}\n}}\n")


KNOWN = broadcasts(str)
OPEN = broadcasts(lambda extent: "?")
PARTLY_OPEN = broadcasts(lambda extent: "?" if extent in (1, 4) else str(extent))


@pytest.fixture
def operands(random):
    x = random.normal(2, 1, (2, 1, 3)).astype(np.float32)
    y = random.normal(2, 1, (4, 1)).astype(np.float32)
    i, j = (random.integers(0, 30, shape).astype(np.int32) for shape in (x.shape, y.shape))
    return x, y, x[:, 0, 0], i, j


def test_broadcasts_of_known_extents(tmp_path, operands):
    before, after = (run(tmp_path, text, *operands) for text in (KNOWN, legalized(KNOWN)))
    names = [*BROADCASTS, "dimensions", "select", "select", "real", "imag", "constant_like", "top_k", "top_k", *BOUNDS]
    for name, expected, found in zip(names, before, after, strict=True):
        assert found.shape == expected.shape, name
        ulp = COMPLEX_BOUNDS["square"] if name in ("real", "imag") else BOUNDS.get(name, (0,))[0]
        np.testing.assert_array_max_ulp(found, expected, ulp) if ulp else np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("text", [OPEN, PARTLY_OPEN], ids=["open", "partly-open"])
def test_open_extents(tmp_path, operands, text):
    """The same bits as with known extents."""
    for expected, found in zip(run(tmp_path, legalized(KNOWN), *operands, backend="reference"),
                               run(tmp_path, legalized(text), *operands, backend="reference"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_jaxlib_verifies_what_is_made(random):
    ir = pytest.importorskip("jaxlib.mlir.ir")
    context = pytest.importorskip("jax._src.interpreters.mlir").make_ir_context()
    for text in (KNOWN, OPEN, PARTLY_OPEN, *(functions(random, FLOATS[name].dtype, name)[0].text() for name in FLOATS)):
        with context, ir.Location.unknown():
            module = ir.Module.parse(legalized(text))
            assert module.operation.verify()
            used = set(re.findall(r"\b([a-z]+)\.\w+", str(module)))
            assert used <= {"func", "stablehlo", "module"}, used


def test_on_xla(tmp_path, random):
    """What XLA's CPU code makes of it is nearly as near. Its own exponential and logarithm are within an ulp
    or two."""
    names = [name for name in BOUNDS if name not in BINARY]
    x = np.concatenate([random.uniform(-0.99, 0.99, 200), random.uniform(1, 8, 200)]).astype(np.float32)
    program = Program(x.size)
    operand = program.argument("x", "f32")
    for name in names:
        program.give(name, program.call(f"chlo.{name}", [operand], "f32"), "f32")
    found = on_xla(legalized(program.text()), x)
    for name, after, before in zip(names, found, run(tmp_path, program.text(), x), strict=True):
        distance = np.where(is_measured(name, x, x), ulps(after, before, np.float32), 0)
        worst = distance.argmax()
        assert distance[worst] <= 6, (name, x[worst], distance[worst])


def refused(text):
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-legalize-chlo", "-"], input=text, capture_output=True,
                           text=True, timeout=60)
    assert ended.returncode == 1 and not ended.stdout
    return ended.stderr


@pytest.mark.parametrize("operation, type, why", [
    ("chlo.erf", "tensor<2xf80>", "'chlo.erf' op cannot be legalized: StableHLO does not have tensors of 'f80'"),
    ("chlo.tan", "tensor<2xcomplex<f16>>", "'chlo.tan' op cannot be legalized: StableHLO does not have tensors of 'complex<f16>'"),
    ("chlo.cosh", "tensor<?x3000000000xf32>", "'chlo.cosh' op cannot be legalized: extents that are found at run time are i32"),
])
def test_what_cannot_be_legalized(operation, type, why):
    text = f'func.func @main(%x: {type}) -> {type} {{\n  %0 = "{operation}"(%x) : ({type}) -> {type}\n  return %0 : {type}\n}}\n'
    assert f"<stdin>:2:8: error: {why}" in refused(text)


def test_what_stablehlo_does_not_take():
    """All such operations are told, and those that can be legalized are no reason to stop."""
    text = """func.func @main(%x: tensor<2xi1>, %y: tensor<2xf32>) -> (tensor<2xi1>, tensor<2xf32>, tensor<2xi1>) {
  %0 = chlo.broadcast_divide %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %1 = chlo.erf %y : tensor<2xf32> -> tensor<2xf32>
  %2 = chlo.broadcast_subtract %x, %x : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xi1>, tensor<2xf32>, tensor<2xi1>
}
"""
    told = refused(text)
    for line, name in ((2, "divide"), (4, "subtract")):
        assert f"<stdin>:{line}:8: error: 'chlo.broadcast_{name}' op cannot be legalized: " in told
    assert "chlo.erf" not in told


def test_extents_of_a_scan_and_a_ragged_dot_must_be_known():
    """--octavo-refine-shapes finds them; here nobody can."""
    scan = """func.func @main(%x: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %y, %t = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    %s = stablehlo.add %input, %carry : tensor<f32>
    stablehlo.return %s, %s : tensor<f32>, tensor<f32>
  } : (tensor<?xf32>, tensor<f32>) -> (tensor<?xf32>, tensor<f32>)
  return %t : tensor<f32> }
"""
    assert ("<stdin>:2:12: error: 'chlo.scan' op cannot be legalized: its extents must be known, as "
            "--octavo-refine-shapes finds them from the types of a function's arguments; found tensor<?xf32>") in refused(scan)
