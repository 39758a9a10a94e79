"""What the tests of octavo-recover-scaled and octavo explain share: codes, scales, how programs dequantize them, and runs.

Values are small integers times powers of two, whose sums are exact in any order, so that the program
before, the program after and NumPy give the same bits."""
import json
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
from commands import OCTAVO
from jax import lax

F8, E5M2, F4, E8M0 = (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float4_e2m1fn, jnp.float8_e8m0fnu)
M, K, N, BLOCK = 6, 64, 10, 32


def codes(shape, dtype=F8, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32).astype(dtype)


def scales(shape, dtype=np.float32, seed=9):
    return np.exp2(np.random.default_rng(seed).integers(-2, 3, shape)).astype(np.float32).astype(dtype)


def exponents(shape, seed=9):
    return np.random.default_rng(seed).integers(125, 130, shape).astype(np.uint8)


def power(codes):
    return np.exp2(codes.astype(np.float32) - 127)


def f32(x):
    return x.astype(jnp.float32)


def blockwise(s, shape):
    """Each scale to its block along the last axis, by broadcast and reshape, as jnp.repeat would."""
    return jnp.broadcast_to(s[..., None], (*s.shape, shape[-1] // s.shape[-1])).reshape(shape)


def shifted(s):
    return lax.bitcast_convert_type(s.astype(jnp.uint32) << 23, jnp.float32)


def on_exponents(x, e):
    """x times 2^e, by adding e to the field of its exponent, as kernels do it."""
    return jnp.where(x == 0, x, lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) + (e << 23), jnp.float32))


def cfloat8(q, exponents, trailing, bias):
    """Tesla's format by its fields: codes of u8, all of them finite."""
    field, trail = (q & 0x7F) >> trailing, f32(q & (2**trailing - 1))
    magnitude = jnp.where(field == 0, trail * 2.0**(1 - bias - trailing), jnp.ldexp(1 + trail / 2**trailing, field.astype(jnp.int32) - bias))
    bits = lax.bitcast_convert_type(magnitude, jnp.uint32) | ((q >> 7).astype(jnp.uint32) << 31)
    return lax.bitcast_convert_type(bits, jnp.float32)


def dot(a, b):
    return lax.dot_general(a, b, (((a.ndim - 1,), (0,)), ((), ())), preferred_element_type=jnp.float32)


W, WS = codes((K, N), seed=1), np.float32(0.5)


def weight():
    return f32(W) * WS


INT8 = (np.arange(M * K) % 9 - 4).astype(np.int8).reshape(M, K)
# Codes of CFloat8 1_4_3, bias 7, and of 1_5_2, bias 15: 1, -1.5, 2, the smallest subnormals, -0.
CODES_1_4_3 = np.uint8([0x38, 0xBC, 0x40, 0x01, 0x80, 0x03]), np.float32([1, -1.5, 2, 2**-9, -0.0, 3 * 2**-9])
CODES_1_5_2 = np.uint8([0x3C, 0xBE, 0x40, 0x01, 0x80, 0x03]), np.float32([1, -1.5, 2, 2**-16, -0.0, 3 * 2**-16])


def cycled(values):
    return np.resize(values, (M, K))


X = np.arange(M * K, dtype=np.float32).reshape(M, K) % 7


def expected_of_a_loop(x, q, s):
    for _ in range(3):
        x = np.sign(x @ (wide(q) * s))
    return x


def conv(x, w, strides=(1, 1), padding="SAME", **more):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    preferred_element_type=jnp.float32, **more)


def layer(x, w):
    return jnp.tanh(dot(x, w))


PRODUCT = """func.func @main(%q: tensor<6x64xf8E4M3FN>, %s: tensor<6xf32>, %x: tensor<64x10xf32>) -> tensor<6x10xf32> {{
  %0 = stablehlo.convert %q : (tensor<6x64xf8E4M3FN>) -> tensor<6x64xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<6xf32>) -> tensor<6x64xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<6x64xf32>
  %3 = {0} : (tensor<6x64xf32>, tensor<64x10xf32>) -> tensor<6x10xf32>
  return %3 : tensor<6x10xf32>
}}"""


def block_scaled_dot(scales, config, rows=6, columns=10):
    """XLA's custom call with five operands: scales of `scales` blocks, padded rows of 8 and 16."""
    types = (f"(tensor<{rows}x64xf8E4M3FN>, tensor<{columns}x64xf8E4M3FN>, tensor<8x{scales}xf8E8M0FNU>, tensor<16x{scales}xf8E8M0FNU>, tensor<f32>)"
             f" -> tensor<{rows}x{columns}xf32>")
    return f"""func.func @main(%a: tensor<{rows}x64xf8E4M3FN>, %b: tensor<{columns}x64xf8E4M3FN>, %s: tensor<8x{scales}xf8E8M0FNU>, %t: tensor<16x{scales}xf8E8M0FNU>, %g: tensor<f32>) -> tensor<{rows}x{columns}xf32> {{
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %s, %t, %g) {{backend_config = {json.dumps(config)}}} : {types}
  return %0 : tensor<{rows}x{columns}xf32>
}}"""


def run(path, arguments, folder, *options):
    inputs = []
    for i, array in enumerate(arguments):
        name = f"{i}.npy" if array.dtype.isbuiltin == 1 else f"{i}.{array.dtype.name}.npy"
        np.save(folder / name, array)
        inputs += ["--input", folder / name]
    done = subprocess.run([OCTAVO, "run", path, *inputs, "--output", folder / "out.npy", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npy")


def explain(path, *options, code=0):
    done = subprocess.run([OCTAVO, "explain", path, *options], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


def recovered(folder, function, arguments):
    """The program before and after, and what was told."""
    arguments = [np.asarray(each) for each in arguments]
    before, after = folder / "before.mlir", folder / "after.mlir"
    before.write_text(jax.jit(function).lower(*arguments).as_text())
    told = json.loads(explain(before, "--json", "-o", after).stdout)
    return arguments, before, after, told


def wide(array):
    return array.astype(np.float32) if array.dtype.kind in "Vf" or array.dtype.name.startswith(("float", "bfloat")) else array
