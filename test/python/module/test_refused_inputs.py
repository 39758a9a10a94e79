"""NaN and infinities in what a quantized product is given: the error says in what, where that can be known, and what
option there is."""
import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import pytest

pytestmark = pytest.mark.mlir

ADVICE = ("--non-finite propagate makes the block NaN, --non-finite saturate takes an infinity for the largest value, "
          "--non-finite skip-nan does so too and leaves a NaN out of the block's scale (non_finite= in Python, non_finite in a recipe's rule, "
          "beside the format of a cache in kv_cache and in octavo.quantize)")


def convolved(**options):
    return lambda w, x: jax.lax.conv_general_dilated(x, w, (1, 1), dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def ones(*shape):
    return np.ones(shape, np.float32)


# What is computed, of which weight and input, what has the value, and where.
CASES = {
    "argument": (lambda w, x: x @ w, ones(64, 8), ones(4, 64), 'argument "x"', [3, 5]),
    "moved": (lambda w, x: x.T[1:].reshape(9, -1) @ w, ones(28, 8), ones(4, 64), 'argument "x"', [3, 5]),
    "result": (lambda w, x: jnp.tanh(x) @ w, ones(64, 8), ones(4, 64), "the result of jit(<lambda>)/tanh", [3, 5]),
    "several axes": (lambda w, x: jnp.einsum("bij,jik->bk", x, w), ones(8, 6, 5), ones(4, 6, 8), 'argument "x"', [3, 5, 7]),
    "patches": (convolved(padding="SAME"), ones(3, 3, 48, 8), ones(2, 7, 6, 48), 'argument "x"', [1, 3, 2, 47]),
    "codes": (convolved(padding="SAME"), ones(3, 3, 64, 8), ones(2, 7, 6, 64), 'argument "x"', [1, 3, 2, 63]),
    "groups": (convolved(padding=((1, 2), (0, 3)), feature_group_count=2), ones(3, 2, 48, 8), ones(2, 7, 6, 96), 'argument "x"',
               [1, 0, 5, 50]),
}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("case", CASES)
def test_whose_it_is_is_told(case, backend):
    function, w, x, what, place = CASES[case]
    x = x.copy()
    x[tuple(place)] = np.nan
    program = jax.jit(function).lower(w, x)
    options = {"quantize": "mxfp8_e4m3", "parameters": "^w", "backend": backend}
    with pytest.raises(octavo.NonFiniteError) as raised:
        octavo.compile(program, **options)(w, x)
    where = f" at {place}" if backend == "reference" or what == 'argument "x"' else ""
    assert f": {what} has NaN{where}, which its quantization refuses: {ADVICE}" in str(raised.value)
    assert np.isnan(octavo.compile(program, **options, non_finite="propagate")(w, x)).any()


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_infinities_too(backend):
    function, w, x, *_ = CASES["argument"]
    x = x.copy()
    x[1, 2] = -np.inf
    with pytest.raises(octavo.NonFiniteError, match='jit.*dot_general: argument "x" has -Inf'):
        octavo.compile(jax.jit(function).lower(w, x), quantize="mxfp8_e4m3", parameters="^w", backend=backend)(w, x)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
def test_a_folder_tells_the_place_in_its_argument(tmp_path, dtype):
    """Of the first such value; infinities of the other sign and NaN that come before are not what is told of."""
    octavo_command = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
    lowered = jax.jit(lambda w, x: (x.astype(jnp.float32) @ w,)).lower(ones(64, 8), ones(4, 64).astype(dtype))
    (tmp_path / "p.mlir").write_text(lowered.as_text(debug_info=True))
    octavo.save(tmp_path / "w.safetensors", {"w": ones(64, 8)})
    subprocess.run([octavo_command, "compile", tmp_path / "p.mlir", "--weights", tmp_path / "w.safetensors", "--quantize", "mxfp4",
                    "-o", tmp_path / "folder"], check=True, capture_output=True)
    program = octavo.load_program(tmp_path / "folder")
    for places, found in {((3, 5),): "NaN at [3, 5]", ((2, 63), (3, 0)): "NaN at [2, 63]"}.items():
        x = ones(4, 64).astype(dtype)
        for place in places:
            x[place] = np.nan
        with pytest.raises(octavo.NonFiniteError, match="argument \"x\" has " + found.replace("[", r"\[")):
            program(x)
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    if dtype == np.float32:
        run = subprocess.run([octavo_command, "run", tmp_path / "folder", "--input", tmp_path / "x.npy"], capture_output=True, text=True)
        assert run.returncode == 3 and 'argument "x" has NaN at [2, 63], which' in run.stderr


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_weights_side_by_side_are_told_apart(backend):
    def joined(a, b, c, x):
        return x @ jnp.concatenate([a, jnp.concatenate([b, c], 1)], 1)
    weights = {name: ones(64, 8) for name in "abc"}
    lowered = jax.jit(joined).lower(**weights, x=ones(4, 64))
    for name in "abc":
        bad = {**weights, name: ones(64, 8)}
        bad[name][7, 6] = np.inf
        program = octavo.compile(lowered, quantize="mxfp8_e4m3", weights=bad, backend=backend)
        with pytest.raises(octavo.NonFiniteError, match=rf'argument "{name}" has Inf at \[7, 6\], which'):
            program(ones(4, 64))


def test_one_class_for_weights_constants_and_activations(tmp_path):
    w = ones(64, 8)
    w[3, 2] = np.nan
    lowered = jax.jit(lambda w, x: x @ w).lower(w, ones(4, 64))
    octavo.save(tmp_path / "w.safetensors", {"w": w})
    for weights in {"w": w}, tmp_path / "w.safetensors":
        with pytest.raises(octavo.NonFiniteError, match=r"element \[3, 2\] is nan.*skip-nan"):
            octavo.compile(lowered, quantize="mxfp4", weights=weights)
        assert not np.isnan(octavo.compile(lowered, quantize="mxfp4", weights=weights, non_finite="skip-nan")(ones(4, 64))).any()
    with pytest.raises(octavo.NonFiniteError, match="which its quantization refuses: .*skip-nan"):
        octavo.compile(jax.jit(lambda x: x @ w).lower(ones(4, 64)), quantize="mxfp4")
    with pytest.raises(octavo.ProgramError, match="has no value"):
        octavo.compile(lowered, quantize="mxfp4", weights={"w": ones(64, 8)})()
