"""`octavo run` from the outside: binding, outputs, quantization, self-checking programs, and every
kind of bad input, each with the words that its message must have."""

import json
import os
import struct
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

pytestmark = pytest.mark.mlir

OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"

LINEAR = """
func.func public @main(%arg0: tensor<{n}x{k}xf32> {{octavo.name = "layer.weight", octavo.parameter}},
                       %arg1: tensor<{m}x{k}xf32> {{octavo.name = "x"}})
    -> (tensor<{m}x{n}xf32> {{octavo.name = "y"}}) {{
  %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [1]
      : (tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) -> tensor<{m}x{n}xf32>
  return %0 : tensor<{m}x{n}xf32>
}}
"""


def octavo(*arguments, code=0):
    """Runs `octavo` and gives what it printed; stderr where it fails, which must be an error that
    octavo itself reports."""
    run = subprocess.run(
        [OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    if code == 0:
        assert run.stderr == ""
        return run.stdout
    assert run.stderr.startswith("octavo: error: "), run.stderr
    return run.stderr


def write(path, text):
    path.write_text(text)
    return path


def save(path, **arrays):
    """Tensors by name; two underscores in a name stand for a dot."""
    named = {name.replace("__", "."): array for name, array in arrays.items()}
    safetensors.numpy.save_file(named, path)
    return path


def npy(path, array):
    np.save(path, array)
    return path


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def assert_has(text, *words):
    for word in words:
        assert word in text, f"no {word!r} in: {text}"


class Linear:
    """The program y = x w^T with its files."""

    def __init__(self, folder, m=2, k=40, n=4):
        self.w, self.x = random(n, k), random(m, k)
        self.program = write(folder / "linear.mlir", LINEAR.format(m=m, k=k, n=n))
        self.weights = save(folder / "w.safetensors", layer__weight=self.w)
        self.input = npy(folder / "x.npy", self.x)
        self.output = folder / "y.npy"

    def run(self, *options, code=0):
        files = ("--weights", self.weights, "--input", self.input)
        return octavo("run", self.program, *files, *options, code=code)

    def result(self, *options):
        self.run("--output", self.output, *options)
        return np.load(self.output)


@pytest.fixture
def linear(tmp_path):
    return Linear(tmp_path)


# Binding and outputs


def test_by_name_and_by_position(linear):
    expected = linear.x @ linear.w.T
    np.testing.assert_allclose(linear.result(), expected, rtol=1e-5, atol=1e-5)
    linear.output.unlink()
    octavo("run", linear.program, "--weights", linear.weights, "--input", f"x={linear.input}",
           "--output", linear.output)
    np.testing.assert_allclose(np.load(linear.output), expected, rtol=1e-5, atol=1e-5)


def test_names_from_locations_as_jax_writes_them(tmp_path):
    program = write(tmp_path / "p.mlir", """
func.func public @main(%arg0: tensor<2xf32> loc("params['a']"), %arg1: tensor<2xf32> loc("x"))
    -> (tensor<2xf32> {jax.result_info = "result"}) {
  %0 = stablehlo.subtract %arg0, %arg1 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
""")
    a = npy(tmp_path / "a.npy", np.float32([5, 7]))
    x = npy(tmp_path / "x.npy", np.float32([1, 2]))
    out = tmp_path / "out.safetensors"
    octavo("run", program, "--input", f"x={x}", "--input", f"params['a']={a}", "--output", out)
    np.testing.assert_array_equal(safetensors.numpy.load_file(out)["result"], [4, 5])


def test_arguments_without_names(tmp_path):
    program = write(tmp_path / "p.mlir", """
func.func @f(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.subtract %arg0, %arg1 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
""")
    a = npy(tmp_path / "a.npy", np.float32([5, 7]))
    b = npy(tmp_path / "b.npy", np.float32([1, 2]))
    octavo("run", program, "--input", f"arg1={b}", "--input", a, "--output", tmp_path / "out")
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "output0.npy"), [4, 5])


IDENTITY = """
func.func @main(%arg0: tensor<{type}> {{octavo.name = "x"}}) -> (tensor<{type}> {{octavo.name = "x"}}) {{
  return %arg0 : tensor<{type}>
}}
"""


@pytest.mark.parametrize("dtype, mlir", [
    (np.float32, "f32"), (np.float16, "f16"), (np.float64, "f64"), (np.int8, "i8"),
    (np.uint8, "ui8"), (np.int16, "i16"), (np.int32, "i32"), (np.uint32, "ui32"),
    (np.int64, "i64"), (np.uint64, "ui64"), (np.bool_, "i1"),
])  # fmt: skip
def test_arrays_go_through_unchanged(tmp_path, dtype, mlir):
    array = np.asfortranarray((np.arange(6) % 2 if dtype is np.bool_ else np.arange(6))
                              .reshape(2, 3).astype(dtype))
    program = write(tmp_path / "p.mlir", IDENTITY.format(type=f"2x3x{mlir}"))
    source = npy(tmp_path / "x.npy", array)
    octavo("run", program, "--input", source, "--output", tmp_path / "y.npy")
    octavo("run", program, "--input", source, "--output", tmp_path / "y.safetensors")
    for result in (np.load(tmp_path / "y.npy"),
                   safetensors.numpy.load_file(tmp_path / "y.safetensors")["x"]):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, array)


# What numpy.save and safetensors' own writer give is what octavo writes, byte for byte.
def test_files_are_the_bytes_of_the_reference_writers(tmp_path):
    array = random(3, 5)
    program = write(tmp_path / "p.mlir", IDENTITY.format(type="3x5xf32"))
    source = npy(tmp_path / "x.npy", array)
    reference = save(tmp_path / "reference.safetensors", x=array)
    for output, expected in ((tmp_path / "y.npy", source), (tmp_path / "y.safetensors", reference)):
        octavo("run", program, "--input", source, "--output", output)
        assert output.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("dtype, mlir", [
    ("float8_e4m3fn", "f8E4M3FN"), ("float8_e5m2", "f8E5M2"), ("float8_e8m0fnu", "f8E8M0FNU"),
    ("bfloat16", "bf16"),
])  # fmt: skip
def test_narrow_floats_go_through_safetensors(tmp_path, dtype, mlir):
    names = {"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0",
             "bfloat16": "BF16"}
    array = np.array([0.5, 1, 2, 4], dtype=getattr(ml_dtypes, dtype))
    data = array.tobytes()
    header = json.dumps({"x": {"dtype": names[dtype], "shape": [4],
                               "data_offsets": [0, len(data)]}}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    source = tmp_path / "x.safetensors"
    source.write_bytes(struct.pack("<Q", len(header)) + header + data)
    program = write(tmp_path / "p.mlir", IDENTITY.format(type=f"4x{mlir}"))
    octavo("run", program, "--input", source, "--output", tmp_path / "y.safetensors")
    assert (tmp_path / "y.safetensors").read_bytes() == source.read_bytes()
    with safetensors.safe_open(tmp_path / "y.safetensors", "np") as opened:
        assert opened.get_slice("x").get_dtype() == names[dtype]
    np.save(tmp_path / "x.npy", array)
    error = octavo("run", program, "--input", tmp_path / "x.npy", code=3)
    assert_has(error, "x.npy", "does not keep the type", "x.float8_e4m3fn.npy" if dtype != "bfloat16" else "x.bfloat16.npy")


# Packed as safetensors stores them: two F4 a byte, the low nibble first; four F6 in three bytes.
@pytest.mark.parametrize("name, mlir, codes, data", [
    ("F4", "f4E2M1FN", [1, 2, 3, 15], b"\x21\xf3"),
    ("F6_E2M3", "f6E2M3FN", [1, 34, 29, 62], b"\x81\xd8\xf9"),
    ("F6_E3M2", "f6E3M2FN", [1, 34, 29, 62], b"\x81\xd8\xf9"),
])  # fmt: skip
def test_packed_codes_go_through_safetensors(tmp_path, name, mlir, codes, data):
    source = tmp_path / "x.safetensors"
    header_file(source, "{" + entry("x", name, "[4]", 0, len(data)) + "}", data)
    program = write(tmp_path / "p.mlir", f"""
func.func @main(%arg0: tensor<4x{mlir}> {{octavo.name = "x"}})
    -> (tensor<4x{mlir}> {{octavo.name = "x"}}, tensor<4xf32> {{octavo.name = "wide"}}) {{
  %0 = stablehlo.convert %arg0 : (tensor<4x{mlir}>) -> tensor<4xf32>
  return %arg0, %0 : tensor<4x{mlir}>, tensor<4xf32>
}}
""")
    octavo("run", program, "--input", source, "--output", tmp_path / "y.safetensors")
    with safetensors.safe_open(tmp_path / "y.safetensors", "np") as opened:
        assert opened.get_slice("x").get_dtype() == name
        assert opened.get_slice("x").get_shape() == [4]
        wide = opened.get_tensor("wide")
    assert (tmp_path / "y.safetensors").read_bytes().endswith(data)
    dtype = getattr(ml_dtypes, mlir.replace("f4", "float4_").replace("f6", "float6_").lower())
    np.testing.assert_array_equal(wide, np.uint8(codes).view(dtype).astype(np.float32))


def test_extents_that_the_inputs_give(tmp_path):
    program = write(tmp_path / "p.mlir", """
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}""")
    for n in (0, 2, 5):
        x = npy(tmp_path / "x.npy", random(n, 3))
        octavo("run", program, "--input", x, "--input", x, "--output", tmp_path / "y.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 2 * np.load(x))
    other = npy(tmp_path / "other.npy", random(2, 3))
    assert_has(octavo("run", program, "--input", x, "--input", other, code=3), "stablehlo.add",
               "tensor<2x3xf32>")
    wrong = npy(tmp_path / "wrong.npy", random(2, 4))
    assert_has(octavo("run", program, "--input", wrong, "--input", x, code=3), "wrong shape",
               "f32[?, 3]", "f32[2, 4]")


def test_function_by_name(tmp_path):
    program = write(tmp_path / "p.mlir", """
func.func @one() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
func.func @two() -> tensor<f32> {
  %0 = stablehlo.constant dense<2.0> : tensor<f32>
  return %0 : tensor<f32>
}
""")
    report = json.loads(octavo("run", program, "--function", "two", "--json"))
    assert report["function"] == "two"
    assert report["outputs"][0]["mean"] == 2
    error = octavo("run", program, code=3)
    assert_has(error, "no function @main", "--function", "one, two")
    error = octavo("run", program, "--function", "tow", code=3)
    assert_has(error, "no function @tow", "did you mean two?", "one, two")


def test_text_and_json(linear):
    text = linear.run()
    assert_has(text, "output     y f32[2, 4]", "1 tensor, 160 values, 640 bytes as f32", "evaluate")
    report = json.loads(linear.run("--json"))
    expected = linear.x @ linear.w.T
    output = report["outputs"][0]
    assert (output["name"], output["type"], output["shape"]) == ("y", "f32", [2, 4])
    assert output["min"] == pytest.approx(float(expected.min()), rel=1e-5)
    assert output["max"] == pytest.approx(float(expected.max()), rel=1e-5)
    assert output["mean"] == pytest.approx(float(expected.mean()), rel=1e-4)
    assert output["non_finite"] == 0 and output["f32"] is None
    assert report["quantization"] is None and report["f32_seconds"] is None
    weights = report["weights"]
    assert (weights["tensors"], weights["values"], weights["bytes_f32"], weights["bytes"],
            weights["bits_per_value"]) == (1, 160, 640, 640, 32)
    assert weights["quantized"]["tensors"] == 0
    assert set(report["seconds"]) == {"prepare", "bind", "evaluate"}


# Quantization


def fake_quantized(values, dtype, maximum, emax, block=32):
    """Quantized in blocks along the last axis by the floor rule, and dequantized, with ml_dtypes."""
    result = np.empty_like(values)
    for row in range(values.shape[0]):
        for begin in range(0, values.shape[1], block):
            part = values[row, begin:begin + block]
            scale = 2.0 ** (np.floor(np.log2(np.abs(part).max())) - emax)
            codes = np.clip(part / scale, -maximum, maximum).astype(dtype)
            result[row, begin:begin + block] = codes.astype(np.float32) * scale
    return result


FORMATS = {
    "mxfp8_e4m3": (ml_dtypes.float8_e4m3fn, 448, 8, 8),
    "mxfp8_e5m2": (ml_dtypes.float8_e5m2, 57344, 15, 8),
    "mxfp6_e3m2": (ml_dtypes.float6_e3m2fn, 28, 4, 6),
    "mxfp6_e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 2, 6),
    "mxfp4": (ml_dtypes.float4_e2m1fn, 6, 2, 4),
}


# K = 40 is no multiple of 32: the last block is short.
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("k", [40, 64, 7])
def test_weights_and_activations_in_mx(tmp_path, name, k):
    linear = Linear(tmp_path, k=k)
    dtype, maximum, emax, bits = FORMATS[name]
    result = linear.result("--quantize", name)
    w = fake_quantized(linear.w, dtype, maximum, emax)
    x = fake_quantized(linear.x, dtype, maximum, emax)
    np.testing.assert_allclose(result, x @ w.T, rtol=1e-5, atol=1e-5)

    report = json.loads(linear.run("--quantize", name, "--json"))
    quantized = report["weights"]["quantized"]
    assert quantized["tensors"] == 1 and quantized["values"] == 4 * k
    stored = 4 * k * bits + 4 * -(-k // 32) * 8
    assert quantized["bytes"] == -(-stored // 8)
    assert quantized["bits_per_value"] == pytest.approx(stored / (4 * k))
    assert report["quantization"]["weights"] == name
    assert report["quantization"]["dots_quantized"] == 1


def test_weights_only(linear):
    result = linear.result("--quantize", "mxfp4", "--activations", "none")
    w = fake_quantized(linear.w, *FORMATS["mxfp4"][:3])
    np.testing.assert_allclose(result, linear.x @ w.T, rtol=1e-5, atol=1e-5)


def test_compare_with_f32(linear):
    report = json.loads(linear.run("--quantize", "mxfp4", "--compare", "f32", "--json"))
    a = (linear.x @ linear.w.T).astype(np.float64)
    b = linear.result("--quantize", "mxfp4").astype(np.float64)
    figures = report["outputs"][0]["f32"]
    cosine = (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())
    assert figures["cosine"] == pytest.approx(cosine, abs=1e-6)
    assert figures["relative"] == pytest.approx(np.linalg.norm(b - a) / np.linalg.norm(a), rel=1e-4)
    assert figures["max"] == pytest.approx(np.abs(b - a).max(), rel=1e-4)
    assert figures["max_index"] == list(np.unravel_index(np.abs(b - a).argmax(), a.shape))
    assert set(report["f32_seconds"]) == {"prepare", "bind", "evaluate"}
    assert_has(linear.run("--quantize", "mxfp4", "--compare", "f32"), "to f32", "cosine", "relative")


def test_compare_needs_a_quantization(linear):
    assert_has(linear.run("--compare", "f32", code=2), "--compare", "--quantize")
    assert_has(linear.run("--quantize", "mxfp4", "--compare", "f64", code=2), "f64", "f32")


def test_options_of_quantization_need_one(linear):
    assert_has(linear.run("--rule", "floor", code=2), "--rule", "requires", "--quantize")
    assert_has(linear.run("--match", "x", code=2), "--match", "requires", "--quantize")


def test_output_that_cannot_be_written(linear):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [OCTAVO, "run", linear.program, "--weights", linear.weights, "--input", linear.input],
            stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 3
    assert_has(run.stderr, "octavo: error: ", "cannot be written")
    with open("/dev/full", "w") as full:  # more than a buffer
        run = subprocess.run([OCTAVO, "formats", "--json"], stdout=full, stderr=subprocess.PIPE,
                             text=True)
    assert run.returncode == 3
    assert_has(run.stderr, "octavo: error: ", "No space left on device")


def test_programs_and_weights_are_not_written_over(linear):
    files = linear.program, linear.weights
    before = [path.read_bytes() for path in files]
    for path in files:
        for options in ("--output", path), ("--profile", path), ("--quantize", "mxfp4", "--compare", "f32", "--per-op", "--page", path):
            assert f"{path}: would overwrite what the command reads" in linear.run(*options, code=2)
    for command in ("quantize", "--format", "mxfp4"), ("convert",), ("explain",):
        said = octavo(command[0], linear.program, *command[1:], "-o", linear.program, code=2)
        assert "would overwrite what the command reads" in said
    assert [path.read_bytes() for path in files] == before


def test_a_format_that_does_not_exist(linear):
    error = linear.run("--quantize", "mxfp8_e4m4", code=2)
    assert_has(error, '"mxfp8_e4m4"', "near it: mxfp8_e4m3", "nvfp4", "fp8_block")
    error = linear.run("--quantize", "mxfp4", "--activations", "mxfp5", code=2)
    assert_has(error, '"mxfp5"', "mxfp4")
    error = linear.run("--quantize", "mxfp4", "--rule", "flor", code=2)
    assert_has(error, '"flor"', "floor", "round-up")


@pytest.mark.parametrize("value, shown", [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_nan_and_infinity_in_a_weight(tmp_path, value, shown):
    linear = Linear(tmp_path)
    linear.w[2, 33] = value
    save(linear.weights, layer__weight=linear.w)
    error = linear.run("--quantize", "mxfp8_e4m3", code=3)
    assert_has(error, "w.safetensors", '"layer.weight"', "[2, 33]", f"is {shown}", "--non-finite")
    result = linear.result("--quantize", "mxfp8_e4m3", "--non-finite", "propagate")
    assert np.isnan(result[:, 2]).all() and np.isfinite(np.delete(result, 2, axis=1)).all()
    result = linear.result("--quantize", "mxfp8_e4m3", "--non-finite", "saturate")
    assert np.isnan(result[:, 2]).all() == np.isnan(value)
    # Not quantized, they are values like any other.
    assert not np.isfinite(linear.result()[:, 2]).any()


@pytest.mark.parametrize("shape", [dict(m=0), dict(k=0), dict(n=0)])
@pytest.mark.parametrize("options", [(), ("--quantize", "mxfp4"), ("--quantize", "nvfp4")])
def test_tensors_of_no_elements(tmp_path, shape, options):
    linear = Linear(tmp_path, **shape)
    result = linear.result(*options)
    assert result.shape == (linear.x.shape[0], linear.w.shape[0])
    assert (result == 0).all()


# Weights and inputs that do not fit


def test_a_missing_weight(linear):
    save(linear.weights, layer__weigth=linear.w)
    error = linear.run(code=3)
    assert_has(error, "1 argument of @main has no value", '"layer.weight" f32[4, 40]',
               "did you mean layer.weigth?", "1 tensor is not an argument of @main")


def test_a_weight_too_many(linear):
    save(linear.weights, layer__weight=linear.w, layer__bias=random(4))
    error = linear.run(code=3)
    assert_has(error, "1 tensor is not an argument of @main", 'w.safetensors: tensor "layer.bias" F32[4]',
               "--ignore-unused")
    linear.run("--ignore-unused")


def test_a_weight_of_the_wrong_shape(linear):
    save(linear.weights, layer__weight=np.ascontiguousarray(linear.w.T))
    assert_has(linear.run(code=3), '"layer.weight"', "wrong shape",
               "expected f32[4, 40], found f32[40, 4]", "transpose it")


def test_a_weight_of_the_wrong_type(linear):
    save(linear.weights, layer__weight=linear.w.astype(np.float64))
    assert_has(linear.run(code=3), "wrong element type", "expected f32[4, 40], found f64[4, 40]")


def test_inputs_that_fit_nowhere(linear):
    files = ("--weights", linear.weights)
    error = octavo("run", linear.program, *files, code=3)
    assert_has(error, '"x" f32[2, 40]', "--input NAME=FILE.npy")
    error = octavo("run", linear.program, *files, "--input", f"z={linear.input}", code=3)
    assert_has(error, 'no argument "z"', "layer.weight, x")
    error = linear.run("--input", linear.input, code=3)
    assert_has(error, "no argument of @main is left for it")
    error = linear.run("--input", f"x={linear.input}", code=3)
    assert_has(error, "no argument of @main is left for it")
    none = linear.input.with_name("none.npy")
    error = octavo("run", linear.program, *files, "--input", f"x={none}", code=3)
    assert_has(error, "none.npy", "No such file")


def test_a_value_twice(linear):
    other = save(linear.weights.with_name("other.safetensors"), layer__weight=linear.w)
    error = linear.run("--weights", other, code=3)
    assert_has(error, '"layer.weight" of @main has two values', "w.safetensors", "other.safetensors")


def header_file(path, header, data=b"", length=None):
    text = header.encode() if isinstance(header, str) else header
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)


def entry(name, dtype, shape, begin, end):
    return f'"{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}'


GOOD = entry("layer.weight", "F32", "[4,40]", 0, 640)


@pytest.mark.parametrize("header, data, length, words", [
    ("{" + GOOD + "}", bytes(639), None, ["ends beyond the end of the file", "cut short"]),
    ("{" + GOOD + "}", bytes(640), 1 << 20, ["header length", "beyond the end of the file"]),
    ("{" + GOOD + "}", bytes(640), 1 << 62, ["header length", "100000000"]),
    ("{" + GOOD + "," + entry("b", "F32", "[1]", 636, 640) + "}", bytes(640), None,
     ['"b"', "overlaps"]),
    ("{" + GOOD + "," + entry("b", "F32", "[1]", 644, 648) + "}", bytes(648), None,
     ['"b"', "a gap"]),
    ("{" + GOOD + "," + GOOD + "}", bytes(640), None, ["occurs twice"]),
    ("{" + GOOD.replace("F32", "F33") + "}", bytes(640), None, ['"F33"', "BF16"]),
    (b"{\"\xff\"", b"", None, ["not valid JSON", "UTF-8"]),
    ("", b"", None, ["does not begin with"]),
])  # fmt: skip
def test_broken_safetensors(linear, header, data, length, words):
    header_file(linear.weights, header, data, length)
    assert_has(linear.run(code=3), "w.safetensors", *words)


def test_files_that_are_not_what_they_seem(linear, tmp_path):
    linear.input.write_bytes(b"PK\3\4 not an array")
    assert_has(linear.run(code=3), "x.npy", "not a .npy file")
    text = write(tmp_path / "x.txt", "1 2 3")
    error = octavo("run", linear.program, "--input", text, code=3)
    assert_has(error, "x.txt", "ends in .npy or .safetensors")
    error = octavo("run", linear.program, "--weights", tmp_path / "none.safetensors", code=3)
    assert_has(error, "none.safetensors", "No such file")


def test_outputs_that_cannot_be_written(linear, tmp_path):
    assert_has(linear.run("--output", tmp_path / "none" / "y.npy", code=3), "y.npy",
               "create its folder first")
    plain = write(tmp_path / "plain.txt", "no folder")
    assert_has(linear.run("--output", plain, code=3), "cannot be made a folder")


# Programs that are wrong


@pytest.mark.parametrize("text, words", [
    ("Dear octavo, please multiply.", ["not a program", "p.mlir:1:1"]),
    ("", ["no function"]),
    ("module {}", ["no function"]),
    (LINEAR.format(m=2, k=40, n=4)[:-40], ["not a program", "p.mlir:"]),
    ("func.func @main() { foo.bar }", ["not a program", "foo"]),
    ('func.func @main() { "foo.bar"() : () -> () return }', ["foo"]),
    ("func.func @main() { %0 = stablehlo.frobnicate : tensor<f32> return }", ["frobnicate"]),
    # Operand types that differ.
    ("""func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
       %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
       return %0 : tensor<2xf32> }""", ["stablehlo.add"]),
    # A broadcast dimension beyond the result's rank.
    ("""func.func @main(%a: tensor<2xf32>) -> tensor<2x3xf32> {
       %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<2xf32>) -> tensor<2x3xf32>
       return %0 : tensor<2x3xf32> }""", ["broadcast_in_dim"]),
    # Contracted dimensions of different sizes, and one that does not exist.
    ("""func.func @main(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) -> tensor<2x5xf32> {
       %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
         : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
       return %0 : tensor<2x5xf32> }""", ["dot_general"]),
    ("""func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) -> tensor<2x5xf32> {
       %0 = stablehlo.dot_general %a, %b, contracting_dims = [7] x [0]
         : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
       return %0 : tensor<2x5xf32> }""", ["dot_general"]),
    # Dot algorithms that the specification does not know: two products, and sums in f64.
    *((f"""func.func @main() -> tensor<2x5xf32> {{
       %a = stablehlo.constant dense<1.0> : tensor<2x3xf32>
       %b = stablehlo.constant dense<1.0> : tensor<3x5xf32>
       %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16,
         rhs_precision_type = bf16, accumulation_type = {sums}, lhs_component_count = 1, rhs_component_count = 1,
         num_primitive_operations = {products}, allow_imprecise_accumulation = false>
         : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
       return %0 : tensor<2x5xf32> }}""", ["dot_general", words])
      for sums, products, words in (("f32", 2, "by 2 operations, components 1 and 1, is not known"),
                                    ("f64", 1, "'bf16' x 'bf16' in 'f64'"))),
    # A reshape that changes the number of elements.
    ("""func.func @main(%a: tensor<2x3xf32>) -> tensor<7xf32> {
       %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<7xf32>
       return %0 : tensor<7xf32> }""", ["reshape"]),
    # A transpose that is no permutation.
    ("""func.func @main(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
       %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
       return %0 : tensor<2x2xf32> }""", ["transpose"]),
    # A value that nobody defines.
    ("func.func @main() -> tensor<f32> { return %x : tensor<f32> }", ["%x", "p.mlir:1:"]),
    # Two arguments of one name.
    ("""func.func @main(%a: tensor<f32> {octavo.name = "a"}, %b: tensor<f32> {octavo.name = "a"}) {
       return }""", ['"a"', "two arguments"]),
    # A rank that only a run would know.
    ("func.func @main(%a: tensor<*xf32>) { return }", ["known rank", "tensor<*xf32>"]),
    ("func.func private @main()", ["no function @main"]),
])  # fmt: skip
def test_programs_that_are_wrong(tmp_path, text, words):
    program = write(tmp_path / "p.mlir", text)
    assert_has(octavo("run", program, code=3), "p.mlir", *words)


def test_every_beginning_of_a_program(tmp_path):
    text = LINEAR.format(m=2, k=40, n=4).strip()
    for length in range(1, len(text), 7):
        octavo("run", write(tmp_path / "p.mlir", text[:length]), code=3)


def test_programs_that_are_no_text(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_bytes(b"ML\xefR\x06StableHLO_v1.8.0\0")
    assert_has(octavo("run", program, code=3), "p.mlir: not a program", "bytecode version 5313 is newer")
    program.write_bytes(bytes(range(256)) * 4)
    assert_has(octavo("run", program, code=3), "p.mlir", "not a program")
    assert_has(octavo("run", tmp_path / "none.mlir", code=3), "none.mlir", "No such file")
    assert_has(octavo("run", tmp_path, code=3), str(tmp_path))


# Programs that check themselves


def test_a_self_checking_program(tmp_path):
    good = """
func.func @sum() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}
"""
    bad = good.replace("@sum", "@wrong").replace("dense<[2.0, 4.0]>", "dense<[2.0, 5.0]>", 1)
    program = write(tmp_path / "p.mlir", good)
    assert_has(octavo("run", program), "@sum: 2 held, 0 failed")
    write(program, good + bad)
    run = subprocess.run([OCTAVO, "run", program], capture_output=True, text=True)
    assert run.returncode == 1
    assert_has(run.stdout, "@sum: 2 held, 0 failed", "@wrong: 1 held, 1 failed", "p.mlir:13:",
               "check.expect_eq_const", "[1]", "5", "4")
    assert_has(run.stderr, "octavo: error: ", "1 of 4 checks failed")
    run = subprocess.run([OCTAVO, "run", program, "--json"], capture_output=True, text=True)
    assert run.returncode == 1
    functions = json.loads(run.stdout)["functions"]
    assert [each["name"] for each in functions] == ["sum", "wrong"]
    failure = functions[1]["failed"][0]
    assert failure["index"] == [1] and failure["operation"] == "check.expect_eq_const"
    assert failure["expected"].startswith("5") and failure["found"].startswith("4")


# The command line


@pytest.mark.parametrize("arguments, words", [
    (["rnu"], ['no subcommand "rnu"', "did you mean run?"]),
    (["run", "--wieghts", "x", "p.mlir"], ["--wieghts", "did you mean --weights?"]),
    (["run"], ["PROGRAM"]),
    (["run", "a.mlir", "b.mlir"], ["b.mlir"]),
    (["run", "a.mlir", "--backend", "gpu"], ['"gpu"', "available: reference"]),
    (["run", "a.mlir", "--threads", "many"], ["many"]),
    (["run", "a.mlir", "--threads", "0"], ["--threads: Value 0 not in range 1 to 4096"]),
    (["run", "a.mlir", "--threads", "-1"], ["--threads: Value -1 not in range 1 to 4096"]),
    (["calibrate", "a.mlir", "--threads", "0"], ["--threads: Value 0 not in range 1 to 4096"]),
    (["tune", "a.mlir", "--threads", "0"], ["--threads: Value 0 not in range 1 to 4096"]),
    (["--versoin"], ["did you mean --version?"]),
])  # fmt: skip
def test_command_lines_that_are_wrong(arguments, words):
    assert_has(octavo(*arguments, code=2), *words, "--help")


def test_help_and_version():
    assert_has(octavo("--help"), "run", "quantize", "formats", "Examples:")
    assert_has(octavo("run", "--help"), "--weights", "--quantize", "Examples:")
    assert octavo("--version").startswith("octavo 0.")


def test_threads_change_no_bit(linear):
    one = linear.result("--threads", "1", "--quantize", "mxfp8_e4m3")
    np.testing.assert_array_equal(one, linear.result("--quantize", "mxfp8_e4m3"))
