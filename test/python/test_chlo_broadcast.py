"""chlo.broadcast_*: NumPy's broadcasting and broadcast_dimensions, beside NumPy."""

import numpy as np
import pytest
from test_reference import integers, normal, run

pytestmark = pytest.mark.mlir

FUNCTIONS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "atan2": np.arctan2, "remainder": np.fmod,
    "power": lambda x, y: np.power(x.astype(np.float64), y).astype(np.float32), "next_after": np.nextafter,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shift_left": np.left_shift,
    "shift_right_arithmetic": np.right_shift,
    "shift_right_logical": lambda x, y: (x.view(np.uint32) >> y.view(np.uint32)).view(np.int32),
}
ON_INTEGERS = {"and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"}


ELEMENTS = {"int32": "i32", "int64": "i64", "uint8": "ui8", "uint64": "ui64", "float32": "f32", "float64": "f64",
            "bool": "i1", "complex64": "complex<f32>", "complex128": "complex<f64>"}


def text(array, shape=None):
    extents = array.shape if shape is None else shape
    return f"tensor<{''.join(f'{n}x' for n in extents)}{ELEMENTS[str(array.dtype)]}>"


def found(folder, name, x, y, expected, dimensions=""):
    (result,) = run(folder, f"""func.func @main(%x: {text(x)}, %y: {text(y)}) -> {text(expected)} {{
      %r = chlo.broadcast_{name} %x, %y {dimensions} : ({text(x)}, {text(y)}) -> {text(expected)}
      return %r : {text(expected)} }}""", x, y)
    return result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_like_numpy(tmp_path, name):
    x, y = normal(4, 1, 3), normal(5, 1)
    if name == "power":
        x = np.abs(x)
    if name in ON_INTEGERS:
        x, y = integers(-999, 999, 4, 1, 3), integers(0, 30, 5, 1)
    expected = FUNCTIONS[name](x, y)
    np.testing.assert_allclose(found(tmp_path, name, x, y, expected), expected, rtol=1.2e-7)


def test_dimensions_of_the_smaller_operand(tmp_path):
    x, y = normal(2, 3), normal(2)
    expected = x - y[:, None]
    given = "{broadcast_dimensions = array<i64: 0>}"
    np.testing.assert_array_equal(found(tmp_path, "subtract", x, y, expected, given), expected)
    np.testing.assert_array_equal(found(tmp_path, "subtract", y, x, expected, given), -expected)


@pytest.mark.parametrize("name", ["zeta", "polygamma"])
def test_special_functions(tmp_path, name):
    x, y = np.array([[2], [3]], np.float32), np.array([1, 2], np.float32)
    pi2, three, four = np.pi**2 / 6, 1.2020569031595942, np.pi**4 / 90
    expected = {"zeta": [[pi2, pi2 - 1], [three, three - 1]],
                "polygamma": [[-2 * three, -2 * (three - 1)], [6 * four, 6 * (four - 1)]]}[name]
    expected = np.array(expected, np.float32)
    np.testing.assert_allclose(found(tmp_path, name, x, y, expected), expected, rtol=1.2e-7)


RELATIONS = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater,
             "LE": np.less_equal, "LT": np.less}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
def test_compare(tmp_path, relation, dtype):
    # Of few values, so that many are equal. NumPy orders complex numbers by the real part first, too.
    x, y = integers(-2, 2, 4, 1, 3).astype(dtype), integers(-2, 2, 5, 1).astype(dtype)
    if dtype == np.complex64:
        x, y = x + np.complex64(1j) * np.array([0, 1, 1, 2], dtype).reshape(4, 1, 1), y + np.complex64(1j)
    direction = f"{{comparison_direction = #chlo<comparison_direction {relation}>}}"
    expected = RELATIONS[relation](x, y)
    assert expected.any() and not expected.all()
    np.testing.assert_array_equal(found(tmp_path, "compare", x, y, expected, direction), expected)


def test_compare_in_total_order(tmp_path):
    x = np.array([[-0.0], [0.0], [np.inf], [np.nan]], np.float32)
    y = np.array([0.0, np.nan], np.float32)
    given = ("{comparison_direction = #chlo<comparison_direction LT>, "
             "compare_type = #chlo<comparison_type TOTALORDER>}")
    expected = np.array([[True, True], [False, True], [False, True], [False, False]])
    np.testing.assert_array_equal(found(tmp_path, "compare", x, y, expected, given), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_complex(tmp_path, dtype):
    x, y = normal(2, 3).astype(dtype), np.array([np.nan, -0.0], dtype)
    expected = np.empty((2, 3), np.result_type(dtype, np.complex64))
    expected.real, expected.imag = x, y[:, None]
    result = found(tmp_path, "complex", x, y, expected, "{broadcast_dimensions = array<i64: 0>}")
    np.testing.assert_array_equal(result.real, expected.real)
    np.testing.assert_array_equal(result.imag, expected.imag)
    assert np.signbit(result.imag[1]).all()


@pytest.mark.parametrize("shapes", [((5, 1, 1), (2, 1), (3,)), ((), (2, 3), ()), ((3,), (), (2, 3)),
                                    ((2, 3), (2, 3), (2, 3))])
@pytest.mark.parametrize("are_known", [True, False])
def test_select(tmp_path, shapes, are_known):
    p, x, y = (np.asarray(a) for a in (integers(0, 2, *shapes[0]) != 0, normal(*shapes[1]), normal(*shapes[2])))
    expected = np.where(p, x, y)
    types = [text(a, None if are_known else "?" * a.ndim) for a in (p, x, y, expected)]
    (result,) = run(tmp_path, f"""func.func @main(%p: {types[0]}, %x: {types[1]}, %y: {types[2]}) -> {types[3]} {{
      %r = chlo.broadcast_select %p, %x, %y : ({", ".join(types[:3])}) -> {types[3]}
      return %r : {types[3]} }}""", p, x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_array_equal(result, expected)
