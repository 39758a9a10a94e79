"""Windows of all of an axis up to each place, or from it on, as jax.lax.cumsum makes: compiled programs go along the
axis once (Steps/Running.h), with the interpreter's bits but for floats from the end, which have the order of rule C3."""
import subprocess

import ml_dtypes
import numpy as np
import pytest
from test_compiled import OCTAVO, outputs

pytestmark = pytest.mark.mlir

TYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "ui16": np.uint16, "i32": np.int32, "ui64": np.uint64,
         "bf16": ml_dtypes.bfloat16}


def program(shape, axis, element, combine="add", init=None, reverse=False, size=None):
    n, tensor = shape[axis], "x".join(map(str, [*shape, element]))
    init = init if init is not None else (1 if combine == "multiply" else 0)
    literal = f"{init}.0" if element in ("f32", "f64", "bf16") else str(init)
    padding = [[0, 0] for _ in shape]
    size = size or n
    padding[axis] = [0, size - 1] if reverse else [size - 1, 0]
    sizes = ", ".join(str(size if i == axis else 1) for i in range(len(shape)))
    return f"""func.func @main(%x: tensor<{tensor}>) -> tensor<{tensor}> {{
  %init = stablehlo.constant dense<{literal}> : tensor<{element}>
  %y = "stablehlo.reduce_window"(%x, %init) <{{padding = dense<{padding}> : tensor<{len(shape)}x2xi64>, window_dimensions = array<i64: {sizes}>}}> ({{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
    %s = stablehlo.{combine} %a, %b : tensor<{element}>
    stablehlo.return %s : tensor<{element}>
  }}) : (tensor<{tensor}>, tensor<{element}>) -> tensor<{tensor}>
  return %y : tensor<{tensor}>
}}
"""


def explained(folder):
    return subprocess.run([OCTAVO, "run", folder / "p.mlir", "--explain-compile"], check=True, capture_output=True,
                          text=True).stdout


def numbers(shape, element, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(TYPES[element])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max, shape, kind, endpoint=True)
    x = rng.standard_normal(shape).astype(kind)
    x.flat[3::97] = -0.0
    return x


def both(text, x, folder):
    (folder / "p.mlir").write_text(text)
    return [outputs(folder / "p.mlir", [x], folder, backend)[0] for backend in ("compiled", "reference")]


def accumulated(x, axis, combine="add"):
    """From 0 or 1 on, so that a first -0.0 becomes 0.0."""
    function = getattr(np, combine)
    first = np.full_like(np.take(x, [0], axis), function.identity)
    with np.errstate(over="ignore"):
        every = function.accumulate(np.concatenate([first, x], axis), axis, dtype=x.dtype)
    return np.delete(every, 0, axis)


@pytest.mark.parametrize("element", ["f32", "f64", "i8", "ui16", "i32", "ui64"])
@pytest.mark.parametrize("combine", ["add", "multiply"])
@pytest.mark.parametrize("shape, axis", [((21, 40), 1), ((40, 21), 0), ((3, 17, 5), 1), ((2, 16, 1500), 1), ((300,), 0)])
def test_sums_up_to_each_place(shape, axis, combine, element, tmp_path):
    x = numbers(shape, element)
    made, stated = both(program(shape, axis, element, combine), x, tmp_path)
    assert made.tobytes() == stated.tobytes() == accumulated(x, axis, combine).tobytes()
    assert "running" in explained(tmp_path)


@pytest.mark.parametrize("element", ["f32", "f64", "i8", "i32"])
@pytest.mark.parametrize("shape, axis", [((21, 40), 1), ((40, 21), 0), ((3, 17, 5), 1)])
def test_sums_from_each_place(shape, axis, element, tmp_path):
    x = numbers(shape, element)
    made, stated = both(program(shape, axis, element, reverse=True), x, tmp_path)
    backwards = np.flip(accumulated(np.flip(x, axis), axis), axis)
    assert made.tobytes() == backwards.tobytes()
    if element.startswith("i"):
        assert made.tobytes() == stated.tobytes()
    assert "running" in explained(tmp_path)


@pytest.mark.parametrize("text", [
    program((4, 15), 1, "f32"), program((4, 40), 1, "bf16"), program((4, 40), 1, "f32", init=1),
    program((4, 40), 1, "i32", combine="multiply", init=0), program((4, 40), 1, "f32", size=39),
    program((4, 40), 1, "f32", combine="maximum"),
], ids=["few", "bf16", "from 1", "from 0", "shorter", "maximum"])
def test_other_windows_are_gone_through(text, tmp_path):
    element = "bf16" if "bf16" in text else "i32" if "i32" in text else "f32"
    x = numbers((4, 15 if "4x15x" in text else 40), element)
    made, stated = both(text, x, tmp_path)
    assert made.tobytes() == stated.tobytes()
    assert "running" not in explained(tmp_path)


def test_numbers_that_are_not_finite(tmp_path):
    x = numbers((8, 64), "f32")
    x[1, 5], x[2, 9], x[3, 2], x[3, 7] = np.nan, np.inf, np.inf, -np.inf
    made, stated = both(program((8, 64), 1, "f32"), x, tmp_path)
    np.testing.assert_array_equal(made, stated)
    assert np.isnan(made[1, 5:]).all() and np.isposinf(made[2, 9:]).all() and np.isnan(made[3, 7:]).all()


def test_no_numbers(tmp_path):
    made, stated = both(program((0, 40), 1, "f32"), np.zeros((0, 40), np.float32), tmp_path)
    assert made.shape == stated.shape == (0, 40)
