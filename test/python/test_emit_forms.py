"""--octavo-emit=xla-scaled-dot and xla-custom-calls: products of scaled tensors as the operations by which XLA
knows them, and back; values on the interpreter, and on XLA's CPU compiler where it takes the operations."""
import json
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from on_xla import on_xla
from scaled_programs import run as run_file
from test_reference import OCTAVO

pytestmark = pytest.mark.mlir

MX = ("f8E4M3FN", "f8E8M0FNU", 32, False)
E5M2 = ("f8E5M2", "f8E8M0FNU", 32, False)
MXFP4 = ("f4E2M1FN", "f8E8M0FNU", 32, False)
MXFP6 = ("f6E2M3FN", "f8E8M0FNU", 32, False)
NVFP4 = ("f4E2M1FN", "f8E4M3FN", 16, True)
LEVEL = ("f4E2M1FN", "f8E4M3FN", 16, False)
ROW = ("f8E4M3FN", "f32", 64, False)
NUMPY = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f4E2M1FN": ml_dtypes.float4_e2m1fn,
         "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f32": np.float32, "bf16": ml_dtypes.bfloat16}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def program(lhs, rhs, batching=False, contracting=(1, 1), result="f32"):
    """A product of arguments: codes, scales, outer scales of each side that is scaled. Its text and arguments."""
    rng = np.random.default_rng(3)
    arguments, values, body, sides, types = [], [], "", [], []
    for i, (side, rows) in enumerate(((lhs, 6), (rhs, 10))):
        axis = contracting[i]
        extents = [rows, 64] if axis == 1 else [64, rows]
        shape = [2, *extents] if batching else extents
        number = rng.integers(-4, 5, shape).astype(np.float32)
        if isinstance(side, str):
            sides.append(f"%a{len(arguments)}")
            types.append(tensor(shape, side))
            arguments.append((types[-1], number.astype(NUMPY[side])))
            values.append(number)
            continue
        element, scale, block, has_outer = side
        blocks = [1] * len(shape)
        blocks[-1 if axis == 1 else -2] = block
        grid = [extent // size for extent, size in zip(shape, blocks, strict=True)]
        kind = f"!octavo.scaled<{'x'.join(map(str, [*shape, element]))}, scale {scale}, block {blocks}{', outer f32' if has_outer else ''}>"
        parts = [(tensor(shape, element), number.astype(NUMPY[element])),
                 (tensor(grid, scale), np.exp2(rng.integers(-2, 3, grid)).astype(NUMPY[scale]))]
        value = number * np.repeat(parts[1][1].astype(np.float32), block, axis=-1 if axis == 1 else -2)
        if has_outer:
            parts.append(("tensor<f32>", np.float32(2.0 ** (i - 2))))
            value = value * parts[2][1]
        names = ", ".join(f"%a{len(arguments) + j}" for j in range(len(parts)))
        body += f"  %p{i} = octavo.pack {names} : ({', '.join(kind for kind, _ in parts)}) -> {kind}\n"
        arguments += parts
        sides.append(f"%p{i}")
        types.append(kind)
        values.append(value)
    first = int(batching)
    out = tensor([2, 6, 10] if batching else [6, 10], result)
    batches = "batching_dims = [0] x [0], " if batching else ""
    text = (f"func.func @main({', '.join(f'%a{i}: {kind}' for i, (kind, _) in enumerate(arguments))}) -> {out} {{\n{body}"
            f"  %0 = octavo.dot_general {sides[0]}, {sides[1]}, {batches}contracting_dims = [{contracting[0] + first}] x "
            f"[{contracting[1] + first}] : ({', '.join(types)}) -> {out}\n  return %0 : {out}\n}}\n")
    left, right = (value if axis == 1 else np.swapaxes(value, -1, -2) for value, axis in zip(values, contracting, strict=True))
    expected = (left @ np.swapaxes(right, -1, -2)).astype(NUMPY[result])
    return text, [array for _, array in arguments], expected


def run(folder, text, *arguments, backend="compiled"):
    path = folder / "program.mlir"
    path.write_text(text)
    return run_file(path, arguments, folder, "--backend", backend)


def opt(text, *passes):
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", *passes, "-"], input=text, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, ended.stderr


SCALED_DOTS = {
    "mx": (MX, MX), "e5m2": (E5M2, MX), "mxfp4": (MXFP4, MXFP4), "nvfp4's blocks": (LEVEL, LEVEL), "rows of f32": (ROW, ROW),
    "bf16 on the left": ("bf16", MX), "f32 on the right": (MX, "f32"),
    "columns": (MX, MX, False, (1, 0)), "batched": (MX, MX, True), "batched columns": (MX, MX, True, (0, 1)),
    "to bf16": (MX, MX, False, (1, 1), "bf16"),
}
CALLS = SCALED_DOTS | {"nvfp4": (NVFP4, NVFP4), "nvfp4 by one level": (NVFP4, LEVEL)}
# What each form does not say: a side, and what the remark has.
LEFT = {
    ("xla-scaled-dot", "an outer scale"): (NVFP4, NVFP4),
    ("xla-scaled-dot", "elements of 6 bits, which XLA has no type of"): (MX, MXFP6),
    ("xla-custom-calls", "elements of 6 bits, which XLA has no type of"): (MXFP6, MXFP6),
    ("xla-custom-calls", "blocks of two sizes"): (MX, ("f8E4M3FN", "f8E8M0FNU", 16, False)),
    ("xla-custom-calls", "an outer scale, and a side without scales"): (NVFP4, "f32"),
}
FORMS = [("xla-scaled-dot", name) for name in SCALED_DOTS] + [("xla-custom-calls", name) for name in CALLS]


@pytest.mark.parametrize("form, name", FORMS)
def test_there_and_back(form, name):
    """Products come back as they were where no operand is transposed for the call, nor the sides exchanged."""
    text, _, _ = program(*CALLS[name])
    there, told = opt(text, f"--octavo-emit={form}")
    assert "octavo." not in there and told == "", told
    assert ("composite \"xla.scaled_dot\"" if form == "xla-scaled-dot" else "@__op$block_scaled_dot") in there
    back, _ = opt(there, "--octavo-recover-scaled", "--canonicalize", "--cse", "--symbol-dce")
    assert back.count("octavo.dot_general") == 1 and "composite" not in back and "custom_call" not in back
    is_moved = form == "xla-custom-calls" and ("columns" in name or "left" in name or name == "to bf16")
    if not is_moved:
        assert back == opt(text, "--canonicalize", "--cse")[0]


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form, name", FORMS)
def test_values(tmp_path, form, name, backend):
    text, arguments, expected = program(*CALLS[name])
    there, _ = opt(text, f"--octavo-emit={form}")
    for each in (text, there):
        np.testing.assert_array_equal(run(tmp_path, each, *arguments, backend=backend).astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("name", SCALED_DOTS)
def test_xla_takes_composites_apart(name):
    text, arguments, expected = program(*CALLS[name])
    found = on_xla(opt(text, "--octavo-emit=xla-scaled-dot")[0], *arguments)[0]
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("name", CALLS)
def test_calls_have_the_form_that_jax_writes(name):
    """Operands row-major and [B,] R, K; block size as XLA reads it. JAX's parser takes them."""
    there, _ = opt(program(*CALLS[name])[0], "--octavo-emit=xla-custom-calls")
    line = next(line for line in there.splitlines() if "@__op$block_scaled_dot" in line)
    config = json.loads(json.loads(re.search(r'backend_config = ("(?:[^"\\]|\\.)*")', line)[1].replace("\\22", '\\"')))
    block = next(side[2] for side in CALLS[name][:2] if not isinstance(side, str))
    assert config == {"block_scaled_dot_backend_config": {"block_size": block}}
    rank = 3 if CALLS[name][2:3] == (True,) else 2
    layout = f"dense<[{', '.join(map(str, range(rank - 1, -1, -1)))}]> : tensor<{rank}xindex>"
    assert f"api_version = 2 : i32" in line and layout in line
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jax._src.interpreters import mlir
    with mlir.make_ir_context(), ir.Location.unknown():
        ir.Module.parse(there)


@pytest.mark.parametrize("form, reason", LEFT)
def test_what_a_form_does_not_say_is_told(tmp_path, form, reason):
    text, arguments, expected = program(*LEFT[form, reason])
    there, told = opt(text, f"--octavo-emit={form}")
    assert "octavo." not in there and "block_scaled_dot" not in there and "composite" not in there
    assert f"remark: this product is written as explicit dequantization: it has {reason}" in told
    np.testing.assert_array_equal(run(tmp_path, there, *arguments, backend="reference"), expected)


def test_dequantizations_are_calls(tmp_path):
    kind = "!octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>"
    text = f"""func.func @main(%q: tensor<4x64xf4E2M1FN>, %s: tensor<4x4xf8E4M3FN>, %o: tensor<f32>) -> tensor<4x64xf32> {{
  %p = octavo.pack %q, %s, %o : (tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, tensor<f32>) -> {kind}
  %0 = octavo.dequantize %p : {kind} -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}}"""
    there, _ = opt(text, "--octavo-emit=xla-custom-calls")
    assert there.count("@__op$dequantize") == 1 and "octavo." not in there
    rng = np.random.default_rng(0)
    q, s = rng.integers(-4, 5, (4, 64)).astype(NUMPY["f4E2M1FN"]), rng.integers(1, 9, (4, 4)).astype(NUMPY["f8E4M3FN"])
    expected = q.astype(np.float32) * np.repeat(s.astype(np.float32), 16, 1) * np.float32(0.75)
    for each in (text, there):
        np.testing.assert_array_equal(run(tmp_path, each, q, s, np.float32(0.75), backend="reference"), expected)


def quantizing(shape, element, blocks, settings='preset = "xla"', scale="f8E8M0FNU", source="f32", outer=""):
    """A function that gives codes, scales and values of what it quantizes."""
    kind = f"!octavo.scaled<{'x'.join(map(str, [*shape, element]))}, scale {scale}, block {blocks}{outer}>"
    grid = [-(-extent // block) for extent, block in zip(shape, blocks, strict=True)]
    parts = [tensor(shape, element), tensor(grid, scale)] + (["tensor<f32>"] if outer else [])
    names = ["%q", "%s", "%o"][:len(parts)]
    return f"""func.func @main(%x: {tensor(shape, source)}) -> ({tensor(shape, 'f32')}, {parts[0]}, {parts[1]}) {{
  %z = octavo.quantize %x, {settings} : {tensor(shape, source)} -> {kind}
  {', '.join(names)} = octavo.unpack %z : ({kind}) -> ({', '.join(parts)})
  %v = octavo.dequantize %z : {kind} -> {tensor(shape, 'f32')}
  return %v, %q, %s : {tensor(shape, 'f32')}, {parts[0]}, {parts[1]}
}}"""


def outputs(folder, text, x):
    (folder / "program.mlir").write_text(text)
    np.save(folder / f"x.{x.dtype.name}.npy", x)
    done = subprocess.run([OCTAVO, "run", folder / "program.mlir", "--input", folder / f"x.{x.dtype.name}.npy", "--backend", "reference",
                           "--output", folder / "out"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [np.load(next((folder / "out").glob(f"output{i}.*npy"))) for i in range(3)]


@pytest.mark.parametrize("source", ["f32", "bf16"])
@pytest.mark.parametrize("element, emax", {"f8E4M3FN": 8, "f8E5M2": 15, "f4E2M1FN": 2}.items())
@pytest.mark.parametrize("blocks", [[1, 32], [32, 1], [1, 1, 32]])
def test_quantizations_are_calls(tmp_path, element, emax, blocks, source):
    shape = {(1, 32): [8, 64], (32, 1): [64, 8], (1, 1, 32): [2, 3, 64]}[tuple(blocks)]
    text = quantizing(shape, element, blocks, source=source)
    there, told = opt(text, "--octavo-emit=xla-custom-calls")
    assert there.count("@__op$quantize") == 1 and "octavo." not in there and told == ""
    rng = np.random.default_rng(8)
    x = (rng.standard_normal(shape) * np.exp2(rng.integers(-100, 100, shape[:1] + [1] * (len(shape) - 1)))).astype(NUMPY[source])
    axis = next(i for i, block in enumerate(blocks) if block > 1)
    zeros = tuple(slice(0, block) if i == axis else 1 for i, block in enumerate(blocks))
    x[zeros] = 0
    cut = [each for i, extent in enumerate(shape) for each in ((extent // blocks[i], blocks[i]) if i == axis else (extent,))]
    wide = x.astype(np.float64)
    amax = np.abs(wide.reshape(cut)).max(axis + 1)
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log2(amax)) - emax
    nearest = np.where(amax >= 1.5 * np.exp2(exponent + emax), exponent + 1, exponent)
    scale = np.where(amax == 0, np.nan, np.exp2(nearest))
    spread = np.repeat(scale, blocks[axis], axis)
    codes = (wide / spread).astype(np.float32).astype(NUMPY[element])
    for each in (text, there):
        values, q, s = outputs(tmp_path, each, x)
        np.testing.assert_array_equal(s.view(NUMPY["f8E8M0FNU"]).astype(np.float64), scale)
        np.testing.assert_array_equal(values, (codes.astype(np.float64) * spread).astype(np.float32))
        there_is = ~np.isnan(spread)
        np.testing.assert_array_equal(q.view(NUMPY[element])[there_is].view(np.uint8), codes[there_is].view(np.uint8))


@pytest.mark.parametrize("says, text", {
    "has the scale rule floor, XLA's call nearest": quantizing([8, 64], "f8E4M3FN", [1, 32], "rule = floor"),
    "has other settings than XLA's call, which makes NaN of blocks of zeros": quantizing([8, 64], "f8E4M3FN", [1, 32], "rule = nearest"),
    "has scales amax / 448, XLA's call amax / 2^8": quantizing([8, 64], "f8E4M3FN", [1, 64], "rule = nearest", "f32"),
    "has an outer scale": quantizing([8, 64], "f4E2M1FN", [1, 16], "rule = nearest", "f8E4M3FN", outer=", outer f32"),
    "has elements of 6 bits, which XLA has no type of": quantizing([8, 64], "f6E2M3FN", [1, 32], "rule = nearest"),
    "has elements of int8": quantizing([8, 64], "i8", [1, 32], "rule = nearest"),
    "has the scale rule ceil, XLA's call nearest": quantizing([8, 60], "f8E4M3FN", [1, 32], "rule = ceil"),
}.items())
def test_quantizations_that_are_no_calls(tmp_path, says, text):
    there, told = opt(text, "--octavo-emit=xla-custom-calls")
    assert f"remark: this quantization is written as arithmetic: it {says}" in told and "op$quantize" not in there
    shape = [int(each) for each in re.search(r"%x: tensor<([\dx]+)x", text)[1].split("x")]
    x = np.random.default_rng(3).uniform(-3, 3, shape).astype(np.float32)
    x[1] = 0
    for before, after in zip(outputs(tmp_path, text, x), outputs(tmp_path, there, x), strict=True):
        np.testing.assert_array_equal(before, after)


def test_nothing_is_no_call(tmp_path):
    """XLA's call has no blocks to divide there; arithmetic gives nothing of nothing."""
    text, told = opt(quantizing([0, 64], "f8E4M3FN", [1, 32]), "--octavo-emit=xla-custom-calls")
    assert "__op$quantize" not in text and "it has no elements" in told
    assert [array.shape for array in outputs(tmp_path, text, np.zeros((0, 64), np.float32))] == [(0, 64), (0, 64), (0, 2)]


@pytest.mark.parametrize("backend", ["reference", "compiled"])
def test_quantized_sides_there_and_back(tmp_path, backend):
    """A wide program, quantized, written for XLA and recovered, multiplies the same scaled tensors."""
    text = """func.func @main(%x: tensor<6x64xf32>, %w: tensor<64x10xf32>) -> tensor<6x10xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x64xf32>, tensor<64x10xf32>) -> tensor<6x10xf32>
  return %0 : tensor<6x10xf32>
}"""
    narrow, _ = opt(text, "--octavo-quantize-dots=weights=mxfp8_e4m3 preset=xla both-activations")
    there, told = opt(narrow, "--octavo-emit=xla-custom-calls")
    assert there.count("@__op$quantize") == 2 and there.count("@__op$block_scaled_dot") == 1 and "written as" not in told
    back, _ = opt(there, "--octavo-recover-scaled")
    assert "octavo.dot_general" in back and "block_scaled_dot" not in back
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((6, 64)).astype(np.float32), rng.standard_normal((64, 10)).astype(np.float32)

    def quantized(blocks):
        scale = np.exp2(np.rint(np.log2(np.abs(blocks).max(-1, keepdims=True) / 1.0606602) - 8))
        return (blocks / scale).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * scale
    expected = quantized(x.astype(np.float64).reshape(6, 2, 32)).reshape(6, 64) @ quantized(w.T.astype(np.float64).reshape(10, 2, 32)).reshape(10, 64).T
    for each in (there, back):
        np.testing.assert_allclose(run(tmp_path, each, x, w, backend=backend), expected, rtol=1e-5, atol=1e-5)


def test_two_forms_at_once_are_refused():
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-emit=qdq xla-scaled-dot", "-"],
                           input="module {}", capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0 and "octavo-emit: writes one form: qdq, xla-scaled-dot or xla-custom-calls" in ended.stderr
