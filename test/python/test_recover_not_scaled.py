"""octavo-recover-scaled and octavo explain on what only looks like a scaled tensor, or like more of one than it is: it is
left and told. Each is beside a form of test_recover_scaled.py."""
import json
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from commands import OCTAVO
from jax import lax
from scaled_programs import (CODES_1_4_3, E5M2, E8M0, F4, F8, INT8, K, M, N, PRODUCT, W, WS, X, block_scaled_dot, blockwise, cfloat8, codes, conv,
                             cycled, dot, explain, exponents, f32, layer, on_exponents, recovered, run, scales, shifted, weight, wide)

pytestmark = pytest.mark.mlir


def test_a_wide_convolution_is_no_miss(tmp_path):
    _, _, after, told = recovered(tmp_path, conv, [np.ones((1, 4, 4, 2), np.float32), np.ones((3, 3, 2, 5), np.float32)])
    assert (told["narrow"], told["missed"], told["wide"]) == (0, 0, 1) and told["dots"][0]["multiply_adds"] == 16 * 5 * 18
    assert "stablehlo.convolution" in after.read_text()


INT4 = INT8.astype(jnp.int4)


def outer_product(q, s):
    """A scale a row where the dot has one a column: square, so that nothing but the axis differs."""
    return dot(f32(q) * s[None, :], weight())


def added_to_in_a_loop(q, s):
    def body(i, state):
        x, total = state
        return x + 1, total + dot(x, weight())
    return lax.fori_loop(0, 3, body, (f32(q) * s, jnp.zeros((M, N))))[1]


NOT_SCALED = {
    "a tensor of factors": (lambda q, s: dot(f32(q) * s, weight()), [codes((M, K)), scales((M, K))],
                            "stablehlo.multiply", "no broadcast of fewer scales"),
    "integers between": (lambda q, s: dot(f32(q).astype(jnp.int32).astype(jnp.float32) * s, weight()), [codes((M, K)), scales(())],
                         "stablehlo.convert", "values of another kind"),
    "integers of what is scaled": (lambda q, s: dot((f32(q) * s).astype(jnp.int8).astype(jnp.float32), weight()), [codes((M, K)), scales(())],
                                   "stablehlo.convert", "values of another kind"),
    "powers of two between": (lambda q, s: dot(f32(f32(q).astype(E8M0)) * s, weight()), [np.abs(codes((M, K)).astype(np.float32)).astype(F8), scales(())],
                              "stablehlo.convert", "values of another kind"),
    "a sum": (lambda q, s: dot(f32(q) * s + 1, weight()), [codes((M, K)), scales(())], "stablehlo.add", "stands between"),
    "negated without -0": (lambda q, s: dot(-f32(q) * s, weight()), [codes((M, K), jnp.float8_e4m3fnuz), scales(())], "stablehlo.negate", "without -0"),
    "integers by a tensor of e8m0": (lambda q, s: dot(f32(q) * f32(s), weight()), [INT8, scales((M, K), E8M0)],
                                     "stablehlo.multiply", "no broadcast of fewer scales"),
    "cfloat8 by ldexp": (lambda q, s: dot(jnp.ldexp(cfloat8(q.reshape(K, M), 4, 3, 7).T, s.astype(jnp.int32)[:, None] - 127), weight()), [cycled(CODES_1_4_3[0]), exponents(M)],
                         "stablehlo.select", "chooses between codes"),
    "a function": (lambda q, s: dot(jnp.tanh(f32(q) * s), weight()), [codes((M, K)), scales(())], "stablehlo.tanh", "stands between"),
    "a pad with ones": (lambda q, s: dot(jnp.pad(f32(q) * s, ((0, 2), (0, 0)), constant_values=1), weight()),
                        [codes((M, K)), scales(())], "stablehlo.pad", "not 0"),
    "another arm": (lambda q, s, m: dot(jnp.where(m[:, None], f32(q) * s, -1), weight()),
                    [codes((M, K)), scales(()), np.arange(M) % 2 == 0], "stablehlo.select", "not 0"),
    "a cut block": (lambda q, s: dot((f32(q) * blockwise(s, q.shape))[:, 16:48], weight()[:32]),
                    [codes((M, K)), scales((M, 2))], "stablehlo.slice", "blocks"),
    "scales of halves": (lambda q, r, s, t: dot(jnp.concatenate([f32(q) * s, f32(r) * t]), weight()),
                         [codes((M, K)), codes((2, K), seed=5), scales(()), np.float32(8)], "stablehlo.concatenate", "scales"),
    "two grids": (lambda q, s, t: dot(f32(q) * s[:, None] * t[None, :], weight()), [codes((M, K)), scales(M), scales(K)],
                  "stablehlo.multiply", "second grid"),
    "a pad within blocks": (lambda q, s: dot(jnp.pad(f32(q) * jnp.repeat(s, 3, 0), ((1, 2), (0, 0))), weight()), [codes((M, K)), scales((2, K))],
                            "stablehlo.pad", "blocks"),
    "rows cut from blocks": (lambda q, s, i: dot((f32(q) * jnp.repeat(s, 3, 0))[i], weight()),
                             [codes((M, K)), scales((2, K)), np.array([1, 4], np.int32)], "stablehlo.gather", "blocks"),
    "NaN of codes without": (lambda q, s, i: dot(jnp.take(f32(q) * s, i, axis=0), weight()),
                             [codes((M, K), F4), scales(()), np.array([1, 9], np.int32)], "stablehlo.select", "NaN"),
    "rows written in other scales": (lambda q, r, s, t: dot(lax.dynamic_update_slice(f32(q) * s, f32(r) * t, (1, 0)), weight()),
                                     [codes((M, K)), codes((2, K), seed=5), scales(()), np.float32(8)],
                                     "stablehlo.dynamic_update_slice", "other blocks"),
    "branches of other formats": (lambda q, r, s, i: dot(lax.cond(i > 0, lambda: f32(q) * s, lambda: f32(r) * s), weight()),
                                  [codes((M, K)), codes((M, K), E5M2), scales(()), np.int32(1)], "stablehlo.case", "chooses among"),
    "exponents without zeros": (lambda q, s: dot(lax.bitcast_convert_type(lax.bitcast_convert_type(f32(q), jnp.int32) + ((s.astype(jnp.int32) - 127)[:, None] << 23), jnp.float32), weight()),
                                [codes((M, K)), exponents(M)], "stablehlo.bitcast_convert", "stands between"),
    "exponents one off": (lambda q, s: dot(on_exponents(f32(q), (s.astype(jnp.int32) - 126)[:, None]), weight()), [codes((M, K)), exponents(M)],
                          "stablehlo.select", "not 0"),
    "exponents of a neighbour": (lambda q, s: dot(on_exponents(f32(q), (s.astype(jnp.int32) - 127)[:, None] + (s[::-1].astype(jnp.int32) - 127)[:, None]), weight()),
                                 [codes((M, K)), exponents(M)], "stablehlo.select", "not 0"),
    "exponents of every element": (lambda q, s: dot(jnp.ldexp(f32(q), s.astype(jnp.int32) - 127), weight()), [codes((M, K)), exponents((M, K))],
                                   "stablehlo.select", "not 0"),
    "integers of 4 bits by e8m0": (lambda q, s: dot(f32(q) * blockwise(f32(s), q.shape), weight()), [INT4, scales((M, 2), E8M0)],
                                   "stablehlo.multiply", "values of i4"),
    "integers of 16 bits by e8m0": (lambda q, s: dot(f32(q) * blockwise(f32(s), q.shape), weight()), [INT8.astype(np.int16), scales((M, 2), E8M0)],
                                    "stablehlo.multiply", "values of i16"),
    "integers less an offset by e8m0": (lambda q, s: dot((f32(q) - 4) * blockwise(f32(s), q.shape), weight()), [INT8.astype(np.uint8), scales((M, 2), E8M0)],
                                        "stablehlo.multiply", "what 'stablehlo.subtract' gives"),
    "values looked up by e8m0": (lambda q, s, t: dot(t[q].reshape(M, K) * blockwise(f32(s), (M, K)), weight()),
                                 [np.abs(INT8).astype(np.int32), scales((M, 2), E8M0), np.arange(8, dtype=np.float32)],
                                 "stablehlo.gather", "looks up the values"),
    "wide values divided by e8m0": (lambda q, s: dot(q / blockwise(f32(s), q.shape), weight()), [X, scales((M, 2), E8M0)],
                                    "stablehlo.divide", "values of f32"),
    "scales of e8m0 alone": (lambda s: dot(f32(s), weight()), [scales((M, K), E8M0)], "stablehlo.convert", "for elements"),
    "a function of what e8m0 scales": (lambda q, s: dot(jnp.tanh(q * blockwise(f32(s), q.shape)), weight()), [X, scales((M, 2), E8M0)],
                                       "stablehlo.tanh", "stands between scales of E8M0"),
    "carried and added to": (added_to_in_a_loop, [codes((M, K)), scales(())], "stablehlo.while", "every round"),
    "a narrow result": (lambda q: lax.dot_general(q, W, (((1,), (0,)), ((), ())), preferred_element_type=E5M2),
                        [codes((M, K), E5M2)], "stablehlo.dot_general", "result"),
}


@pytest.mark.parametrize("form", NOT_SCALED)
def test_what_only_looks_scaled_is_left_and_told(tmp_path, form):
    function, arguments, obstacle, reason = NOT_SCALED[form]
    arguments, before, after, told = recovered(tmp_path, function, arguments)
    assert (told["narrow"], told["missed"]) == (0, 1), told
    dot_told = told["dots"][0]
    assert dot_told["obstacle"] == obstacle and reason in dot_told["reason"] and dot_told["remedy"], dot_told
    assert told["missed_by_reason"][0]["dots"] == 1 and told["narrow_share"] == 0
    np.testing.assert_array_equal(run(after, arguments, tmp_path).view(np.uint8), run(before, arguments, tmp_path).view(np.uint8))
    text = explain(before).stdout
    assert f"'{obstacle}'" in text and "0 of 1 dots narrow, 1 missed; 0.0 % of the multiply-adds are narrow" in text
    failed = explain(before, "--fail-on-missed", "-o", tmp_path / "none.mlir", code=1)
    assert "1 of 1 dots look narrow" in failed.stderr and failed.stdout == text and not (tmp_path / "none.mlir").exists()


def test_a_function_that_multiplies_what_e8m0_scales_is_opened(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(jax.jit(lambda q, s: jax.jit(dot)(f32(q) * blockwise(f32(s), q.shape), weight())).lower(INT4, scales((M, 2), E8M0)).as_text())
    assert "call @dot" in program.read_text()
    told = json.loads(explain(program, "--json").stdout)
    assert told["missed"] == 1 and "values of i4" in told["dots"][0]["reason"]


def test_one_side_of_e8m0_without_codes_is_told(tmp_path):
    """The other is recovered."""
    program = tmp_path / "p.mlir"
    program.write_text(jax.jit(lambda q, s, r, t: dot(f32(q) * s, f32(r) * f32(t)[None])).lower(
        codes((M, K)), scales(()), np.ones((K, N), jnp.int4), scales(N, E8M0)).as_text())
    told = json.loads(explain(program, "--json").stdout)
    assert (told["narrow"], told["one_sided"], told["missed"]) == (1, 1, 0) and "values of i4" in told["dots"][0]["reason"]


def test_calls_that_have_nothing_narrow_stay(tmp_path):
    before = tmp_path / "before.mlir"
    before.write_text(jax.jit(lambda q, s, x: jax.jit(layer)(x, x.T) + dot(x, f32(q) * s)[:, :M]).lower(codes((K, K)), scales(K), X).as_text())
    made = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-recover-scaled", before], capture_output=True, text=True, check=True)
    assert "call @layer" in made.stdout and "octavo.dot_general" in made.stdout


@pytest.mark.parametrize("product, remedy", {'stablehlo.einsum %2, %x, config = "mk,kn->mn"': "write it as dot_general"}.items())
def test_other_products_are_told(tmp_path, product, remedy):
    program = tmp_path / "p.mlir"
    program.write_text(PRODUCT.format(product))
    told = json.loads(explain(program, "--json").stdout)
    assert told["missed"] == 1 and told["dots"][0]["reason"] == "is a product that scaled tensors do not have" and told["dots"][0]["remedy"] == remedy


def test_products_of_experts_are_told(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(jax.jit(lambda q, s, w, n: lax.ragged_dot(f32(q) * s, w, n)).trace(codes((M, K)), scales(()), np.ones((2, K, N), np.float32),
                       np.array([2, 4], np.int32)).lower(lowering_platforms=("tpu",)).as_text())
    assert "chlo.ragged_dot" in program.read_text()
    told = json.loads(explain(program, "--json").stdout)
    assert told["missed"] == 1 and told["dots"][0]["remedy"] == "make it dots of groups, as --octavo-legalize-chlo does"


def test_a_function_that_calls_itself_stays(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text("""func.func @main(%q: tensor<4x4xf8E4M3FN>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = func.call @again(%q) : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func private @again(%q: tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32> {
  %w = func.call @again(%q) : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}
""")
    told = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-recover-scaled", program, "-o", tmp_path / "out"], capture_output=True, text=True)
    assert told.returncode == 0 and "calls a function that has no body, or calls itself; dequantize after the call" in told.stderr


def test_a_scale_of_the_wrong_axis_scales_that_axis(tmp_path):
    """A square one: rows and columns have as many scales."""
    q, s = codes((K, K)), scales(K)
    arguments, before, after, told = recovered(tmp_path, outer_product, [q, s])
    assert told["dots"][0]["lhs"] == "f8E4M3FN by f32, block [64, 1]"
    expected = (wide(q) * s[None, :]) @ (wide(np.asarray(W)) * WS)
    np.testing.assert_array_equal(run(after, arguments, tmp_path), expected)


@pytest.mark.parametrize("name, form", {
    "a bias of 126": lambda s: lax.bitcast_convert_type((s + 1).astype(jnp.uint32) << 23, jnp.float32),
    "a shift by 22": lambda s: lax.bitcast_convert_type(s.astype(jnp.uint32) << 22, jnp.float32),
    "exp of a product": lambda s: jnp.exp2(f32(s) - 127),  # JAX's exp2: exp(0.6931472 x), not powers of two
    "two codes": lambda s: lax.bitcast_convert_type((s + s[:, ::-1]).astype(jnp.uint32) << 23, jnp.float32),
}.items())
def test_what_is_almost_e8m0_stays_f32(tmp_path, name, form):
    """With the scales that the program computes, on the grid."""
    def function(q, s):
        return dot(f32(q) * blockwise(form(s), q.shape), weight())
    arguments, before, after, told = recovered(tmp_path, function, [codes((M, K)), exponents((M, 2)) // 2])
    assert told["dots"][0]["lhs"] == "f8E4M3FN by f32, block [1, 32]" and told["dots"][0]["note"] is None
    found, expected = (run(path, arguments, tmp_path, "--backend", "reference") for path in (after, before))
    bound = 0 if name != "exp of a product" else 64 * 2.0**-23 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound)


def test_ends_of_e8m0_are_told(tmp_path):
    """A shift makes 0 and Inf of codes 0 and 255, which are 2^-127 and NaN; torchao's form does not."""
    def shifted(s):
        return lax.bitcast_convert_type(s.astype(jnp.uint32) << 23, jnp.float32)

    def exact(s):
        return jnp.where(s == 255, jnp.nan, jnp.where(s == 0, jnp.float32(2.0**-127), shifted(s)))
    q, s = np.ones((M, K), F8), np.array([[0, 255]] * M, np.uint8)
    for form, note in ((shifted, "2^-127 and NaN of codes 0 and 255, of which the program computes 0 and inf"), (exact, None)):
        # Each column by itself: a product of all would be NaN.
        arguments, before, after, told = recovered(
            tmp_path, lambda q, s, form=form: (f32(q) * blockwise(form(s), q.shape)).T @ jnp.ones((M, 1)), [q, s])
        assert told["dots"][0]["lhs"] == "f8E4M3FN by f8E8M0FNU, block [32, 1]" and told["dots"][0]["note"] == note
        if note:
            assert "has 2^-127 and NaN" in explain(before).stdout
        for path, ends in ((before, [0, np.inf] if note else [M * 2.0**-127, np.nan]), (after, [M * 2.0**-127, np.nan])):
            found = run(path, arguments, tmp_path, "--backend", "reference")
            np.testing.assert_array_equal(found[:, 0], np.repeat(np.float32(ends), 32))


@pytest.mark.parametrize("form, is_recovered", [
    (lambda q: f32(q * np.int8(2)), True), (lambda q: f32(q // np.int8(2)), True),
    (lambda q: f32(q.astype(jnp.int4)), False), (lambda q: f32((f32(q) / 4).astype(jnp.int32)), False)])
def test_integers_that_are_changed_between(tmp_path, form, is_recovered):
    """int8 times 2, and int4 of it, are other integers than those that E8M0 would scale."""
    q, s = np.arange(-64, 64, dtype=np.int8).repeat(3).reshape(M, K), scales((M, 2), E8M0)
    arguments, before, after, told = recovered(tmp_path, lambda q, s: dot(form(q) * blockwise(f32(s), q.shape), weight()), [q, s])
    assert (told["narrow"], told["missed"]) == (is_recovered, not is_recovered)
    assert is_recovered or "multiplies what 'stablehlo.convert' gives by scales of E8M0" in told["dots"][0]["reason"]
    np.testing.assert_array_equal(*(run(path, arguments, tmp_path, "--backend", "reference") for path in (after, before)))


@pytest.mark.parametrize("form", [lambda q, s: jnp.where(jnp.arange(M)[:, None] < 2, f32(q) * s, 0),
                                  lambda q, s: jnp.pad(f32(q) * s[:1], ((0, M - 1), (0, 0)))])
def test_zeros_for_what_is_scaled_by_nan_are_told(tmp_path, form):
    """They are 0 times their scale."""
    q, s = codes((M, K)), np.ones((M, 1), np.float32)
    if form(q, s).shape[0] > M:
        q = q[:1]
    arguments, before, after, told = recovered(tmp_path, lambda q, s: dot(form(q, s), weight()), [q, s])
    assert "NaN where the program puts 0" in told["dots"][0]["note"] and "has NaN where" in explain(before).stdout
    np.testing.assert_array_equal(*(run(path, arguments, tmp_path, "--backend", "reference") for path in (after, before)))


def test_a_global_scale_of_two_numbers_is_told(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(block_scaled_dot(2, "").replace("tensor<f32>", "tensor<2xf32>"))
    told = json.loads(explain(path, "--json").stdout)
    assert told["missed"] == 1 and told["dots"][0]["reason"] == "has a global scale that is not one number", told


@pytest.mark.parametrize("program", [
    block_scaled_dot(2, '{"block_scaled_dot_backend_config": {"block_size": 16}}'),  # 4 blocks
    block_scaled_dot(2, "", rows=9),
    block_scaled_dot(3, ""),
])
def test_scales_that_are_too_few_are_told(tmp_path, program):
    path = tmp_path / "program.mlir"
    path.write_text(program)
    told = json.loads(explain(path, "--json").stdout)
    assert told["missed"] == 1 and told["dots"][0]["reason"] == "has scales of a shape that fits no block", told


def test_casts_that_must_fail_are_explained(tmp_path):
    """MLIR's simplification of tensor.cast crashes where a reshape's shape contradicts it."""
    program = pathlib.Path(__file__).parents[1] / "Reference" / "shape-arithmetic.mlir"
    assert explain(program).stdout == "no dots\n"


def test_programs_without_narrow_dots(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(jax.jit(lambda x, y: x @ y).lower(jnp.ones((2, 3)), jnp.ones((3, 4))).as_text())
    assert "0 of 1 dots narrow, 0 missed; 0.0 %" in explain(program, "--fail-on-missed").stdout
    program.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n")
    assert explain(program).stdout == "no dots\n" and json.loads(explain(program, "--json").stdout)["narrow_share"] is None
    program.write_text("func.func @main(")
    assert "p.mlir" in explain(program, code=3).stderr


@pytest.mark.parametrize("scaled, note", [
    (lambda q: f32(q) / np.float32(2**-130), "inf for a scale of 1.36113e+39, which is beyond f32"),
    (lambda q: f32(q) / np.float32(3e38), "a scale of 3.33333e-39 rounded to a subnormal f32"),
    (lambda q: f32(q) * np.float32(1e-30) * np.float32(1e-30) * np.float32(1e30), "0 for a scale of 1e-60, which is beyond f32"),
    (lambda q: f32(q) * np.float32([1, 3e38, 1e30, 2, 1e20, 1])[:, None] * np.float32(2e10), "inf for a scale of 6e+48, which is beyond f32, and 1 scale like it"),
    (lambda q: f32(q) / np.float32(2**-100) * np.float32(2**-100), None),
    (lambda q: f32(q) * np.float32([1, 2, 4, 8, 16, 32])[:, None] * np.float32(2e10), None)])
def test_constant_scales_that_f32_does_not_hold_are_told(tmp_path, scaled, note):
    _, before, _, told = recovered(tmp_path, lambda q: dot(scaled(q), jnp.ones((K, N))), [codes((M, K))])
    assert told["narrow"] == 1 and told["dots"][0]["note"] == note
    assert note is None or f"has {note}" in explain(before).stdout
    np.save(tmp_path / "q.float8_e4m3fn.npy", codes((M, K)))
    for command in (["run", before, "--input", tmp_path / "q.float8_e4m3fn.npy", "--recover-scaled"],
                    ["compile", before, "--recover-scaled", "-o", tmp_path / "folder"]):
        done = subprocess.run([OCTAVO, *command], capture_output=True, text=True)
        assert done.returncode == 0
        assert (f", whose scales are recovered, has {note}\n" in done.stderr) == (note is not None), done.stderr
        assert done.stderr.count("warning") == (note is not None)


def test_notes_of_both_sides_are_told(tmp_path):
    _, _, _, told = recovered(tmp_path, lambda q, r: dot(f32(q) / np.float32(2**-130), f32(r) / np.float32(2**-131)), [codes((M, K)), codes((K, N))])
    assert told["dots"][0]["note"] == "inf for a scale of 1.36113e+39, which is beyond f32, and inf for a scale of 2.72226e+39, which is beyond f32"
