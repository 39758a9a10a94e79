"""--drop-scales of octavo run, octavo compile and octavo.compile on programs as JAX writes fake quantization: the
scale and its amax go where codes are only dequantized, and nowhere else; never unasked."""
import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from program_commands import octavo
from scaled_programs import explain, run

pytestmark = pytest.mark.mlir

F8 = jnp.float8_e4m3fn
X = np.random.default_rng(0).standard_normal((8, 64)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((64, 16)).astype(np.float32)


def quantized(x, axis=None):
    """Codes and their scales as JAX programs compute them; jnp.clip is a call."""
    scale = jnp.max(jnp.abs(x), axis=axis, keepdims=axis is not None) / 448
    return jnp.clip(x / scale, -448, 448).astype(F8), scale


def kept_wide(x):  # of the tensor, and of rows; an activation between them
    q, s = quantized(x)
    h = jnp.tanh(q.astype(jnp.float32) * s)
    q, s = quantized(h, axis=1)
    return q.astype(jnp.float32) * s + 1


def with_codes_out(x):
    q, s = quantized(x)
    return q.astype(jnp.float32) * s, q


def multiplied(x):  # recovered: the codes are multiplied
    q, s = quantized(x)
    r, t = quantized(W, axis=0)
    y = (q.astype(jnp.float32) * s) @ (r.astype(jnp.float32) * t)
    q, s = quantized(y)
    return q.astype(jnp.float32) * s


def program(folder, function):
    path = folder / "program.mlir"
    path.write_text(jax.jit(function).lower(X).as_text())
    return path


def fake(x, axis=None):
    scale = (np.abs(x).max(axis, keepdims=axis is not None) / np.float32(448)).astype(np.float32)
    return np.clip(x / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale


@pytest.mark.parametrize("backend", ["reference", "compiled"])
def test_values_are_those_without_the_rounding(tmp_path, backend):
    path = program(tmp_path, kept_wide)
    as_it_is = run(path, [X], tmp_path, "--backend", backend)
    np.testing.assert_allclose(as_it_is, fake(np.tanh(fake(X)), 1) + 1, atol=0.04)  # one code farther at most
    wide = run(path, [X], tmp_path, "--backend", backend, "--drop-scales")
    np.testing.assert_allclose(wide, np.tanh(X) + 1, atol=2.4e-7, rtol=0)
    assert (wide != as_it_is).any()


def test_what_is_exact_stays_bit_for_bit(tmp_path):
    """Values that were rounded under the same scale before: a second rounding changes none."""
    path = tmp_path / "twice.mlir"
    path.write_text("""func.func @main(%x: tensor<8x64xf32> {octavo.name = "x"}) -> (tensor<8x64xf32>) {
  %0 = octavo.quantize %x, rule = floor : tensor<8x64xf32> -> !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
  %1 = octavo.dequantize %0 : !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}""")
    once = run(path, [X], tmp_path)
    assert (once != X).any()
    np.testing.assert_array_equal(run(path, [once], tmp_path), once)
    np.testing.assert_array_equal(run(path, [once], tmp_path, "--drop-scales"), once)


def test_told_by_run(tmp_path):
    np.save(tmp_path / "x.npy", X)
    path = program(tmp_path, kept_wide)
    text = octavo("run", path, "--input", tmp_path / "x.npy", "--drop-scales")
    assert "left wide  2 of 2 tensors that are quantized and dequantized again; values differ" in text
    report = json.loads(octavo("run", path, "--input", tmp_path / "x.npy", "--drop-scales", "--compare", "f32", "--json"))
    assert report["scales"] == {"dropped": 2, "kept": 0}
    assert json.loads(octavo("run", path, "--input", tmp_path / "x.npy", "--json"))["scales"] is None
    assert 0 < report["outputs"][0]["f32"]["max"] < 0.1
    explained = json.loads(octavo("run", path, "--explain-compile", "--drop-scales", "--json"))
    assert explained["scales"] == {"dropped": 2, "kept": 0}
    as_it_is = json.loads(octavo("run", path, "--explain-compile", "--json"))
    assert as_it_is["scales"] is None
    assert explained["functions"][0]["operations"] < as_it_is["functions"][0]["operations"]
    assert "left wide     2 of 2" in octavo("run", path, "--explain-compile", "--drop-scales")
    path = program(tmp_path, with_codes_out)
    assert json.loads(octavo("run", path, "--explain-compile", "--drop-scales", "--json"))["scales"] == {"dropped": 0, "kept": 1}


def test_products_of_codes_keep_their_scales(tmp_path):
    path = program(tmp_path, multiplied)
    np.save(tmp_path / "x.npy", X)
    report = json.loads(octavo("run", path, "--input", tmp_path / "x.npy", "--recover-scaled", "--drop-scales", "--json"))
    assert report["recovery"]["narrow"] == 1 and report["scales"]["dropped"] == 1
    found = run(path, [X], tmp_path, "--recover-scaled", "--drop-scales")
    np.testing.assert_allclose(found, fake(X) @ fake(W, 0), atol=0.05)
    assert np.abs(found - X @ W).max() > 0.05  # the product's sides stay rounded


def test_told_by_explain(tmp_path):
    path = program(tmp_path, multiplied)
    assert json.loads(explain(path, "--json").stdout)["droppable_scales"] == 1
    assert "1 tensor is quantized only to be dequantized; octavo run --drop-scales leaves it wide" in explain(path).stdout
    path = program(tmp_path, kept_wide)
    assert "no dots\n2 tensors are quantized only to be dequantized" in explain(path).stdout
    path = program(tmp_path, with_codes_out)
    assert json.loads(explain(path, "--json").stdout)["droppable_scales"] == 0
    assert "drop-scales" not in explain(path).stdout


def test_compiled_folders(tmp_path):
    path = program(tmp_path, kept_wide)
    np.save(tmp_path / "x.npy", X)
    assert "left wide: 2 of 2 tensors" in octavo("compile", path, "--drop-scales", "-o", tmp_path / "folder")
    report = json.loads(octavo("compile", path, "--drop-scales", "--json", "-o", tmp_path / "other"))
    assert report["dropped_scales"] == 2
    assert json.loads(octavo("compile", path, "--json", "-o", tmp_path / "third"))["dropped_scales"] is None


def test_refused(tmp_path):
    path = program(tmp_path, multiplied)
    np.save(tmp_path / "x.npy", X)
    told = octavo("run", path, "--input", tmp_path / "x.npy", "--drop-scales", "--quantize", "mxfp4", "--compare", "f32", "--per-op", code=2)
    assert "leave out --recover-scaled and --drop-scales" in told
    told = octavo("run", path, "--input", tmp_path / "x.npy", "--compare", "f32", code=2)
    assert "--recover-scaled or --drop-scales" in told
