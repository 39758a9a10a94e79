"""The key "migrate" of recipes: powers of two that go from columns of activations to those of weights.
Against NumPy, whose exponents, scales and codes come from the rules as docs/recipes.md states them."""

import json
import subprocess

import ml_dtypes
import numpy as np
import pytest
from program_commands import BIN, octavo

pytestmark = pytest.mark.mlir

ROWS, DEPTH, COLUMNS = 48, 64, 24


def program(weight):
    """x * x - x, which two dots take, of one weight each; the first weight is an argument or a constant."""
    values = ", ".join("[" + ", ".join(f"0x{each:08X}" for each in row.view(np.uint32)) + "]" for row in weight)
    constant = f"%c = stablehlo.constant dense<[{values}]> : tensor<{DEPTH}x{COLUMNS}xf32>"
    return [f"""
func.func @main(%x: tensor<{ROWS}x{DEPTH}xf32> {{octavo.name = "x"}},
                {'%w' if is_argument else '%unused'}: tensor<{DEPTH}x{COLUMNS}xf32> {{octavo.name = "w", octavo.parameter}},
                %v: tensor<{COLUMNS}x{DEPTH}xf32> {{octavo.name = "v", octavo.parameter}})
    -> (tensor<{ROWS}x{COLUMNS}xf32> {{jax.result_info = "a"}}, tensor<{ROWS}x{COLUMNS}xf32> {{jax.result_info = "b"}}) {{
  {"" if is_argument else constant.replace("%c", "%w")}
  %0 = stablehlo.multiply %x, %x : tensor<{ROWS}x{DEPTH}xf32>
  %1 = stablehlo.subtract %0, %x : tensor<{ROWS}x{DEPTH}xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
      : (tensor<{ROWS}x{DEPTH}xf32>, tensor<{DEPTH}x{COLUMNS}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32> loc("net/first")
  %3 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [1]
      : (tensor<{ROWS}x{DEPTH}xf32>, tensor<{COLUMNS}x{DEPTH}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32> loc("net/second")
  return %2, %3 : tensor<{ROWS}x{COLUMNS}xf32>, tensor<{ROWS}x{COLUMNS}xf32>
}}
""" for is_argument in (True, False)]


@pytest.fixture
def net(tmp_path):
    """Inputs of columns of very unlike sizes, and what was found of them."""
    import safetensors.numpy

    random = np.random.default_rng(5)
    x = (random.standard_normal((ROWS, DEPTH)) * 2.0**random.integers(-4, 5, DEPTH)).astype(np.float32)
    x[:, 11] = 1  # 1 * 1 - 1: a column of zeros
    w = random.standard_normal((DEPTH, COLUMNS)).astype(np.float32)
    v = (random.standard_normal((COLUMNS, DEPTH)) / 4).astype(np.float32)
    for name, text in zip(("net", "constant"), program(w)):
        (tmp_path / f"{name}.mlir").write_text(text)
    safetensors.numpy.save_file({"w": w, "v": v}, tmp_path / "w.safetensors")
    np.save(tmp_path / "x.npy", x)
    octavo("calibrate", tmp_path / "net.mlir", "--weights", tmp_path / "w.safetensors", "--inputs", tmp_path / "x.npy",
           "--columns", "-o", tmp_path / "found.json")
    return tmp_path, x * x - x, w, v.T


def recipe(folder, **rule):
    (folder / "recipe.json").write_text(json.dumps({"rules": [rule]}))
    return folder / "recipe.json"


def run(folder, rule, name="net", backend="compiled", more=()):
    octavo("run", folder / f"{name}.mlir", "--weights", folder / "w.safetensors", "--input", f"x={folder}/x.npy",
           "--output", folder / "out.safetensors", "--backend", backend, "--recipe", recipe(folder, **rule), *more)
    import safetensors.numpy
    found = safetensors.numpy.load_file(folder / "out.safetensors")
    return found["a"], found["b"]


def exponents(values, weights, strength=0.5):
    """The dots share the activations: one exponent for each column of both weights."""
    activations, weights = np.abs(values).max(0), np.abs(np.concatenate(weights, 1)).max(1)
    used = (activations > 0) & (weights > 0)
    with np.errstate(divide="ignore"):
        wanted = strength * np.log2(activations.astype(np.float64)) \
            - (1 - strength) * np.log2(weights.astype(np.float64))
    return np.where(used, np.clip(np.round(wanted - wanted[used].mean()), -24, 24), 0)


def mxint8(x):
    """Along the first axis, in blocks of 32: OCP MX 6.3 and 5.3.4."""
    blocks = x.reshape(-1, 32, x.shape[1])
    amax = np.abs(blocks).max(1, keepdims=True)
    scale = np.exp2(np.where(amax > 0, np.frexp(amax)[1] - 1.0, -127))
    return (np.clip(np.rint(blocks / scale * 64), -127, 127) / 64 * scale).reshape(x.shape)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("strength", [0.5, 0.8])
def test_values_are_those_of_moved_columns(net, backend, strength):
    folder, values, w, v = net
    rule = {"weights": "mxint8", "migrate": "found.json", "strength": strength}
    powers = np.exp2(exponents(values, [w, v], strength))
    assert len(set(powers)) > 4 and powers[11] == 1
    found = run(folder, rule, backend=backend)
    plain = run(folder, {"weights": "mxint8"}, backend=backend)
    narrow = mxint8((values / powers).T).T
    for weight, got, without in zip((w, v), found, plain):
        expected = narrow @ mxint8(weight * powers[:, None])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
        exact = values.astype(np.float64) @ weight
        if strength == 0.5:
            assert np.linalg.norm(got - exact) < 0.8 * np.linalg.norm(without - exact)


def test_a_weight_is_the_same_wherever_it_is_quantized(net):
    folder, _, _, _ = net
    rule = {"weights": "mxfp6_e2m3", "migrate": "found.json"}
    bound = run(folder, rule)
    np.testing.assert_array_equal(bound, run(folder, rule, name="constant", more=["--ignore-unused"]))
    octavo("quantize", folder / "net.mlir", "--recipe", recipe(folder, **rule), "--in-program", "-o",
           folder / "inside.mlir")
    octavo("quantize", folder / "net.mlir", "--recipe", recipe(folder, **rule), "-o", folder / "written.mlir")
    assert "octavo.exponents = {axis = 0 : i64, exponents = array<i8: " in (folder / "written.mlir").read_text()
    assert "octavo.exponents" not in (folder / "inside.mlir").read_text()
    for name in ("inside", "written"):
        octavo("run", folder / f"{name}.mlir", "--weights", folder / "w.safetensors", "--input",
               f"x={folder}/x.npy", "--output", folder / "other.safetensors")
        import safetensors.numpy
        other = safetensors.numpy.load_file(folder / "other.safetensors")
        np.testing.assert_array_equal(bound, (other["a"], other["b"]))


def test_the_table_tells_and_activations_are_quantized_once(net):
    folder, values, w, v = net
    report = json.loads(octavo("quantize", folder / "net.mlir", "--json", "-o", folder / "narrow.mlir", "--recipe",
                               recipe(folder, weights="mxint8", migrate="found.json")))
    powers = exponents(values, [w, v]).astype(int)
    told = f"; 2^{powers.min()} to 2^{powers.max()} moved to the weight in {np.count_nonzero(powers)} of 64 columns"
    assert [dot["reason"] for dot in report["dots"]] == ["weight quantized when it is bound" + told] * 2
    assert (folder / "narrow.mlir").read_text().count("octavo.quantize %") == 1


def test_with_static_scales(net):
    folder, values, w, v = net
    rule = {"weights": "fp8_tensor", "migrate": "found.json", "scales": "found.json"}
    report = json.loads(octavo("quantize", folder / "net.mlir", "--json", "--recipe", recipe(folder, **rule)))
    powers = np.exp2(exponents(values, [w, v]))
    amax = np.float32(np.abs(values / powers).max())
    assert [dot["lhs_amax"] for dot in report["dots"]] == [amax, amax]

    def fp8(x, amax):
        scale = np.float32(amax) / np.float32(448)
        codes = np.clip(x.astype(np.float32) / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn)
        return codes.astype(np.float64) * scale
    for weight, got in zip((w, v), run(folder, rule)):
        moved = weight * powers[:, None]
        expected = fp8(values / powers, amax) @ fp8(moved, np.abs(moved).max())
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_columns_that_all_stay_move_nothing(tmp_path):
    """Of one magnitude: a stack of layers is quantized once, when it is bound, as without the key."""
    import safetensors.numpy
    jax = pytest.importorskip("jax")
    random = np.random.default_rng(3)
    w, x = (random.choice([-1, 1], shape).astype(np.float32) for shape in ((3, DEPTH, DEPTH), (ROWS, DEPTH)))

    def net(w, x):
        return jax.lax.scan(lambda h, each: (jax.numpy.sign(h @ each + 0.5), None), x, w)[0]
    (tmp_path / "net.mlir").write_text(jax.jit(net).lower(w, x).as_text(debug_info=True))
    safetensors.numpy.save_file({"w": w}, tmp_path / "w.safetensors")
    np.save(tmp_path / "x.npy", x)
    octavo("calibrate", tmp_path / "net.mlir", "--weights", tmp_path / "w.safetensors", "--inputs", tmp_path / "x.npy",
           "--columns", "-o", tmp_path / "found.json")

    def reason(**rule):
        report = json.loads(octavo("quantize", tmp_path / "net.mlir", "--json", "--parameters", "^w$", "--recipe", recipe(tmp_path, **rule)))
        return report["dots"][0]["reason"]
    plain = reason(weights="mxint8")
    assert plain.startswith("weight quantized when it is bound")
    assert reason(weights="mxint8", migrate="found.json") == plain + "; no column has a power of two to move"


WRONG = [
    ({"weights": "mxint8", "migrate": "plain.json"}, 'the calibration has no columns of the lhs of dot "net/first"'),
    ({"weights": "mxint8", "migrate": "other.json"}, 'nothing of the lhs of dot "net/first"; near it: net/frist'),
    ({"weights": "mxint8", "migrate": "nowhere.json"}, "rules[0].migrate: "),
    ({"weights": "mxint8", "migrate": 3}, "rules[0].migrate: expected the path of a calibration"),
    ({"weights": "mxint8", "migrate": "found.json", "strength": 1.5}, "expected a number from 0 to 1, found 1.5"),
    ({"weights": "mxint8", "strength": 0.5}, 'it is of powers of two that move, and the rule moves none'),
    ({"weights": "mxint8", "activations": "none", "migrate": "found.json"}, "which stay wide here"),
    ({"weights": "fp8_tensor", "migrate": "found.json", "scales": "found.json", "range": "mse"},
     "of columns that are moved the calibration knows amax"),
]


@pytest.mark.parametrize("rule, message", WRONG, ids=lambda value: str(value)[:60])
def test_wrong_rules_are_refused(net, rule, message):
    folder, _, _, _ = net
    octavo("calibrate", folder / "net.mlir", "--weights", folder / "w.safetensors", "--inputs", folder / "x.npy",
           "-o", folder / "plain.json")
    (folder / "other.json").write_text((folder / "found.json").read_text().replace("net/first", "net/frist"))
    assert message in octavo("quantize", folder / "net.mlir", "--recipe", recipe(folder, **rule), code=3)


def columns_found(folder, program, *inputs):
    """What a calibration with columns finds on sets of inputs, arrays by name; w is a weight."""
    for i, arrays in enumerate(inputs):
        (folder / f"sets/set{i}").mkdir(parents=True)
        for name, array in arrays.items():
            np.save(folder / f"sets/set{i}/{name}.npy", array)
    octavo("calibrate", program, "--parameters", "^w$", "--inputs", folder / "sets", "--columns", "-o", folder / "found.json")


@pytest.mark.filterwarnings("ignore")
def test_a_dot_that_inputs_do_not_reach_is_told_as_such(tmp_path):
    jax = pytest.importorskip("jax")
    w, x = np.ones((32, 8), np.float32), np.ones((4, 32), np.float32)

    def net(w, x, n):
        return jax.lax.cond(n > 0, lambda x: jax.numpy.tanh(x) @ w, lambda x: x[:, :8], x) + x @ w
    (tmp_path / "net.mlir").write_text(jax.jit(net).lower(w, x, np.int32(0)).as_text(debug_info=True))
    columns_found(tmp_path, tmp_path / "net.mlir", {"w": w, "x": x, "n": np.int32(0)})
    message = octavo("quantize", tmp_path / "net.mlir", "--parameters", "^w$", "--recipe",
                     recipe(tmp_path, weights="mxint8", migrate="found.json"), code=3)
    assert ('found.json: the lhs of dot "jit(net)/cond/branch_1_fun/dot_general" had no values when it was calibrated; '
            'calibrate with inputs that reach it, or give the dot a rule without "migrate"') in message


def test_columns_of_changing_number_are_told_as_such(tmp_path):
    jax = pytest.importorskip("jax")
    import jax.export
    (k,) = jax.export.symbolic_shape("k")
    function = jax.jit(lambda w, x: x @ w)

    def shapes(k):
        return [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((k, 8), (4, k))]
    (tmp_path / "open.bin").write_bytes(jax.export.export(function)(*shapes(k)).serialize())
    (tmp_path / "net.mlir").write_text(function.lower(*shapes(32)).as_text(debug_info=True))
    columns_found(tmp_path, tmp_path / "open.bin",
                  *({"w": np.ones((k, 8), np.float32), "x": np.ones((4, k), np.float32)} for k in (32, 64)))
    message = octavo("quantize", tmp_path / "net.mlir", "--parameters", "^w$", "--recipe",
                     recipe(tmp_path, weights="mxint8", migrate="found.json"), code=3)
    assert ('had now more, now fewer columns when it was calibrated; give the dot a rule without "migrate"') in message


@pytest.mark.parametrize("wrong", ["{axis = 2 : i64, exponents = array<i8: 1, 2>}", "array<i8: 1, 2>",
                                   "{axis = 0 : i64, exponents = array<i8: 1>}", "{axis = 0 : i64}"])
def test_wrong_attributes_are_refused(tmp_path, wrong):
    (tmp_path / "p.mlir").write_text(f"""
func.func @main(%w: !octavo.scaled<2x32xi8, scale f8E8M0FNU, block [1, 32]>
    {{octavo.quantize = #octavo.quantization<rule = floor>, octavo.exponents = {wrong}}}) {{ return }}""")
    message = octavo("run", tmp_path / "p.mlir", code=3)
    assert "attribute octavo.exponents of argument 0 needs {axis = A : i64, exponents = array<i8: ...>}" in message


def test_plain_stablehlo_of_it_gives_the_same(net):
    folder, _, _, _ = net
    rule = {"weights": "mxfp8_e4m3", "migrate": "found.json"}
    narrow = run(folder, rule)
    octavo("quantize", folder / "net.mlir", "--recipe", recipe(folder, **rule), "-o", folder / "written.mlir")
    subprocess.run([BIN / "octavo-opt", "--octavo-emit", folder / "written.mlir", "-o", folder / "plain.mlir"],
                   check=True, timeout=120)
    text = (folder / "plain.mlir").read_text()
    assert "octavo.exponents" not in text and "octavo.quantize" not in text
    octavo("run", folder / "plain.mlir", "--weights", folder / "w.safetensors", "--input", f"x={folder}/x.npy",
           "--output", folder / "plain.safetensors")
    import safetensors.numpy
    plain = safetensors.numpy.load_file(folder / "plain.safetensors")
    for got, expected in zip((plain["a"], plain["b"]), narrow):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
