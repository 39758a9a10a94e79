"""Complex numbers, factorizations, triangular systems and Fourier transforms, compiled, beside the interpreter."""
import numpy as np
import pytest
from compiled_function import NUMPY, Function, body, complex_results, complex_value, drawn_values, give_parts, value
from random_programs import tensor
from test_compiled_bodies import SCATTERS
from test_compiled_products import CONVOLUTIONS, convolution_of

pytestmark = pytest.mark.mlir


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_complex_numbers(part, tmp_path):
    """Arithmetic, data movement, sums and scatters, with infinities, NaN and both zeros among the parts."""
    function, element = Function(), f"complex<{part}>"
    parts = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 1e-42, 3e38, 0.1, 7], NUMPY[part])
    shape = [121, 121]
    grid = [each.ravel() for each in np.meshgrid(parts, parts)]
    sides = []
    for axis in (0, 1):
        names = [function.argument(each, part) for each in grid]
        of, line = tensor(shape, element), tensor([121], element)
        number = function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {line}")
        sides.append(function.emit(f"stablehlo.broadcast_in_dim {number}, dims = [{axis}] : ({line}) -> {of}"))

    def give(name, extents):
        for which in ("real", "imag"):
            function.give(function.emit(f"stablehlo.{which} {name} : ({tensor(extents, element)}) -> "
                                        f"{tensor(extents, part)}"), extents, part)

    for name in ("add", "subtract", "multiply", "divide"):
        give(function.emit(f"stablehlo.{name} {sides[0]}, {sides[1]} : {of}"), shape)
    give(function.emit(f"stablehlo.negate {number} : {line}"), [121])
    function.give(function.emit(f"stablehlo.abs {number} : ({line}) -> {tensor([121], part)}"), [121], part)
    for direction in ("EQ", "NE"):
        less = function.emit(f"stablehlo.compare {direction}, {sides[0]}, {sides[1]}, FLOAT : ({of}, {of}) -> "
                             f"{tensor(shape, 'i1')}")
        function.give(less, shape, "i1")
    give(function.emit(f"stablehlo.select {less}, {sides[0]}, {sides[1]} : {tensor(shape, 'i1')}, {of}"), shape)
    for other in ("f32", "f64", "i32", "i1", "f8E5M2"):
        function.give(function.convert(number, [121], element, other), [121], other)
        back = function.convert(function.argument(drawn_values([121], other), other) if other in NUMPY else
                                value(function, [121], other), [121], other, element)
        give(back, [121])
    zero = function.constant("(0.0, 0.0)", element)
    finite = [value(function, [9, 33], part, i) for i in range(2)]
    finite = function.emit(f"stablehlo.complex {finite[0]}, {finite[1]} : {tensor([9, 33], element)}")
    for name in ("add", "multiply"):
        give(function.emit(f"stablehlo.reduce({finite} init: {zero}) applies stablehlo.{name} across dimensions = [1] : "
                           f"({tensor([9, 33], element)}, tensor<{element}>) -> {tensor([9], element)}"), [9])
    give(function.emit(f"stablehlo.pad {finite}, {zero}, low = [1, 0], high = [0, 2], interior = [0, 1] : "
                       f"({tensor([9, 33], element)}, tensor<{element}>) -> {tensor([10, 67], element)}"), [10, 67])
    give(function.emit(f"stablehlo.concatenate {finite}, {finite}, dim = 1 : ({tensor([9, 33], element)}, "
                       f"{tensor([9, 33], element)}) -> {tensor([9, 66], element)}"), [9, 66])
    indices = function.argument(np.array([[1], [8], [1], [3]], np.int32), "i32")
    updates = function.emit(f"stablehlo.slice {finite} [0:4, 0:33] : ({tensor([9, 33], element)}) -> {tensor([4, 33], element)}")
    give(function.emit(
        f"\"stablehlo.scatter\"({finite}, {indices}, {updates}) <{{scatter_dimension_numbers = #stablehlo.scatter<"
        f"{SCATTERS[0][3]}>}}> {body(['add'], element)} : ({tensor([9, 33], element)}, tensor<4x1xi32>, "
        f"{tensor([4, 33], element)}) -> {tensor([9, 33], element)}"), [9, 33])
    function.assert_bits(tmp_path)


COMPLEX_FUNCTIONS = {
    "stablehlo.exponential": np.exp, "stablehlo.exponential_minus_one": np.expm1, "stablehlo.log": np.log,
    "stablehlo.log_plus_one": np.log1p, "stablehlo.logistic": lambda x: 1 / (1 + np.exp(-x)), "stablehlo.tanh": np.tanh,
    "stablehlo.sine": np.sin, "stablehlo.cosine": np.cos, "stablehlo.tan": np.tan, "stablehlo.sqrt": np.sqrt,
    "stablehlo.rsqrt": lambda x: 1 / np.sqrt(x), "stablehlo.cbrt": lambda x: np.abs(x)**(1 / 3) * np.exp(1j * np.angle(x) / 3),
    "stablehlo.sign": lambda x: np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))),
    "chlo.acos": np.arccos, "chlo.acosh": np.arccosh, "chlo.asin": np.arcsin, "chlo.asinh": np.arcsinh,
    "chlo.atan": np.arctan, "chlo.atanh": np.arctanh, "chlo.cosh": np.cosh, "chlo.sinh": np.sinh, "chlo.square": np.square,
}


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
@pytest.mark.parametrize("part", ["f32", "f64"])
def test_functions_of_complex_numbers(name, part, tmp_path):
    """On and beside the axes, with infinities and NaN, and drawn ones, which NumPy computes, too."""
    function, element = Function(), f"complex<{part}>"
    special = np.array([0, -0.0, 1, -1, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e-42, -1e-8, 3e38, 89, 710], NUMPY[part])
    real, imaginary = (each.ravel() for each in np.meshgrid(special, special))
    drawn = np.random.default_rng(7).normal(0, 1.5, (2, 2000)).astype(NUMPY[part])
    real, imaginary = np.concatenate([real, drawn[0]]), np.concatenate([imaginary, drawn[1]])
    shape = [real.size]
    of = tensor(shape, element)
    sides = [function.argument(each, part) for each in (real, imaginary)]
    number = function.emit(f"stablehlo.complex {sides[0]}, {sides[1]} : {of}")
    value = function.emit(f"{name} {number} : {of}" + (f" -> {of}" if name.startswith("chlo") else ""))
    for which in ("real", "imag"):
        function.give(function.emit(f"stablehlo.{which} {value} : ({of}) -> {tensor(shape, part)}"), shape, part)
    found = function.assert_bits(tmp_path)
    with np.errstate(all="ignore"):
        expected = COMPLEX_FUNCTIONS[name](drawn[0].astype(np.complex128) + 1j * drawn[1])
    found = found[0][-2000:].astype(np.complex128) + 1j * found[1][-2000:]
    assert np.max(np.abs(found - expected) / np.abs(expected)) < (1e-6 if part == "f32" else 1e-13)


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_two_complex_numbers(part, tmp_path):
    """Powers, angles, the larger and the smaller one, and every order: by the real part, then by the imaginary part."""
    function, element = Function(), f"complex<{part}>"
    parts = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 0.1, 7], NUMPY[part])
    grid = [each.ravel() for each in np.meshgrid(parts, parts)]
    shape = [81, 81]
    of, line = tensor(shape, element), tensor([81], element)
    names = [function.argument(each, part) for each in grid]
    number = function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {line}")
    sides = [function.emit(f"stablehlo.broadcast_in_dim {number}, dims = [{axis}] : ({line}) -> {of}") for axis in (0, 1)]
    for name in ("power", "atan2", "maximum", "minimum"):
        value = function.emit(f"stablehlo.{name} {sides[0]}, {sides[1]} : {of}")
        for which in ("real", "imag"):
            function.give(function.emit(f"stablehlo.{which} {value} : ({of}) -> {tensor(shape, part)}"), shape, part)
    for direction in ("LT", "LE", "GT", "GE"):
        function.give(function.emit(f"stablehlo.compare {direction}, {sides[0]}, {sides[1]}, FLOAT : ({of}, {of}) -> "
                                    f"{tensor(shape, 'i1')}"), shape, "i1")
    found = function.assert_bits(tmp_path)
    numbers = list(zip(*(each.tolist() for each in grid), strict=True))
    with np.errstate(all="ignore"):
        for axis0, axis1 in np.ndindex(81, 81):
            x, y = numbers[axis0], numbers[axis1]
            if not any(map(np.isnan, x + y)):
                assert [bool(each[axis0, axis1]) for each in found[8:]] == [x < y, x <= y, x > y, x >= y]
                assert (found[4][axis0, axis1], found[5][axis0, axis1]) == max(x, y)
                assert (found[6][axis0, axis1], found[7][axis0, axis1]) == min(x, y)
                if x == (7, 1) and y == (1, -2.5):
                    power = found[0][axis0, axis1] + 1j * found[1][axis0, axis1]
                    assert np.isclose(power, complex(*x)**complex(*y), rtol=1e-5)


# Left, right, batching and contracting dimensions, and NumPy's notation.
COMPLEX_DOTS = [
    ([5, 33], [33, 7], "", "[1] x [0]", "mk,kn->mn"), ([1, 9], [9, 1], "", "[1] x [0]", "mk,kn->mn"),
    ([67, 300], [300, 19], "", "[1] x [0]", "mk,kn->mn"), ([40, 130], [3, 130], "", "[1] x [1]", "mk,nk->mn"),
    ([33, 21], [33, 8], "", "[0] x [0]", "km,kn->mn"), ([7], [7, 5], "", "[0] x [0]", "k,kn->n"),
    ([6, 7], [7], "", "[1] x [0]", "mk,k->m"), ([8], [8], "", "[0] x [0]", "k,k->"), ([3], [4], "", "[] x []", "m,n->mn"),
    ([3, 4, 16], [3, 16, 9], "batching_dims = [0] x [0], ", "[2] x [1]", "bmk,bkn->bmn"),
    ([5, 2, 3, 4], [2, 4, 5, 6], "batching_dims = [1, 0] x [0, 2], ", "[3] x [1]", "cbmk,bkcn->bcmn"),
    ([2, 6, 3, 5], [5, 6, 7], "", "[1, 3] x [1, 0]", "akbl,lkn->abn"),
    ([3, 0], [0, 4], "", "[1] x [0]", "mk,kn->mn"), ([0, 5], [5, 2], "", "[1] x [0]", "mk,kn->mn"),
    ([2, 3, 4], [2, 4, 0], "batching_dims = [0] x [0], ", "[2] x [1]", "bmk,bkn->bmn"),
]


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_dots_of_complex_numbers(part, tmp_path):
    """NumPy's within n ulp of the sum of magnitudes."""
    function, wanted = Function(), []
    unit = 2.0**-24 if part == "f32" else 2.0**-53
    for case, (left, right, batching, contracting, notation) in enumerate(COMPLEX_DOTS):
        (x, a), (y, b) = complex_value(function, left, part, case), complex_value(function, right, part, case + 50)
        exact = np.einsum(notation, a.astype(np.complex128), b.astype(np.complex128))
        kinds = [tensor(shape, f"complex<{part}>") for shape in (left, right, exact.shape)]
        name = function.emit(f"stablehlo.dot_general {x}, {y}, {batching}contracting_dims = {contracting} : "
                             f"({kinds[0]}, {kinds[1]}) -> {kinds[2]}")
        give_parts(function, name, list(exact.shape), part)
        wanted.append((exact, np.einsum(notation, np.abs(a), np.abs(b)).astype(np.float64) * 4 * unit * max(*left, *right, 1)))
    # To a wider type, and read through a transpose and a slice.
    (x, _), (y, _) = complex_value(function, [9, 40], part, 7), complex_value(function, [40, 12], part, 8)
    name = function.emit(f"stablehlo.dot_general {x}, {y}, contracting_dims = [1] x [0] : "
                         f"({tensor([9, 40], f'complex<{part}>')}, {tensor([40, 12], f'complex<{part}>')}) -> "
                         "tensor<9x12xcomplex<f64>>")
    give_parts(function, name, [9, 12], "f64")
    (x, a), (y, b) = complex_value(function, [40, 9], part, 9), complex_value(function, [50, 12], part, 10)
    of = [tensor(shape, f"complex<{part}>") for shape in ([40, 9], [9, 40], [50, 12], [40, 12], [9, 12])]
    x = function.emit(f"stablehlo.transpose {x}, dims = [1, 0] : ({of[0]}) -> {of[1]}")
    y = function.emit(f"stablehlo.slice {y} [10:50, 0:12] : ({of[2]}) -> {of[3]}")
    name = function.emit(f"stablehlo.dot_general {x}, {y}, contracting_dims = [1] x [0] : ({of[1]}, {of[3]}) -> {of[4]}")
    give_parts(function, function.emit(f"stablehlo.multiply {name}, {name} : {of[4]}"), [9, 12], part)
    for found, (exact, bound) in zip(complex_results(function.assert_bits(tmp_path)), wanted):
        assert found.shape == exact.shape and (np.abs(found - exact) <= bound).all()


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_convolutions_of_complex_numbers(part, tmp_path):
    """Beside those of the parts in f64."""
    function, parts = Function(), Function()
    for case, each in enumerate(CONVOLUTIONS):
        shape, kernel, numbers, window, groups, batch_groups = each
        sides = [complex_value(function, extents, part, case + i) for i, extents in enumerate((shape, kernel))]
        names = {}
        for left, right in ((0, 0), (1, 1), (0, 1), (1, 0)):
            arrays = [np.asarray((side[1].real, side[1].imag)[which], np.float64) for side, which in zip(sides, (left, right))]
            given = [parts.argument(array, "f64") for array in arrays]
            text, extents = convolution_of(*given, each, "f64", "f64", "f64")
            names[left, right] = parts.emit(text)
        of = tensor(extents, "f64")
        parts.give(parts.emit(f"stablehlo.subtract {names[0, 0]}, {names[1, 1]} : {of}"), extents, "f64")
        parts.give(parts.emit(f"stablehlo.add {names[0, 1]}, {names[1, 0]} : {of}"), extents, "f64")
        text, extents = convolution_of(sides[0][0], sides[1][0], each, *[f"complex<{part}>"] * 3)
        give_parts(function, function.emit(text), extents, part)
    function.assert_bits(tmp_path)
    found, exact = (complex_results(each.run(tmp_path, backend)) for each, backend in ((function, "compiled"), (parts, "reference")))
    for i, (a, b) in enumerate(zip(found, exact, strict=True)):
        depth = int(np.prod(CONVOLUTIONS[i][1]))  # of values of 4, about
        assert a.shape == b.shape and (np.abs(a - b) <= depth * (1e-4 if part == "f32" else 1e-12)).all(), i


def matrix_value(function, array, element):
    """A matrix of any float or complex type: its name, and what it is in f64."""
    if element.startswith("complex"):
        part = element[8:-1]
        parts = [np.ascontiguousarray(each, NUMPY[part]) for each in (array.real, array.imag)]
        names = [function.argument(each, part) for each in parts]
        return (function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {tensor(array.shape, element)}"),
                parts[0] + 1j * parts[1].astype(np.float64))
    if element in ("f32", "f64"):
        return function.argument(array.real.astype(NUMPY[element]), element), array.real.astype(NUMPY[element]).astype(np.float64)
    name = function.argument(array.real.astype(np.float32), "f32")
    return function.convert(name, array.shape, "f32", element), array.real


def give_matrix(function, name, shape, element):
    if element.startswith("complex"):
        give_parts(function, name, shape, element[8:-1])
    elif element == "bf16":
        function.give(function.convert(name, shape, element, "f32"), shape, "f32")
    else:
        function.give(name, shape, element)


MATRIX_ELEMENTS = ["f32", "f64", "complex<f32>", "complex<f64>", "bf16", "f16", "f8E4M3FN"]
MATRIX_ERRORS = {"f32": 2e-7, "f64": 1e-13, "complex<f32>": 2e-7, "complex<f64>": 1e-13}


def drawn_matrix(shape, seed):
    drawn = np.random.default_rng(seed)
    return drawn.standard_normal(shape) + 1j * drawn.standard_normal(shape)


@pytest.mark.parametrize("element", MATRIX_ELEMENTS)
def test_cholesky(element, tmp_path):
    """Of either triangle, with anything in the other one; NaN of what is not positive definite. NumPy's factors beside them."""
    function, wanted = Function(), []
    for case, shape in enumerate([[1, 1], [2, 2], [5, 5], [3, 8, 8], [2, 2, 33, 33], [70, 70], [0, 0], [2, 0, 0], [0, 3, 3]]):
        n = shape[-1]
        for lower in (True, False):
            m = drawn_matrix(shape, case)
            if not element.startswith("complex"):
                m = m.real
            a = m @ np.conj(np.swapaxes(m, -1, -2)) / max(n, 1) + np.eye(n)
            given = np.where(np.tril(np.ones((n, n))) > 0 if lower else np.triu(np.ones((n, n))) > 0, a, 77)
            if case == 3:
                given[1, 4, 4] = -1
            if case == 4:
                given[1, 0, 0, 0] = np.nan
            name, exact = matrix_value(function, given + 0j if element.startswith("complex") else given, element)
            of = tensor(shape, element)
            result = function.emit(f"stablehlo.cholesky {name}, lower = {str(lower).lower()} : {of}" if lower else
                                   f"stablehlo.cholesky {name} : {of}")
            give_matrix(function, result, shape, element)
            if element in MATRIX_ERRORS and exact.size and case not in (3, 4):
                full = np.tril(exact) if lower else np.conj(np.swapaxes(np.triu(exact), -1, -2))
                full = full + np.conj(np.swapaxes(np.tril(full, -1), -1, -2))
                factor = np.linalg.cholesky(full)
                wanted.append(factor if lower else np.conj(np.swapaxes(factor, -1, -2)))
            else:
                wanted.append(None)
    found = function.assert_bits(tmp_path)
    found = complex_results(found) if element.startswith("complex") else found
    for a, b in zip(found, wanted, strict=True):
        if b is not None:
            assert np.max(np.abs(a - b)) <= MATRIX_ERRORS[element] * max(1, np.max(np.abs(b)))
    assert np.isnan(found[6][1]).any() and not np.isnan(found[6][0]).any() and not np.isnan(found[6][2]).any()


SYSTEMS = [(left, lower, unit, form) for left in (True, False) for lower in (True, False) for unit in (True, False)
           for form in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")]


@pytest.mark.parametrize("element", MATRIX_ELEMENTS)
def test_triangular_solve(element, tmp_path):
    """From each side, of each form, with NaN in the triangle that is not read; multiplied back in f64."""
    function, checks = Function(), []
    for number, (left, lower, unit, form) in enumerate(SYSTEMS):
        shapes = [((), 5, 3), ((2,), 9, 1), ((), 33, 17), ((3, 2), 4, 8), ((), 1, 1)][:5 if number % 4 == 0 else 3]
        for batch, n, others in [*shapes, ((), 0, 4), ((), 4, 0), ((0,), 3, 3)][:None if number % 8 == 0 else 3]:
            a = drawn_matrix([*batch, n, n], number) / max(n, 1) + 2 * np.eye(n)
            b = drawn_matrix([*batch, n, others] if left else [*batch, others, n], number + 100)
            a = np.where(np.tril(np.ones((n, n)), -1 if unit else 0) > 0 if lower
                         else np.triu(np.ones((n, n)), 1 if unit else 0) > 0, a, np.nan)
            if not element.startswith("complex"):
                a, b = a.real, b.real
            (x, exact), (y, right) = (matrix_value(function, each, element) for each in (a, b))
            kinds = tensor(a.shape, element), tensor(b.shape, element)
            name = function.emit(
                f"\"stablehlo.triangular_solve\"({x}, {y}) {{left_side = {str(left).lower()}, lower = {str(lower).lower()}, "
                f"unit_diagonal = {str(unit).lower()}, transpose_a = #stablehlo<transpose {form}>}} : ({kinds[0]}, {kinds[1]}) -> "
                f"{kinds[1]}")
            give_matrix(function, name, list(b.shape), element)
            read = np.nan_to_num(exact) + (np.eye(n) if unit else 0)
            read = {"NO_TRANSPOSE": read, "TRANSPOSE": np.swapaxes(read, -1, -2),
                    "ADJOINT": np.conj(np.swapaxes(read, -1, -2))}[form]
            checks.append((left, read, right))
    found = function.assert_bits(tmp_path)
    for x, (left, a, b) in zip(complex_results(found) if element.startswith("complex") else found, checks, strict=True):
        assert x.shape == b.shape and not np.isnan(x).any()
        if element in MATRIX_ERRORS and x.size:
            back = a @ x if left else x @ a
            assert np.max(np.abs(back - b)) <= 8 * MATRIX_ERRORS[element] * max(1, np.max(np.abs(x)))


# Extents of an operand of as many numbers as are transformed, and how many axes are.
TRANSFORMS = [([1], 1), ([2], 1), ([7], 1), ([64], 1), ([100], 1), ([3, 31], 1), ([9, 12], 1), ([17, 30], 1), ([2, 8, 45], 1),
              ([6, 10], 2), ([3, 7, 4], 2), ([2, 3, 1, 9], 2), ([4, 5, 6], 3), ([2, 3, 4, 5], 3), ([4, 0], 1), ([0, 4], 1),
              ([3, 0, 2], 2), ([1025], 1)]


@pytest.mark.parametrize("part", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_fft(kind, part, tmp_path):
    """NumPy's transforms beside them; zeros of either sign among the numbers."""
    function, wanted = Function(), []
    for case, (shape, axes) in enumerate(TRANSFORMS):
        half = [*shape[:-1], shape[-1] // 2 + 1 if shape[-1] else 0]
        before, after = (shape, half) if kind == "RFFT" else (half, shape) if kind == "IRFFT" else (shape, shape)
        if kind == "RFFT":
            exact = np.round(drawn_values(before, part, case), 1)
            name, exact = function.argument(exact, part), exact.astype(np.float64)
        else:
            numbers = drawn_matrix(before, case)
            numbers = np.where(np.abs(numbers.real) < 0.3, -0.0 * numbers.real + 1j * numbers.imag, numbers)
            name, exact = matrix_value(function, numbers, f"complex<{part}>")
        operand, result = (part if real else f"complex<{part}>" for real in (kind == "RFFT", kind == "IRFFT"))
        name = function.emit(f"stablehlo.fft {name}, type = {kind}, length = {shape[-axes:]} : "
                             f"({tensor(before, operand)}) -> {tensor(after, result)}")
        give_matrix(function, name, after, result)
        of = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}[kind]
        wanted.append(of(exact, shape[-axes:], range(len(shape) - axes, len(shape))) if exact.size else np.zeros(after))
    found = function.assert_bits(tmp_path)
    for i, (a, b) in enumerate(zip(found if kind == "IRFFT" else complex_results(found), wanted, strict=True)):
        assert a.shape == b.shape and np.allclose(a, b, rtol=0, atol=(1e-6 if part == "f32" else 1e-13) * np.max(np.abs(b), initial=1)), i
