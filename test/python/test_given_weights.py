"""What --weights gives is a weight of the dots that take it, in every command and as in octavo.compile(weights=), whatever the
program says of its arguments: JAX marks none."""
import json
import os

import numpy as np
import pytest
from program_commands import octavo

pytestmark = pytest.mark.mlir
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
import jax.export
import jax.numpy as jnp
from safetensors.numpy import save_file

DRAWN = np.random.default_rng(3)
PARAMS = {"a": DRAWN.normal(size=(64, 96)).astype(np.float32), "b": DRAWN.normal(size=(96, 32)).astype(np.float32)}
X = DRAWN.normal(size=(5, 64)).astype(np.float32)


def mlp(params, x):
    return jnp.tanh(x @ params["a"]) @ params["b"]


def named(params=PARAMS):
    return {f"params['{name}']": value for name, value in params.items()}


@pytest.fixture(params=["known", "symbolic"])
def net(tmp_path, request):
    """The program as jax.export serializes it, with a known batch or an open one, whose function it wraps."""
    rows = 5 if request.param == "known" else jax.export.symbolic_shape("n")[0]
    shaped = jax.tree.map(lambda value: jax.ShapeDtypeStruct(value.shape, value.dtype), PARAMS)
    exported = jax.export.export(jax.jit(mlp))(shaped, jax.ShapeDtypeStruct((rows, 64), np.float32))
    (tmp_path / "net.bin").write_bytes(exported.serialize())
    save_file(named(), tmp_path / "w.safetensors")
    np.save(tmp_path / "x.npy", X)
    return tmp_path


def given(folder):
    return folder / "net.bin", "--weights", folder / "w.safetensors"


def output(folder, *arguments):
    octavo("run", *arguments, "--input", folder / "x.npy", "--output", folder / "y.npy")
    return np.load(folder / "y.npy")


@pytest.mark.parametrize("format", ["mxfp4", "fp8_row"])
def test_run_and_compile(net, format):
    """With the bits that marked arguments have."""
    marked = output(net, *given(net), "--quantize", format, "--parameters", "^params")
    wide = PARAMS["a"].astype(np.float64), PARAMS["b"].astype(np.float64)
    assert not np.allclose(marked, np.tanh(X @ wide[0]) @ wide[1], atol=1e-2)
    np.testing.assert_array_equal(output(net, *given(net), "--quantize", format), marked)
    report = json.loads(octavo("run", *given(net), "--input", net / "x.npy", "--quantize", format, "--compare", "f32",
                               "--per-op", "--json"))
    assert report["quantization"]["dots_quantized"] == 2
    assert report["weights"]["tensors"] == report["weights"]["quantized"]["tensors"] == 2
    assert [(dot["quantized"], dot["rhs"]["is"]) for dot in report["per_op"]["dots"]] == [(True, "weight")] * 2
    octavo("compile", *given(net), "--quantize", format, "-o", net / "folder")
    np.testing.assert_array_equal(output(net, net / "folder"), marked)


def test_weights_count_where_nothing_is_quantized(net):
    report = json.loads(octavo("run", *given(net), "--input", net / "x.npy", "--json"))
    assert report["weights"]["tensors"] == 2 and report["weights"]["values"] == 64 * 96 + 96 * 32


def test_tensors_of_inputs_are_no_weights(net):
    said = octavo("run", net / "net.bin", "--input", net / "w.safetensors", "--input", net / "x.npy", "--quantize", "mxfp4",
                  "--json")
    assert json.loads(said)["quantization"]["dots_quantized"] == 0


def test_calibrate_and_tune(net):
    octavo("calibrate", *given(net), "--inputs", net / "x.npy", "-o", net / "ranges.json")
    assert [side["side"] for side in json.loads((net / "ranges.json").read_text())["tensors"]] == ["lhs", "lhs"]
    found = json.loads(octavo("tune", *given(net), "--input", net / "x.npy", "--budget", "cosine >= 0.9", "--formats",
                              "mxfp4,mxint8", "-o", net / "mixed.json", "--json"))
    assert [dot["weight"] for dot in found["dots"]] == ["params['a']", "params['b']"]
    report = json.loads(octavo("run", *given(net), "--input", net / "x.npy", "--recipe", net / "mixed.json", "--json"))
    assert report["quantization"]["dots_quantized"] == 2


def test_one_weight_in_a_file_of_many(net):
    """As a shard of a large model has them, most of them other programs'."""
    many = {f"model.layers.0.mlp.experts.{i}.down_proj.weight": np.zeros(1, np.float32) for i in range(40000)}
    save_file({**many, **named()}, net / "w.safetensors")
    report = json.loads(octavo("run", *given(net), "--ignore-unused", "--input", net / "x.npy", "--quantize", "mxfp4", "--json"))
    assert report["quantization"]["dots_quantized"] == 2
