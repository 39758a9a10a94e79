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


def beginning(combine, element):
    """What the operation leaves every number as it is with."""
    if combine in ("add", "multiply"):
        return ("1" if combine == "multiply" else "0") + (".0" if "f" in element else "")
    if "f" in element:
        return {"f32": ["0xFF800000", "0x7F800000"], "f64": ["0xFFF0000000000000", "0x7FF0000000000000"],
                "bf16": ["0xFF80", "0x7F80"]}[element][combine == "minimum"]
    info = np.iinfo(TYPES[element])
    return str(info.min if combine == "maximum" else info.max)


def program(shape, axis, element, combine="add", init=None, reverse=False, size=None):
    n, tensor = shape[axis], "x".join(map(str, [*shape, element]))
    literal = beginning(combine, element) if init is None else f"{init}.0" if "f" in element else str(init)
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
    """From 0 or 1 on, so that a first -0.0 becomes 0.0; each step rounded to the elements' type."""
    if combine not in ("add", "multiply"):
        return extremes(x, axis, combine)
    running = np.full_like(np.take(x, 0, axis), 1 if combine == "multiply" else 0)
    every = []
    with np.errstate(over="ignore"):
        for i in range(x.shape[axis]):
            running = getattr(np, combine)(running, np.take(x, i, axis))  # of bf16 rounded to bf16 (rule I10)
            every.append(running)
    return np.stack(every, axis)


def extremes(x, axis, combine):
    """Rule I5: -0.0 is less than 0.0, which NumPy leaves open."""
    def other(a, b):
        sign = np.signbit(a) if x.dtype.kind not in "iu" else a < 0
        taken = np.where(a == b, ~sign, a > b)
        return np.where(taken if combine == "maximum" else np.where(a == b, sign, a < b), a, b)

    every = [np.take(x, 0, axis)]
    for i in range(1, x.shape[axis]):
        every.append(other(every[-1], np.take(x, i, axis)))
    return np.stack(every, axis)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("combine", ["add", "multiply", "maximum", "minimum"])
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
    program((4, 15), 1, "f32"), program((4, 40), 1, "f32", init=1),
    program((4, 40), 1, "i32", combine="multiply", init=0), program((4, 40), 1, "f32", size=39),
    program((4, 40), 1, "f32", combine="maximum", init=0),
], ids=["few", "from 1", "from 0", "shorter", "maximum from 0"])
def test_other_windows_are_gone_through(text, tmp_path):
    element = "i32" if "i32" in text else "f32"
    x = numbers((4, 15 if "4x15x" in text else 40), element)
    made, stated = both(text, x, tmp_path)
    assert made.tobytes() == stated.tobytes()
    assert "running" not in explained(tmp_path)


@pytest.mark.parametrize("combine", ["maximum", "minimum"])
@pytest.mark.parametrize("element", ["f32", "f64", "bf16"])
def test_extremes_of_zeros_and_what_is_not_finite(combine, element, tmp_path):
    x = np.random.default_rng(3).choice([-0.0, 0.0, 0.0, -0.0, np.inf, -np.inf, 1, np.nan], (200, 24),
                                        p=[.3, .3, .1, .1, .05, .05, .05, .05]).astype(TYPES[element])
    made, stated = both(program(x.shape, 1, element, combine), x, tmp_path)
    np.testing.assert_array_equal(made.astype(np.float64), stated.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(made[made == 0]), np.signbit(stated[made == 0]))


def test_numbers_that_are_not_finite(tmp_path):
    x = numbers((8, 64), "f32")
    x[1, 5], x[2, 9], x[3, 2], x[3, 7] = np.nan, np.inf, np.inf, -np.inf
    made, stated = both(program((8, 64), 1, "f32"), x, tmp_path)
    np.testing.assert_array_equal(made, stated)
    assert np.isnan(made[1, 5:]).all() and np.isposinf(made[2, 9:]).all() and np.isnan(made[3, 7:]).all()


def test_no_numbers(tmp_path):
    made, stated = both(program((0, 40), 1, "f32"), np.zeros((0, 40), np.float32), tmp_path)
    assert made.shape == stated.shape == (0, 40)


@pytest.mark.parametrize("extent", [8, 40])
def test_bf16_is_rounded_at_each_step(extent, tmp_path):
    """256 + 1 is a tie between 256 and 258. XLA, too, for so few numbers that it does not cut the windows in parts."""
    jax = pytest.importorskip("jax")
    x = np.concatenate([[256], np.ones(extent - 1)]).astype(ml_dtypes.bfloat16)
    cumsum = jax.jit(jax.numpy.cumsum)
    if extent == 8:
        assert (np.asarray(cumsum(x)) == 256).all()
    (tmp_path / "p.mlir").write_text(cumsum.lower(x).as_text())
    for backend in ("compiled", "reference"):
        assert (outputs(tmp_path / "p.mlir", [x], tmp_path, backend)[0] == 256).all()
