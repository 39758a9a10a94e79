"""--octavo-emit=xla-scaled-dot and xla-custom-calls: products of scaled tensors as the operations by which XLA
knows them, and back; values on the interpreter, and on XLA's CPU compiler where it takes the operations."""
import json
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from test_recover_scaled import run as run_file
from test_reference import OCTAVO

pytestmark = pytest.mark.mlir

MX = ("f8E4M3FN", "f8E8M0FNU", 32, False)
E5M2 = ("f8E5M2", "f8E8M0FNU", 32, False)
MXFP4 = ("f4E2M1FN", "f8E8M0FNU", 32, False)
NVFP4 = ("f4E2M1FN", "f8E4M3FN", 16, True)
LEVEL = ("f4E2M1FN", "f8E4M3FN", 16, False)
ROW = ("f8E4M3FN", "f32", 64, False)
NUMPY = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f4E2M1FN": ml_dtypes.float4_e2m1fn,
         "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f32": np.float32, "bf16": ml_dtypes.bfloat16}


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
    jax = pytest.importorskip("jax")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jax._src.interpreters import mlir
    from jaxlib import xla_client

    text, arguments, expected = program(*CALLS[name])
    with mlir.make_ir_context(), ir.Location.unknown():
        text = str(ir.Module.parse(opt(text, "--octavo-emit=xla-scaled-dot")[0]))
    device = jax.devices("cpu")[0]
    executable = device.client.compile_and_load(text.encode(), xla_client.DeviceList((device,)), xla_client.CompileOptions())
    found = np.asarray(executable.execute([jax.device_put(array, device) for array in arguments])[0])
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


def test_two_forms_at_once_are_refused():
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-emit=qdq xla-scaled-dot", "-"],
                           input="module {}", capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0 and "octavo-emit writes one form: qdq, xla-scaled-dot or xla-custom-calls" in ended.stderr
