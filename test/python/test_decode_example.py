"""examples/decode: a KV cache that is quantized where it is appended, by octavo beside XLA, and its quantization
beside OCP MX by hand."""
import functools
import json
import os
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.mlir
jax = pytest.importorskip("jax")
pytest.importorskip("safetensors")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "decode"))
import decode  # noqa: E402
import decoder  # noqa: E402
import export_step  # noqa: E402

OCTAVO = os.path.join(os.environ["OCTAVO_BIN_DIR"], "octavo")
SIZES = decoder.Sizes(width=128, inner=96, heads=2, layers=2, vocabulary=50, places=8)
TOKENS = [1, 40, 7, 23]


@pytest.mark.parametrize("element, emax, largest", [(ml_dtypes.float8_e4m3fn, 8, 448), (ml_dtypes.float4_e2m1fn, 2, 6)])
def test_quantize_is_mx_by_hand(element, emax, largest):
    drawn = np.random.default_rng(0)
    x = drawn.standard_normal((64, 3, 96)).astype(np.float32) * np.exp2(drawn.integers(-100, 120, (64, 3, 1)))
    x = x.astype(np.float32)
    x[0], x[1, 0, :32], x[2, 1, 5], x[3] = 0, 1.99 * largest, -3e38, 2.0**-122
    codes, scales = map(np.asarray, decoder.quantize(x, element))
    blocks = x.reshape(64, 3, 3, 32)
    amax = np.abs(blocks).max(-1).astype(np.float64)
    exponent = np.maximum(np.floor(np.log2(np.where(amax > 0, amax, 2.0**-149))) - emax, -126)
    np.testing.assert_array_equal(scales.view(np.uint8), exponent + 127)
    by_hand = np.clip(blocks / np.exp2(exponent)[..., None], -largest, largest).astype(element)
    np.testing.assert_array_equal(codes.view(np.uint8), by_hand.reshape(x.shape).view(np.uint8))


@functools.cache
def steps_of_xla(cache):
    """Logits of each step, and the caches after the last."""
    weights, caches = decoder.random_weights(SIZES), decoder.empty_caches(SIZES, cache)
    step = jax.jit(decoder.step, static_argnums=(0, 1))
    logits = []
    for position, token in enumerate(TOKENS):
        found, caches = step(SIZES, cache, weights, np.array([token], np.int32), np.int32(position), caches)
        logits.append(np.asarray(found)[0])
    return logits, {name: np.asarray(array) for name, array in caches.items()}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("cache", decoder.ELEMENTS)
def test_octavo_decodes_as_xla_does(tmp_path, cache, backend):
    export_step.write(tmp_path, SIZES, [cache])
    decoding = decode.Decoder(OCTAVO, tmp_path, tmp_path / "steps", SIZES, cache, ["--backend", backend])
    logits, caches = steps_of_xla(cache)
    for token, expected in zip(TOKENS, logits):
        found, report = decoding.step(token)
        assert report["backend"] == backend
        # A sum in another order moves a value over a rounding edge of 4 bits now and then.
        np.testing.assert_allclose(found, expected, atol=2e-5 if cache == "f32" else 0.05)
    for name, expected in caches.items():
        found = np.load(decoding.caches[name])
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert not found[:, len(TOKENS):].astype(np.float32).any() or name.endswith(".scales")
        if cache == "f32":
            np.testing.assert_allclose(found, expected, atol=2e-6)
        else:
            same = found.view(np.uint8) == expected.view(np.uint8)
            assert same.mean() > 0.99, name


@pytest.mark.parametrize("cache", ["mxfp8", "mxfp4"])
def test_no_step_has_a_cache_as_f32(tmp_path, cache):
    sizes = SIZES._replace(places=4096)
    (tmp_path / "step.mlir").write_text(export_step.program_text(sizes, cache))
    run = subprocess.run([OCTAVO, "run", tmp_path / "step.mlir", "--explain-compile", "--json"], stdout=subprocess.PIPE,
                         check=True)
    main = json.loads(run.stdout)["functions"][0]
    assert main["arena_bytes"] < 4 * sizes.heads * sizes.places * sizes.head / 4
    prologues = sum(product["count"] for product in main["products"] if "with a prologue" in product["what"])
    assert prologues == 2 * sizes.layers and not main["interpreted"]


def test_the_table(tmp_path):
    results = decode.decode(OCTAVO, tmp_path, SIZES, 3, reference=True)
    assert results["f32"]["cosine"] == pytest.approx([1] * 3, abs=1e-12) and results["f32"]["same token"] == 3
    elements = 2 * SIZES.layers * SIZES.heads * SIZES.places * SIZES.head
    assert [row["bytes"] for row in results.values()] == [4 * elements, 33 / 32 * elements, 17 / 32 * elements]
    assert 0.9999 > min(results["mxfp8"]["cosine"]) > 0.99
    assert 0.999 > min(results["mxfp4"]["cosine"]) > 0.95
    for row in results.values():
        assert min(row["cosine to reference"]) > 0.9999
