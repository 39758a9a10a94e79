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


def text(array):
    return f"tensor<{''.join(f'{n}x' for n in array.shape)}{'i32' if array.dtype == np.int32 else 'f32'}>"


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
