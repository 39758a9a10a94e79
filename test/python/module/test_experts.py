"""Experts that an array of indices takes from a stack of weights: each product takes the panels of the one that its index
names, and no run copies or packs one. Programs beside the same experts written out, each with a weight of its own."""
import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import pytest
from program_commands import octavo as command
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

EXPERTS, TOKENS, CHOSEN, WIDTH, HIDDEN = 5, 6, 2, 64, 96
BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])
FORMATS = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8", "fp8_row", "fp8_block"]
# Each expert, one again and again, the first and the last.
CHOICES = [np.array(each, np.int32) for each in
           ([[0, 1], [2, 3], [4, 0], [1, 2], [3, 4], [0, 4]], [[3, 3]] * TOKENS, [[4, 0], [0, 4]] * 3)]


def normal(*shape, seed=5):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def stacks():
    # Each expert is of another magnitude, so that scales of one are not those of another.
    sizes = np.float32(2.0) ** np.arange(-2, EXPERTS - 2, dtype=np.float32)[:, None, None]
    return {"gate": normal(EXPERTS, WIDTH, HIDDEN, seed=1) / 9 * sizes, "up": normal(EXPERTS, WIDTH, HIDDEN, seed=2) / 9,
            "down": normal(EXPERTS, HIDDEN, WIDTH, seed=3) / 11 / sizes}


def one(w, x, expert):
    """A row through one expert."""
    row = x[None]
    return ((jax.nn.silu(row @ w["gate"][expert]) * (row @ w["up"][expert])) @ w["down"][expert])[0]


def per_token(w, x, chosen):
    """As a decoder does it: the experts of each token are an axis of the products."""
    gate = jnp.einsum("td,tkdf->tkf", x, w["gate"][chosen])
    up = jnp.einsum("td,tkdf->tkf", x, w["up"][chosen])
    return jnp.einsum("tkf,tkfd->tkd", jax.nn.silu(gate) * up, w["down"][chosen])


def weights_first(w, x, chosen):
    gate = jnp.einsum("tkdf,td->tkf", w["gate"][chosen], x)
    up = jnp.einsum("tkdf,td->tkf", w["up"][chosen], x)
    return jnp.einsum("tkfd,tkf->tkd", w["down"][chosen], jax.nn.silu(gate) * up)


def flattened(w, x, chosen):
    """A product for each pair of a token and an expert."""
    rows, all = jnp.repeat(x, CHOSEN, axis=0), chosen.reshape(-1)
    gate = jnp.einsum("nd,ndf->nf", rows, w["gate"][all])
    up = jnp.einsum("nd,ndf->nf", rows, w["up"][all])
    return jnp.einsum("nf,nfd->nd", jax.nn.silu(gate) * up, w["down"][all]).reshape(TOKENS, CHOSEN, WIDTH)


def of_turned(w, x, chosen):
    """The stacks are of transposed matrices."""
    turned = {name: jnp.swapaxes(each, 1, 2) for name, each in w.items()}
    gate = jnp.einsum("td,tkfd->tkf", x, turned["gate"][chosen])
    up = jnp.einsum("td,tkfd->tkf", x, turned["up"][chosen])
    return jnp.einsum("tkf,tkdf->tkd", jax.nn.silu(gate) * up, turned["down"][chosen])


def mapped(w, x, chosen):
    """jax.vmap over the tokens, and over the experts of each."""
    return jax.vmap(lambda row, experts: jax.vmap(lambda e: one(w, row, e))(experts))(x, chosen)


def by_columns(w, x, chosen):
    """Tokens are columns."""
    gate = jnp.einsum("dt,tkdf->fkt", x.T, w["gate"][chosen])
    up = jnp.einsum("tkdf,dt->fkt", w["up"][chosen], x.T)
    return jnp.einsum("fkt,tkfd->tkd", jax.nn.silu(gate) * up, w["down"][chosen])


FORMS = [per_token, weights_first, flattened, of_turned, mapped, by_columns]


def lowered(function, *arguments):
    return jax.jit(function, keep_unused=True).lower(*arguments)


def apart(w, name):
    return [w[name][i] for i in range(EXPERTS)]


def written_out(chosen):
    """The same products, each by the weight of its expert, as constants of the program choose it."""
    def all(w, x):
        pairs = [[one(w, row, int(e)) for e in experts] for row, experts in zip(x, chosen, strict=True)]
        return jnp.stack([jnp.stack(each) for each in pairs])
    return all


def expected(w, x, chosen, **options):
    parts = {name: apart(w, name) for name in w}
    return octavo.compile(lowered(written_out(chosen), parts, x), **options)(parts, x)


@pytest.mark.parametrize("chosen", CHOICES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("form", FORMS)
def test_stacks_as_they_are(form, dtype, chosen):
    w, x = {name: each.astype(dtype) for name, each in stacks().items()}, normal(TOKENS, WIDTH).astype(dtype)
    program = lowered(form, w, x, chosen)
    made = octavo.compile(program)(w, x, chosen)
    wanted = expected(w, x, chosen)
    np.testing.assert_array_equal(made, wanted)
    np.testing.assert_array_equal(octavo.compile(program, weights={"w": w})(x, chosen), made)


@pytest.mark.parametrize("chosen", CHOICES[:2], ids=str)
@BACKENDS
@pytest.mark.parametrize("format, activations", [*((format, None) for format in FORMATS), ("mxfp4", "none"), ("mxfp8_e4m3", "none")])
@pytest.mark.parametrize("form", FORMS)
def test_quantized_stacks(form, format, activations, backend, chosen):
    w, x = stacks(), normal(TOKENS, WIDTH)
    options = {"quantize": format, "activations": activations, "parameters": "^w", "backend": backend}
    program = lowered(form, w, x, chosen)
    made = octavo.compile(program, **options)
    assert {dot.reason for dot in made.dots} == {"weight quantized when it is bound"}
    wanted = expected(w, x, chosen, **options)
    np.testing.assert_array_equal(made(w, x, chosen), wanted)
    np.testing.assert_array_equal(octavo.compile(program, weights={"w": w}, **options)(x, chosen), wanted)


@BACKENDS
@pytest.mark.parametrize("type", ["i8", "i32", "i64", "ui8", "ui32"])
def test_indices_are_clamped(type, backend):
    """Rule I17, of the kernels' products too."""
    dtype = np.dtype(type.replace("ui", "uint") if type.startswith("u") else type.replace("i", "int"))
    n, least, most = 8, np.iinfo(dtype).min, np.iinfo(dtype).max
    indices = np.array([0, 4, 5, 100, most, least, most - 3, 3], dtype)
    text = f"""
      !w = tensor<{EXPERTS}x{WIDTH}x{HIDDEN}xf32>
      !t = tensor<{n}x{WIDTH}x{HIDDEN}xf32>
      !x = tensor<{n}x{WIDTH}xf32>
      !y = tensor<{n}x{HIDDEN}xf32>
      func.func @main(%w: !w, %i: tensor<{n}x{type}>, %x: !x) -> !y {{
        %taken = "stablehlo.gather"(%w, %i) {{
          dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, {WIDTH}, {HIDDEN}>}} : (!w, tensor<{n}x{type}>) -> !t
        %y = stablehlo.dot_general %x, %taken, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (!x, !t) -> !y
        return %y : !y
      }}"""
    w, x = stacks()["up"], normal(n, WIDTH)
    taken = w[np.clip(indices.astype(object), 0, EXPERTS - 1).astype(np.int64)]
    wanted = np.einsum("nd,ndf->nf", x.astype(np.float64), taken)
    np.testing.assert_allclose(octavo.compile(text, backend=backend)(w, indices, x), wanted, rtol=1e-5, atol=1e-5)


@BACKENDS
@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds", None])
def test_modes_of_jax(mode, backend):
    """Negative indices count from the end; others beyond the stack are clipped, or give NaN."""
    indices = np.array([0, -1, -5, 4, 2, 2] if mode == "promise_in_bounds" else [0, -1, -5, 4, 7, -9], np.int32)
    w, x = stacks()["up"], normal(TOKENS, WIDTH)
    function = lambda w, i, x: jnp.einsum("nd,ndf->nf", x, w.at[i].get(mode=mode))
    made = octavo.compile(lowered(function, w, indices, x), backend=backend)(w, indices, x)
    np.testing.assert_allclose(made, jax.jit(function)(w, indices, x), rtol=1e-5, atol=1e-5)


def test_layers_of_experts():
    """A loop over layers takes from each of them what indices choose."""
    layers = 3
    w, x = normal(layers, EXPERTS, WIDTH, WIDTH, seed=4) / 8, normal(TOKENS, WIDTH)
    chosen = np.stack([np.roll(np.arange(TOKENS, dtype=np.int32) % EXPERTS, i) for i in range(layers)])
    layer = lambda h, w, i: jnp.tanh(jnp.einsum("nd,ndf->nf", h, w[i]))

    def scanned(w, chosen, x):
        return jax.lax.scan(lambda h, each: (layer(h, *each), None), x, (w, chosen))[0]

    def apart(parts, x):
        for stack, experts in zip(parts, chosen, strict=True):
            x = jnp.concatenate([jnp.tanh(row @ stack[int(e)]) for row, e in zip(jnp.split(x, TOKENS), experts, strict=True)])
        return x

    parts = [list(each) for each in w]
    program = lowered(scanned, w, chosen, x)
    wanted = octavo.compile(lowered(apart, parts, x))(parts, x)
    np.testing.assert_array_equal(octavo.compile(program)(w, chosen, x), wanted)
    np.testing.assert_array_equal(octavo.compile(program, weights={"w": w})(chosen, x), wanted)
    options = {"quantize": "mxfp8_e4m3", "parameters": "^(w|parts)"}
    wanted = octavo.compile(lowered(apart, parts, x), **options)(parts, x)
    made = octavo.compile(program, weights={"w": w}, **options)
    np.testing.assert_array_equal(made(chosen, x), wanted)
    np.testing.assert_array_equal(made(chosen, x), wanted)


def test_tokens_share_their_experts():
    """Rows of several tokens by each expert that is chosen."""
    w, x, chosen = stacks()["up"], normal(20, WIDTH), np.array([4, 0, 4], np.int32)
    for wanted, form in [("jtf", "td,jdf->jtf"), ("tjf", "td,jdf->tjf")]:
        made = octavo.compile(lowered(lambda w, i, x: jnp.einsum(form, x, w[i]), w, chosen, x))(w, chosen, x)
        each = [octavo.compile(lowered(lambda w, x: x @ w, w[e], x))(w[e], x) for e in chosen]
        np.testing.assert_array_equal(made, np.stack(each, axis=0 if wanted == "jtf" else 1))


TAKE = """
  %t = "stablehlo.gather"(%w, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 96, 64>} : (!w, !i) -> !t
"""
INDICES = np.array([4, 0, 9, 2, 2, -3], np.int32)
TAKEN = np.clip(INDICES, 0, EXPERTS - 1)


def copies_nothing(program):
    found = program.explain()
    assert found["interpreted"] == []
    return found["arena_bytes"] < WIDTH * HIDDEN * 4


def test_stacks_of_integers():
    rng = np.random.default_rng(3)
    w, x = (rng.integers(-128, 128, shape, np.int8) for shape in [(EXPERTS, HIDDEN, WIDTH), (TOKENS, WIDTH)])
    made = octavo.compile(f"""
      !w = tensor<{EXPERTS}x96x64xi8>
      !t = tensor<6x96x64xi8>
      !i = tensor<6xi32>
      func.func @main(%w: !w, %i: !i, %x: tensor<6x64xi8>) -> tensor<6x96xi32> {{
        {TAKE}
        %y = stablehlo.dot_general %x, %t, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<6x64xi8>, !t) -> tensor<6x96xi32>
        return %y : tensor<6x96xi32>
      }}""")
    assert copies_nothing(made)
    np.testing.assert_array_equal(made(w, INDICES, x), np.einsum("nd,nfd->nf", x.astype(np.int32), w[TAKEN].astype(np.int32)))


@pytest.mark.parametrize("elements, scales, grid, block, outer", [
    ("f4E2M1FN", "f8E4M3FN", (1, 96, 4), "1, 1, 16", True),
    ("f8E4M3FN", "f8E4M3FN", (1, 96, 4), "1, 1, 16", False),
    ("f8E4M3FN", "f32", (1, 1, 1), "{0}, 96, 64", False)], ids=["nvfp4", "e4m3", "fp8_tensor"])
def test_scaled_stacks_of_the_program(elements, scales, grid, block, outer):
    """Codes and scales that it is given: the outer scale, or the one that there is, is that of all experts."""
    dtypes = {"f4E2M1FN": ml_dtypes.float4_e2m1fn, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f32": np.float32}
    isOne = scales == "f32"
    codes = normal(EXPERTS, HIDDEN, WIDTH).astype(dtypes[elements])
    ofBlocks = np.abs(normal(*((1 if isOne else EXPERTS), *grid[1:]), seed=6) + 1).astype(dtypes[scales])
    whole, x = np.float32(0.375), normal(TOKENS, WIDTH)

    def program(n):
        taken = "x".join(map(str, ((1 if isOne else n), *grid[1:])))
        type = f"!octavo.scaled<{n}x96x64x{elements}, scale {scales}, block [{block.format(n)}]{', outer f32' if outer else ''}>"
        ofStack = "x".join(map(str, ofBlocks.shape))
        take = "" if isOne else f"""
          %st = "stablehlo.gather"(%s, %i) {{
            dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
            slice_sizes = array<i64: 1, {grid[1]}, {grid[2]}>}} : (tensor<{ofStack}x{scales}>, !i) -> tensor<{taken}x{scales}>"""
        return octavo.compile(f"""
          !w = tensor<{EXPERTS}x96x64x{elements}>
          !t = tensor<{n}x96x64x{elements}>
          !i = tensor<{n}xi32>
          func.func @main(%w: !w, %s: tensor<{ofStack}x{scales}>, %o: tensor<f32>, %i: !i, %x: tensor<{n}x64xf32>) -> tensor<{n}x96xf32> {{
            {TAKE} {take}
            %p = octavo.pack %t, {"%s" if isOne else "%st"}{", %o" if outer else ""} : (!t, tensor<{taken}x{scales}>{", tensor<f32>" if outer else ""}) -> {type}
            %y = octavo.dot_general %x, %p, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<{n}x64xf32>, {type}) -> tensor<{n}x96xf32>
            return %y : tensor<{n}x96xf32>
          }}""")

    made = program(TOKENS)
    assert copies_nothing(made)
    values = codes.astype(np.float64).reshape(EXPERTS, grid[1], -1, grid[2], WIDTH // grid[2]) * ofBlocks.astype(np.float64)[:, :, None, :, None]
    values = values.reshape(codes.shape) * (np.float64(whole) if outer else 1)
    found = made(codes, ofBlocks, whole, INDICES, x)
    np.testing.assert_allclose(found, np.einsum("nd,nfd->nf", x, values[TAKEN]), rtol=1e-5, atol=1e-4)
    one = program(1)
    each = [one(codes, ofBlocks, whole, INDICES[i:i + 1], x[i:i + 1])[0] for i in range(TOKENS)]
    np.testing.assert_array_equal(found, each)


@pytest.mark.parametrize("form", [per_token, weights_first, by_columns])
@pytest.mark.parametrize("stored, wide", [(ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16), (np.float16, np.float16), (ml_dtypes.bfloat16, np.float32)])
def test_stacks_that_are_converted(stored, wide, form):
    """Before experts are chosen, or then: the bits of stacks that were converted before."""
    w, x, chosen = {name: each.astype(stored) for name, each in stacks().items()}, normal(TOKENS, WIDTH).astype(wide), CHOICES[0]
    converted = {name: each.astype(wide) for name, each in w.items()}
    wanted = octavo.compile(lowered(form, converted, x, chosen))(converted, x, chosen)

    class Chosen:
        def __init__(self, stack):
            self.stack = stack

        def __getitem__(self, experts):
            return self.stack[experts].astype(wide)

    for function in (lambda w, *rest: form({name: Chosen(each) for name, each in w.items()}, *rest),
                     lambda w, *rest: form({name: each.astype(wide) for name, each in w.items()}, *rest)):
        made = octavo.compile(lowered(function, w, x, chosen))
        assert copies_nothing(made)
        np.testing.assert_array_equal(made(w, x, chosen), wanted)


@pytest.mark.parametrize("format", [None, "mxfp4", "fp8_row"])
def test_other_stacks_are_other_values(format):
    """A stack that is given once, or written over, is not taken for the one before."""
    w, x, chosen = stacks(), normal(TOKENS, WIDTH), CHOICES[0]
    options = {"quantize": format, "parameters": "^w"} if format else {}
    made = octavo.compile(lowered(per_token, w, x, chosen), **options)
    for factor in np.float32([1, 2, 4]):
        w["up"] *= factor
        np.testing.assert_array_equal(made(w, x, chosen), expected(w, x, chosen, **options))


def compiled(folder, format, form):
    w, x, chosen = stacks(), normal(TOKENS, WIDTH), CHOICES[0]
    (folder / "program.mlir").write_text(lowered(form, w, x, chosen).as_text(debug_info=True))
    return ["--quantize", format, "--parameters", "^w"] if format else []


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "fp8_row", None])
def test_a_compiled_folder_has_its_experts_packed(format, tmp_path):
    w, x, chosen = stacks(), normal(TOKENS, WIDTH), CHOICES[0]
    options = compiled(tmp_path, format, per_token)
    save_file({f"w['{name}']": each for name, each in w.items()}, tmp_path / "weights.safetensors")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "chosen.npy", chosen)
    command("compile", tmp_path / "program.mlir", *options, "--weights", tmp_path / "weights.safetensors", "-o", tmp_path / "folder")
    command("run", tmp_path / "folder", "--input", f"x={tmp_path / 'x.npy'}", "--input", f"chosen={tmp_path / 'chosen.npy'}",
            "--output", tmp_path / "y.npy")
    wanted = expected(w, x, chosen, **({"quantize": format, "parameters": "^w"} if format else {}))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), wanted)


@pytest.mark.parametrize("format, options", [("mxfp8_e4m3", []), ("mxfp4", []), ("mxfp4", ["--activations", "none"]), (None, [])])
@pytest.mark.parametrize("form", FORMS)
def test_no_run_copies_an_expert(form, format, options, tmp_path):
    told = command("run", tmp_path / "program.mlir", *compiled(tmp_path, format, form), *options, "--explain-compile", "--json")
    found = json.loads(told)["functions"][0]
    assert found["arena_bytes"] < WIDTH * HIDDEN * 4
    assert found["packed_weights"]["count"] == 3


@BACKENDS
@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_sums_over_experts(order, backend):
    """In which order a program contracts two axes says nothing of blocks: they lie along the rows of an expert."""
    drawn = np.random.default_rng(12)
    w = drawn.standard_normal((4, 32, 16)).astype(np.float32)
    x, chosen = drawn.standard_normal((5, 2, 32)).astype(np.float32), drawn.integers(0, 4, (5, 2), np.int32)
    made = octavo.compile(lowered(lambda w, x, chosen: jax.lax.dot_general(x, w[chosen], ((order, order), ((0,), (0,)))), w, x, chosen),
                          quantize="mxint8", parameters="^w", backend=backend)
    assert made.dots[0].reason.startswith("weight quantized when it is bound")
    values = [np.asarray(octavo.dequantize(octavo.quantize(each, "mxint8", axis=axis)), np.float64) for each, axis in ((x, 2), (w, 1))]
    np.testing.assert_allclose(made(w, x, chosen), np.einsum("tkf,tkfd->td", values[0], values[1][chosen]), rtol=0, atol=1e-4)
