"""A recipe's kv_cache: decode steps as JAX exports them, whose caches become codes and scales, beside what NumPy and
ml_dtypes store and multiply."""
import json
import os
import pathlib
import subprocess
import warnings

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from program_commands import octavo

import octavo as module
from octavo import recipes

pytestmark = pytest.mark.mlir

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
HEADS, PLACES, WIDTH = 2, 6, 64
SHAPE = (HEADS, PLACES, WIDTH)


def attention(query, keys, values, position):
    scores = lax.dot_general(query, keys, (((2,), (2,)), ((0,), (0,)))) * WIDTH**-0.5
    shares = jax.nn.softmax(jnp.where(jnp.arange(PLACES) <= position, scores, -jnp.inf))
    return lax.dot_general(shares, values, (((2,), (1,)), ((0,), (0,))))


def appended(keys, values, key, value, position):
    return (lax.dynamic_update_slice(keys, key.astype(keys.dtype), (0, position, 0)),
            lax.dynamic_update_slice(values, value.astype(values.dtype), (0, position, 0)))


def step(query, key, value, position, keys, values):
    keys, values = appended(keys, values, key, value, position)
    return attention(query, keys.astype(jnp.float32), values.astype(jnp.float32), position), keys, values


@jax.jit
def attend(query, key, value, position, keys, values):
    keys, values = appended(keys, values, key, value, position)
    return attention(query, keys, values, position), keys, values


def step_that_calls(query, key, value, position, keys, values):
    return attend(query, key, value, position, keys, values)


@jax.jit
def attention_called(query, keys, values, position):
    return jax.jit(attention)(query, keys, values, position)


def step_that_attends_in_a_call(query, key, value, position, keys, values):
    keys, values = appended(keys, values, key, value, position)
    return attention_called(query, keys, values, position), keys, values


def step_that_attends_in_a_composite(query, key, value, position, keys, values):
    keys, values = jax.jit(appended)(keys, values, key, value, position)
    return lax.composite(attention, name="my.attention")(query, keys, values, position), keys, values


def entries(seed, count=None):
    """A query, a key and a value, or so many of each."""
    shape = (HEADS, 1, WIDTH) if count is None else (count, HEADS, 1, WIDTH)
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(shape) * np.exp2(rng.integers(-6, 7, shape))).astype(np.float32) for _ in range(3)]


def text(function, *arrays, donated=(4, 5)):
    return jax.jit(function, donate_argnums=donated).lower(*arrays).as_text(debug_info=True)


def exported(function=step, dtype=np.float32, donated=(4, 5)):
    caches = [np.zeros(SHAPE, dtype)] * 2
    return text(function, *entries(0), np.int32(0), *caches, donated=donated)


def quantized(x, dtype, block=32):
    """MX by S3 (floor) and S7, or of a whole row by S5; codes and scales along the last axis."""
    x = x.astype(np.float64)
    blocks = x.reshape(*x.shape[:-1], -1, block)
    amax = np.abs(blocks).max(-1)
    most = float(ml_dtypes.finfo(dtype).max)
    if block == 32:
        scale = np.exp2(np.frexp(amax)[1] - np.frexp(most)[1]).astype(np.float32)
        scales = scale.astype(ml_dtypes.float8_e8m0fnu)
    else:
        scales = scale = amax.astype(np.float32) / np.float32(most)
    codes = np.clip((blocks.astype(np.float32) / scale[..., None]), -most, most).astype(dtype)
    return codes.reshape(x.shape), scales


def dequantized(codes, scales):
    blocks = codes.astype(np.float64).reshape(*scales.shape, -1)
    return (blocks * scales.astype(np.float64)[..., None]).reshape(codes.shape)


def attended(query, keys, values, position):
    scores = np.einsum("hqd,hpd->hqp", query.astype(np.float64), keys) * WIDTH**-0.5
    scores[..., position + 1:] = -np.inf
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqp,hpd->hqd", shares / shares.sum(-1, keepdims=True), values)


FORMATS = {"mxfp8_e4m3": (ml_dtypes.float8_e4m3fn, 32), "mxfp8_e5m2": (ml_dtypes.float8_e5m2, 32),
           "mxfp4": (ml_dtypes.float4_e2m1fn, 32), "fp8_row": (ml_dtypes.float8_e4m3fn, WIDTH)}


def state_of(dtype, block):
    """Codes of keys and values, and their scales, before anything is appended."""
    grid, scale = (HEADS, PLACES, WIDTH // block), np.dtype(ml_dtypes.float8_e8m0fnu if block == 32 else np.float32)
    zeros = np.zeros((*grid, scale.itemsize), np.uint8).view(scale)[..., 0]
    return [np.zeros(SHAPE, dtype), np.zeros(SHAPE, dtype), zeros, zeros.copy()]


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("function", [step, step_that_calls, step_that_attends_in_a_call, step_that_attends_in_a_composite])
@pytest.mark.parametrize("format", FORMATS)
def test_a_decode_step_carries_codes_and_scales(format, function, backend):
    dtype, block = FORMATS[format]
    made = module.compile(exported(function), recipe={"kv_cache": format}, backend=backend)
    assert [argument.name for argument in made.arguments][4:] == ["keys", "values", "keys.scales", "values.scales"]
    assert [dot.rhs for dot in made.dots] == [format] * 2 and [dot.lhs for dot in made.dots] == [None] * 2
    state, expected = state_of(dtype, block), state_of(dtype, block)
    for position in range(4):
        query, key, value = entries(position)
        for i, entry in enumerate((key, value)):
            codes, scales = quantized(entry, dtype, block)
            expected[i][:, position], expected[2 + i][:, position] = codes[:, 0], scales[:, 0]
        found, *state = made(query, key, value, np.int32(position), *state)
        for ours, theirs in zip(state, expected, strict=True):
            np.testing.assert_array_equal(bits(ours), bits(theirs))
        wide = [dequantized(expected[i], expected[2 + i]) for i in range(2)]
        reference = attended(query, *wide, position)
        np.testing.assert_allclose(found, reference, atol=1e-5 * np.abs(wide[1]).max(), rtol=1e-4)


def test_caches_of_bf16():
    made = module.compile(exported(dtype=ml_dtypes.bfloat16), recipe={"kv_cache": "mxfp8_e4m3"})
    state = state_of(ml_dtypes.float8_e4m3fn, 32)
    query, key, value = entries(3)
    _, keys, values, key_scales, value_scales = made(query, key, value, np.int32(2), *state)
    for codes, scales, entry in ((keys, key_scales, key), (values, value_scales, value)):
        expected = quantized(entry.astype(ml_dtypes.bfloat16), ml_dtypes.float8_e4m3fn)
        np.testing.assert_array_equal(bits(codes[:, 2]), bits(expected[0][:, 0]))
        np.testing.assert_array_equal(bits(scales[:, 2]), bits(expected[1][:, 0]))


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_loops_carry_codes_and_scales(backend):
    """A scan over tokens; each entry is quantized once, in the round that appends it."""
    def decode(queries, keys_in, values_in, keys, values):
        def round(carry, xs):
            position, query, key, value = xs
            found, *carry = step(query, key, value, position, *carry)
            return carry, found
        (keys, values), found = lax.scan(round, [keys, values], (jnp.arange(4), queries, keys_in, values_in))
        return found, keys, values

    drawn = entries(5, 4)
    program = text(decode, *drawn, np.zeros(SHAPE, np.float32), np.zeros(SHAPE, np.float32), donated=(3, 4))
    made = module.compile(program, recipe={"kv_cache": "mxfp8_e4m3"}, backend=backend)
    assert [dot.rhs for dot in made.dots] == ["mxfp8_e4m3"] * 2
    found, *state = made(*drawn, *state_of(ml_dtypes.float8_e4m3fn, 32))
    once = module.compile(exported(), recipe={"kv_cache": "mxfp8_e4m3"}, backend=backend)
    expected = state_of(ml_dtypes.float8_e4m3fn, 32)
    for position in range(4):
        one, *expected = once(*(each[position] for each in drawn), np.int32(position), *expected)
        np.testing.assert_allclose(found[position], one, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(state, expected, strict=True):
        np.testing.assert_array_equal(bits(ours), bits(theirs))


LAYERS = 3


def layers(query, position, keys, values, projections):
    """A stack of layers, each with its cache: jax.lax.scan takes them one by one and stacks what comes of them."""
    def layer(x, each):
        keys, values, to_key, to_value = each
        found, keys, values = step(x, x @ to_key, x @ to_value, position, keys, values)
        return found, (keys, values)
    found, (keys, values) = lax.scan(layer, query, (keys, values, *projections))
    return found, keys, values


def layers_of_tokens(queries, keys, values, projections):
    def round(caches, xs):
        position, query = xs
        found, *caches = layers(query, position, *caches, projections)
        return caches, found
    (keys, values), found = lax.scan(round, [keys, values], (jnp.arange(len(queries)), queries))
    return found, keys, values


def layers_written_back(query, position, keys, values, projections):
    """The same in the carry of a loop."""
    def layer(i, carry):
        x, keys, values = carry
        found, *changed = step(x, x @ projections[0][i], x @ projections[1][i], position, keys[i], values[i])
        return found, *(lax.dynamic_update_index_in_dim(cache, each, i, 0) for cache, each in zip((keys, values), changed))
    return lax.fori_loop(0, LAYERS, layer, (query, keys, values))


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("function", [layers, layers_written_back, layers_of_tokens])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "fp8_row"])
def test_layers_take_their_part_of_a_cache(format, function, backend):
    """As layers that are written out do, each with a cache of its own."""
    dtype, block = FORMATS[format]
    rng = np.random.default_rng(1)
    projections = [(rng.standard_normal((LAYERS, WIDTH, WIDTH)) / 8).astype(np.float32) for _ in range(2)]
    queries = [entries(position)[0] for position in range(3)]
    stacked = [np.stack([each] * LAYERS) for each in state_of(dtype, block)]
    wide = [np.zeros((LAYERS, *SHAPE), np.float32)] * 2

    def appending(query, to_key, to_value, position, keys, values):
        return step(query, query @ to_key, query @ to_value, position, keys, values)
    alone = module.compile(text(appending, queries[0], projections[0][0], projections[1][0], np.int32(0), *[wide[0][0]] * 2),
                           recipe={"kv_cache": format}, backend=backend)
    expected, outs = [state_of(dtype, block) for _ in range(LAYERS)], []
    for position, x in enumerate(queries):
        for i in range(LAYERS):
            x, *expected[i] = alone(x, *(each[i] for each in projections), np.int32(position), *expected[i])
        outs.append(x)

    if function is layers_of_tokens:
        made = module.compile(text(function, np.stack(queries), *wide, projections, donated=(1, 2)),
                              recipe={"kv_cache": format}, backend=backend)
        found, *state = made(np.stack(queries), *stacked[:2], *projections, *stacked[2:])
    else:
        made = module.compile(text(function, queries[0], np.int32(0), *wide, projections, donated=(2, 3)),
                              recipe={"kv_cache": format}, backend=backend)
        found, state = [], stacked
        for position, query in enumerate(queries):
            out, *state = made(query, np.int32(position), *state[:2], *projections, *state[2:])
            found.append(out)
    assert [dot.rhs for dot in made.dots if dot.is_quantized] == [format] * 2
    np.testing.assert_allclose(found, outs, rtol=1e-5, atol=1e-6)
    for i, ours in enumerate(state):
        np.testing.assert_array_equal(bits(ours), bits(np.stack([each[i] for each in expected])))


def scored(query, entry, cache, position):
    cache = lax.dynamic_update_slice(cache, entry, (0, position, 0))
    return jnp.einsum("hd,htd->ht", query, cache), cache


def scanned_over_layers(query, entries, cache, position, one=scored, **unroll):
    _, (found, cache) = lax.scan(lambda state, each: (state, one(query, *each, position)), 0, (entries, cache), **unroll)
    return found, cache


def unrolled_by_two(query, entries, cache, position):
    return scanned_over_layers(query, entries, cache, position, unroll=2)


def unrolled(query, entries, cache, position):
    return scanned_over_layers(query, entries, cache, position, unroll=True)


def stacked(query, entries, cache, position):
    return tuple(map(jnp.stack, zip(*(scored(query, entries[i], cache[i], position) for i in range(LAYERS)))))


def joined_again(query, entries, cache, position):
    changed = jnp.concatenate([lax.dynamic_update_slice(cache[i:i + 1], entries[i:i + 1], (0, 0, position, 0)) for i in range(LAYERS)])
    return jnp.einsum("hd,lhtd->lht", query, changed), changed


def the_first_by_itself(query, entries, cache, position):
    found, first = scored(query, entries[0], cache[0], position)
    others, rest = scanned_over_layers(query, entries[1:], cache[1:], position)
    return jnp.concatenate([found[None], others]), jnp.concatenate([first[None], rest])


def scanned_over_calls(query, entries, cache, position):
    return scanned_over_layers(query, entries, cache, position, one=jax.jit(lambda *each: jax.jit(scored)(*each)))


def stacked_before_what_it_takes(query, entries, cache, position):
    """In a loop that carries the caches behind the buffer that it writes them into."""
    def layer(carry):
        i, found, after, before = carry
        one, changed = scored(query, entries[i], before[i], position)
        return i + 1, lax.dynamic_update_index_in_dim(found, one, i, 0), lax.dynamic_update_index_in_dim(after, changed, i, 0), before
    found = jnp.zeros((LAYERS, *cache.shape[1:3]))
    return lax.while_loop(lambda carry: carry[0] < LAYERS, layer, (0, found, jnp.zeros(cache.shape), cache))[1:3]


def written_out(query, entries, cache, position):
    found = []
    for i in range(LAYERS):
        cache = lax.dynamic_update_slice(cache, entries[i][None], (i, 0, position, 0))
        found.append(jnp.einsum("hd,htd->ht", query, cache[i]))
    return jnp.stack(found), cache


def two_steps_of(function, width):
    """What a program of one cache for each layer gives in two steps, by bits."""
    shape = (LAYERS, HEADS, PLACES, width)
    rng = np.random.default_rng(width)
    query = rng.standard_normal((HEADS, width)).astype(np.float32)
    entry = rng.standard_normal((LAYERS, HEADS, 1, width)).astype(np.float32)
    made = module.compile(text(function, query, entry, np.zeros(shape, np.float32), np.int32(0), donated=()),
                          recipe={"kv_cache": "mxfp8_e4m3"})
    assert [argument.name for argument in made.arguments][4:] == ["cache.scales"], made.arguments
    cache, cache_scales = np.zeros(shape, ml_dtypes.float8_e4m3fn), np.zeros((*shape[:3], -(-width // 32)), ml_dtypes.float8_e8m0fnu)
    outs = []
    for position in range(2):
        found, cache, cache_scales = made(query, entry, cache, np.int32(position), cache_scales)
        outs += [found, cache, cache_scales]
    return [np.array(each).view(np.uint8) for each in outs]


@pytest.mark.parametrize("width", [48, 33, 64])
@pytest.mark.parametrize("function", [scanned_over_layers, scanned_over_calls, stacked_before_what_it_takes, unrolled_by_two, unrolled,
                                      stacked, joined_again, the_first_by_itself])
def test_layers_of_any_width_are_those_written_out(function, width):
    """The last block may be short, layers may append in functions that call one another, and be joined again."""
    for ours, theirs in zip(two_steps_of(function, width), two_steps_of(written_out, width), strict=True):
        np.testing.assert_array_equal(ours, theirs)


# Loops that take what is around them as it is, which JAX does not write.
FILLED_WITHIN = """
func.func public @main(%query: tensor<2x64xf32> loc("query"), %entry: tensor<1x2x1x64xf32> loc("entry"), %cache: tensor<1x2x6x64xf32> loc("cache"), %position: tensor<i32> loc("position")) -> (tensor<2x1x6xf32>, tensor<1x2x6x64xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<1x2x6x64xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %layers:2 = stablehlo.while(%i = %zero, %after = %zeros) : tensor<i32>, tensor<1x2x6x64xf32>
  cond {
    %more = stablehlo.compare LT, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %places:2 = stablehlo.while(%j = %zero, %layer = %cache) : tensor<i32>, tensor<1x2x6x64xf32>
    cond {
      %more = stablehlo.compare LT, %j, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %j, %one : tensor<i32>
      %appended = stablehlo.dynamic_update_slice %layer, %entry, %zero, %zero, %position, %zero : (tensor<1x2x6x64xf32>, tensor<1x2x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x6x64xf32>
      stablehlo.return %next, %appended : tensor<i32>, tensor<1x2x6x64xf32>
    }
    %next = stablehlo.add %i, %one : tensor<i32>
    %stacked = stablehlo.dynamic_update_slice %after, %places#1, %i, %zero, %zero, %zero : (tensor<1x2x6x64xf32>, tensor<1x2x6x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x6x64xf32>
    stablehlo.return %next, %stacked : tensor<i32>, tensor<1x2x6x64xf32>
  } loc("layers")
  %scores = stablehlo.dot_general %query, %layers#1, batching_dims = [0] x [1], contracting_dims = [1] x [3] : (tensor<2x64xf32>, tensor<1x2x6x64xf32>) -> tensor<2x1x6xf32>
  return %scores, %layers#1 : tensor<2x1x6xf32>, tensor<1x2x6x64xf32>
}
"""


def test_what_stays_wide_within_loops_is_told(tmp_path):
    program, recipe = written(tmp_path, {"kv_cache": "mxfp8_e4m3"}, FILLED_WITHIN)
    told = octavo("quantize", program, "--recipe", recipe, "-o", tmp_path / "out.mlir")
    assert "cache cache of @main: left: between it and its result 'stablehlo.while' at layers carries wide values" in told
    assert "octavo." not in (tmp_path / "out.mlir").read_text()


def crossed(query, key, value, position, keys, values):
    found, keys, values = step(query, key, value, position, keys, values)
    return found, values, keys


def test_scales_are_in_the_order_of_the_codes():
    """Those that are taken, and those that are returned."""
    made = module.compile(exported(crossed, donated=()), recipe={"kv_cache": {"keys": "fp8_row", "values": "mxfp4"}})
    assert [argument.name for argument in made.arguments][6:] == ["keys.scales", "values.scales"]
    assert [result.type.partition("[")[0] for result in made.results] == ["f32", "f4E2M1FN", "f8E4M3FN", "f8E8M0FNU", "f32"]


def test_blocks_lie_along_no_batch():
    """Items of a batch have scales of their own; entries that are one number wide have no axis for blocks then."""
    def made(batch, width, shape):
        def decode(query, key, position, keys):
            keys = lax.dynamic_update_slice(keys, key, (0, position, 0))
            return lax.dot_general(query, keys, (((width,), (width,)), ((batch,), (batch,)))), keys
        entry = np.zeros((shape[0], 1, shape[2]), np.float32)
        return module.compile(text(decode, entry, entry, np.int32(0), np.zeros(shape, np.float32), donated=(3,)),
                              recipe={"kv_cache": "mxfp4"})
    with pytest.warns(UserWarning, match="left every dot as it was"):
        left = made(0, 2, (32, 8, 1)).dots[0].reason
    assert "which is left: axis 0, the only one of more than one element that is whole in everything that is appended, " \
        "is a batch of the dot at jit(decode)/dot_general, whose items would share scales" in left
    assert [each.shape for each in made(0, 2, (32, 8, 64)).results] == [(32, 1, 8), (32, 8, 64), (32, 8, 2)]
    assert [each.shape for each in made(2, 0, (64, 8, 32)).results] == [(32, 1, 8), (64, 8, 32), (2, 8, 32)]


def test_a_name_has_a_format_of_its_own():
    made = module.compile(exported(), recipe={"kv_cache": {"keys": "none", "re:^val": "mxfp4"}})
    assert [argument.name for argument in made.arguments][4:] == ["keys", "values", "values.scales"]
    assert [dot.rhs for dot in made.dots] == [None, "mxfp4"]


def written(tmp_path, recipe, program=None):
    (tmp_path / "step.mlir").write_text(program or exported())
    (tmp_path / "kv.json").write_text(json.dumps(recipe))
    return tmp_path / "step.mlir", tmp_path / "kv.json"


def test_quantize_tells_of_caches(tmp_path):
    program, recipe = written(tmp_path, {"kv_cache": "mxfp8_e4m3"})
    out = tmp_path / "out.mlir"
    told = octavo("quantize", program, "--recipe", recipe, "--explain", "-o", out)
    assert "cache keys of @main: mxfp8_e4m3, 3072 bytes before, 792 after; it is codes " in told
    assert told.count("reads codes of the cache") == 2
    changed = out.read_text()
    assert changed.count("stablehlo.dynamic_update_slice") == 4 and changed.count("octavo.quantize") == 2
    assert 'octavo.name = "values.scales", tf.aliasing_output = 4 : i32' in changed
    caches = json.loads(octavo("quantize", program, "--recipe", recipe, "--json"))["caches"]
    assert [(each["name"], each["format"], each["bytes_before"], each["bytes_after"]) for each in caches] == [
        ("keys", "mxfp8_e4m3", 3072, 792), ("values", "mxfp8_e4m3", 3072, 792)]
    done = subprocess.run([BIN / "octavo-opt", f"--octavo-quantize-dots=recipe={recipe}", program], check=True,
                          capture_output=True, text=True)
    assert "cache values quantized: mxfp8_e4m3, codes tensor<2x6x64xf8E4M3FN>" in done.stderr
    assert "octavo.dot_general" in done.stdout


def test_files_are_not_those_of_the_program_in_f32(tmp_path):
    program, recipe = written(tmp_path, {"kv_cache": "mxfp8_e4m3"})
    told = octavo("run", program, "--recipe", recipe, "--compare", "f32", code=2)
    assert "caches as codes" in told and "--compare f32 runs both on the same files" in told


def test_what_is_not_donated_stays_so(tmp_path):
    program, recipe = written(tmp_path, {"kv_cache": "mxfp8_e4m3"}, exported(donated=()))
    octavo("quantize", program, "--recipe", recipe, "-o", tmp_path / "out.mlir")
    assert "tf.aliasing_output" not in (tmp_path / "out.mlir").read_text()


def scattered(query, key, value, position, keys, values):
    keys, values = keys.at[:, position].set(key[:, 0]), values.at[:, position].set(value[:, 0])
    return attention(query, keys, values, position), keys, values


def joined(query, key, value, position, keys, values):
    both = lax.dynamic_update_slice(jnp.stack([keys, values]), jnp.stack([key, value]), (0, 0, position, 0))
    return attention(query, *both, position), *both


def kept(query, key, value, position, keys, values):
    found, keys, _ = step(query, key, value, position, keys, values)
    return found, keys


def by_halves(query, key, value, position, keys, values):
    keys = lax.dynamic_update_slice(keys, key[:1, :, :32], (0, position, 0))
    keys = lax.dynamic_update_slice(keys, key[:1, :, 32:], (0, position, 32))
    return attention(query, keys, values, position), keys, values


def of_every_other(query, key, value, position, keys, values):
    first = lax.dynamic_update_slice(keys[::2], key[:1], (0, position, 0))
    keys = lax.dynamic_update_slice(keys, first, (0, 0, 0))
    return attention(query, keys, values, position), keys, values


def transposed(query, key, value, position, keys, values):
    keys = jnp.moveaxis(lax.dynamic_update_slice(jnp.moveaxis(keys, 1, 0), jnp.moveaxis(key, 1, 0), (position, 0, 0)), 0, 1)
    return attention(query, keys, values, position), keys, values


def reset(query, key, value, position, keys, values):
    keys = lax.dynamic_update_slice(jnp.where(position == 0, 0.0, keys), key, (0, position, 0))
    return attention(query, keys, values, position), keys, values


def where_asked(query, key, value, position, keys, values):
    keys = lax.cond(position > 0, lambda: lax.dynamic_update_slice(keys, key, (0, position, 0)), lambda: keys)
    return attention(query, keys, values, position), keys, values


@pytest.mark.parametrize("function, name, reason", [
    (transposed, "re:keys", "'stablehlo.transpose' at jit(transposed)/transpose stands between it and what is appended; append first"),
    (reset, "re:keys", "stands between it and what is appended; append first"),
    (where_asked, "re:keys", "'stablehlo.case' at jit(where_asked)/cond stands between what is appended and the result; return what"),
    (scattered, "keys", "'stablehlo.scatter' at jit(scattered)/scatter writes into it; append by dynamic_update_slice"),
    (kept, "values", "no result is it with what is appended"),
    (by_halves, "keys", "no axis of it, of more than one element, is whole in everything that is appended"),
    (of_every_other, "keys", "is a slice of it with something appended; append to the whole of it"),
    (of_every_other, "values", "no dynamic_update_slice appends to it"),
    (joined, "values", "'stablehlo.concatenate' at jit(joined)/stack stands between it and what is appended; append first"),
    (step, "position", "it is tensor<i32>; codes are made of f32, bf16 and f16"),
])
def test_a_pattern_that_is_not_met_is_told(tmp_path, function, name, reason):
    program, recipe = written(tmp_path, {"kv_cache": {name: "mxfp8_e4m3"}}, exported(function))
    told = octavo("quantize", program, "--recipe", recipe)
    assert f"cache {name.removeprefix('re:')} of @main: left: " in told and reason in told


def test_dots_say_which_cache_is_left():
    made = module.compile(exported(scattered), recipe={"kv_cache": "mxfp8_e4m3"})
    for dot, name in zip(made.dots, ("keys", "values")):
        assert f"it reads the cache {name}, which is left: 'stablehlo.scatter'" in dot.reason and not dot.is_quantized


@pytest.mark.parametrize("rules", [{}, {"rules": [{"weights": "mxfp4"}]}])
def test_each_cache_that_is_left_is_told(tmp_path, rules):
    """Whatever became of the dots; one that the recipe itself leaves is not."""
    def projected(query, weight, key, value, position, keys, values):
        return scattered(query @ weight, key, value, position, keys, values)
    arrays = entries(0)
    arrays = [arrays[0], np.zeros((WIDTH, WIDTH), np.float32), *arrays[1:], np.int32(0), *[np.zeros(SHAPE, np.float32)] * 2]
    program = text(projected, *arrays, donated=(5, 6))
    for names, left in ((["keys", "values"], "mxfp8_e4m3"), (["values"], {"keys": "none", "values": "mxfp8_e4m3"}),
                        (["values"], {"values": "mxfp8_e4m3"})):
        recipe = {**rules, "kv_cache": left}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made = module.compile(program, parameters="^weight$", recipe=recipe)
        assert any(dot.is_quantized for dot in made.dots) == bool(rules)
        lines = [f"kv_cache left the cache {name} of @main as it was: 'stablehlo.scatter' at jit(projected)/scatter writes into it; "
                 "append by dynamic_update_slice (jax.lax.dynamic_update_slice)" for name in names]
        assert [str(each.message) for each in told][bool(not rules):] == lines
    path, file = written(tmp_path, recipe, program)
    done = subprocess.run([BIN / "octavo", "run", path, "--recipe", file, "--parameters", "^weight$", "--explain-compile"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == f"octavo: warning: {path}: {lines[0]}\n"


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("name", ["*", "keys", "re:^k"])
def test_what_becomes_of_nan_and_infinities(name, backend):
    """By default they are refused, as the error says with the way out; S8 says what they become."""
    caches = state_of(ml_dtypes.float8_e4m3fn, 32)
    query, key, value = entries(0)
    key[0, 0, 3], key[1, 0, 40] = np.nan, np.inf
    wide = {} if name == "*" else {"values": "mxfp8_e4m3"}
    refusing = module.compile(exported(), recipe={"kv_cache": {**wide, name: {"format": "mxfp8_e4m3"}}}, backend=backend)
    with pytest.raises(module.NonFiniteError, match="which its quantization refuses.*beside the format of a cache in kv_cache"):
        refusing(query, key, value, np.int32(0), *caches)
    propagating = module.compile(
        exported(), recipe={"kv_cache": {**wide, name: {"format": "mxfp8_e4m3", "non_finite": "propagate"}}}, backend=backend)
    codes, scales = (propagating(query, key, value, np.int32(0), *caches)[i] for i in (1, 3))
    blocks = np.isnan(dequantized(codes, scales)).reshape(*scales.shape, 32)
    assert np.argwhere(blocks.all(-1)).tolist() == [[0, 0, 0], [1, 0, 1]] and blocks.sum() == 64
    saturating = module.compile(
        exported(), recipe={"kv_cache": {**wide, name: {"format": "mxfp8_e4m3", "non_finite": "skip-nan"}}}, backend=backend)
    codes, scales = (saturating(query, key, value, np.int32(0), *caches)[i] for i in (1, 3))
    assert np.argwhere(np.isnan(dequantized(codes, scales))).tolist() == [[0, 0, 3]] and codes[1, 0, 40] == 448


def test_a_scaled_tensor_is_two_arguments():
    made = module.compile(exported(), recipe={"kv_cache": "mxfp8_e4m3"})
    query, key, value = entries(0)
    keys, values = (module.quantize(np.zeros(SHAPE, np.float32), "mxfp8_e4m3") for _ in range(2))
    with pytest.raises(module.DtypeError, match='argument "keys" .* found a ScaledTensor; give its elements$'):
        made(query, key, value, np.int32(0), keys, values, keys, values)
    with pytest.raises(module.DtypeError, match='argument "keys.scales" .* found a ScaledTensor; give its scales$'):
        made(query, key, value, np.int32(0), keys.elements, values.elements, keys, values)
    made(query, key, value, np.int32(0), keys.elements, values.elements, keys.scales, values.scales)
    plain = module.compile(exported())
    with pytest.raises(module.DtypeError, match=r'argument "keys" .* found a ScaledTensor; give its dequantize\(\)$'):
        plain(query, key, value, np.int32(0), keys, values)


@pytest.mark.parametrize("recipe, words", [
    ({"kv_cache": "mxfp8"}, 'recipe: kv_cache: no scaled format "mxfp8"; near it: mxfp4, mxfp8_e4m3'),
    ({"kv_cache": {"keys": 8}}, 'recipe: kv_cache.keys: expected a scaled format, or an object of "format" and "non_finite", found number'),
    ({"kv_cache": {"keys": {}}}, 'recipe: kv_cache.keys: expected "format": FORMAT'),
    ({"kv_cache": {"keys": {"format": 8}}}, "recipe: kv_cache.keys.format: expected a string, found number"),
    ({"kv_cache": {"keys": {"format": "mxfp4", "nonfinite": "x"}}}, 'recipe: kv_cache.keys: no key "nonfinite"; near it: non_finite'),
    ({"kv_cache": {"keys": {"format": "mxfp4", "non_finite": "drop"}}}, 'kv_cache.keys.non_finite: no policy for NaN and infinities "drop"'),
    ({"kv_cache": {"keys": {"format": "mxfp4", "non_finite": True}}}, "kv_cache.keys.non_finite: expected a string, found boolean"),
    ({"kv_cache": {"keys": {"format": "none", "non_finite": "propagate"}}}, "kv_cache.keys.non_finite: the cache stays as it is"),
    ({"kv_cache": []}, "recipe: kv_cache: expected a scaled format, or an object of names"),
    ({"kv_cache": {}}, "recipe: kv_cache: the object is empty"),
    ({"kv_cache": "nvfp4"}, "recipe: kv_cache: nvfp4 has a scale of the whole tensor"),
    ({"kv_cache": "fp8_block"}, "recipe: kv_cache: fp8_block has blocks of several entries"),
    ({"kv_cache": "mxint8"}, "recipe: kv_cache: mxint8 has integer elements"),
    ({"kv_cache": {"re:(": "mxfp4"}}, "recipe: kv_cache: \"\\(\" is not a regular expression"),
    ({"kv_caches": "mxfp4"}, 'recipe: no key "kv_caches"; near it: kv_cache'),
])
def test_bad_recipes(recipe, words):
    with pytest.raises(module.FormatError, match=words):
        recipes.check(recipe)


def test_names_that_no_argument_has():
    with pytest.raises(module.ProgramError, match='kv_cache: "kyes" is the name of no argument; near it: key, keys'):
        module.compile(exported(), recipe={"kv_cache": {"kyes": "mxfp4"}})
    no_cache = text(lambda x, w: x @ w, np.zeros((4, 32), np.float32), np.zeros((32, 8), np.float32), donated=())
    with pytest.raises(module.ProgramError, match="kv_cache: the program has no cache: no argument"):
        module.compile(no_cache, recipe={"kv_cache": "mxfp4"})


def test_a_long_pattern_says_nothing_on_stderr(capfd):
    """RE2 runs out of memory for one of its two ways to match, and would say so."""
    made = module.compile(exported(), recipe={"kv_cache": {f"re:^keys$|{'a' * 100_000}": "mxfp8_e4m3", "*": "none"}})
    assert [each.name for each in made.arguments if each.name.endswith(".scales")] == ["keys.scales"]
    assert capfd.readouterr().err == ""


def scaled_before(keys, key, position):
    return lax.dynamic_update_slice(keys * 0.5, key, (0, position, 0))


def chosen_by_where(keys, key, position):
    return jnp.where((jnp.arange(SHAPE[1]) == position)[:, None], key, keys)


@pytest.mark.parametrize("append, words", [
    (scaled_before, "'stablehlo.multiply' at jit.*mul stands between keys and what is appended: append first, to the whole of it"),
    (chosen_by_where, "'stablehlo.select' at .* stands between keys and the result: append to it by dynamic_update_slice"),
])
def test_what_is_almost_a_cache_is_told_where_there_is_none(append, words):
    def step(key, position, keys):
        keys = append(keys, key, position)
        return lax.dot_general(key, keys, (((2,), (2,)), ((0,), (0,)))), keys

    program = text(step, np.zeros((HEADS, 1, WIDTH), np.float32), np.int32(0), np.zeros(SHAPE, np.float32), donated=())
    with pytest.raises(module.ProgramError, match=f"the program has no cache: no argument.*; {words}"):
        module.compile(program, recipe={"kv_cache": "mxfp4"})


def test_rules_of_dots_beside_it():
    """Weights by their rules; the attention's dots read codes."""
    def projected(x, w, position, keys):
        key = (x @ w).reshape(HEADS, 1, WIDTH)
        keys = lax.dynamic_update_slice(keys, key, (0, position, 0))
        return lax.dot_general(key, keys, (((2,), (2,)), ((0,), (0,)))), keys

    arrays = [np.zeros((1, 32), np.float32), np.zeros((32, HEADS * WIDTH), np.float32), np.int32(0),
              np.zeros(SHAPE, np.float32)]
    made = module.compile(text(projected, *arrays, donated=(3,)), parameters="^w$",
                          recipe={"rules": [{"weights": "mxfp4"}], "kv_cache": "mxfp8_e4m3"})
    assert [(dot.lhs, dot.rhs) for dot in made.dots] == [("mxfp4", "mxfp4"), (None, "mxfp8_e4m3")]
