"""What JAX writes is read, and written again letter for letter: small functions that between them
lower to every StableHLO operation that octavo has and JAX emits."""

import os
import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.mlir

jax = pytest.importorskip("jax", reason="JAX writes the programs")
jnp = jax.numpy
lax = jax.lax

OCTAVO_OPT = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo-opt"
STABLEHLO = Path(__file__).parents[1] / "StableHLO"

X = np.zeros((2, 3), np.float32)
Y = np.zeros((3, 4), np.float32)
I = np.zeros((5,), np.int32)
U = np.zeros((2, 3), np.uint8)
B = np.zeros((2, 3), bool)
BATCH = np.zeros((2, 3, 4), np.float32)


def dot(precision):
    return lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), precision=precision)


PROGRAMS = {
    "arithmetic": (lambda x: (x + x) * x - x / x**1.5 + x % 2, X),
    "extremes": (lambda x: jnp.clip(jnp.maximum(jnp.minimum(x, 1), -x), 0, 1), X),
    "clamp": (lambda x: lax.clamp(np.float32(0), x, np.float32(1)), X),
    "clamp each": (lambda x: lax.clamp(x, x, x), X),
    "exponentials": (lambda x: (jnp.exp(x), jnp.expm1(x), jnp.log(x), jnp.log1p(x)), X),
    "curves": (lambda x: (jnp.tanh(x), lax.logistic(x), jnp.sin(x), jnp.cos(x)), X),
    "roots": (lambda x: (lax.rsqrt(x), jnp.sqrt(x), jnp.cbrt(x)), X),
    "integers of floats": (lambda x: (jnp.floor(x), jnp.ceil(x), jnp.round(x), lax.round(x)), X),
    "signs": (lambda x: (jnp.abs(x), jnp.sign(x), jnp.isfinite(x)), X),
    "complex": (lambda x: jnp.abs(x + 1j), X),
    "bits": (lambda u, b: (~u, u & 3, u | u, u ^ u, ~b, b & b), U, B),
    "compare": (lambda x, u, b: (x < 1, x >= x, x != 2, u <= 3, u == u, b == b), X, U, B),
    "select": (lambda x, b: jnp.where(b, x, 0), X, B),
    "convert": (lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.bfloat16), X),
    "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int8), X),
    "reduce precision": (lambda x: lax.reduce_precision(x, 5, 2), X),
    "constants": (lambda x: x + np.arange(6, dtype=np.float32).reshape(2, 3), X),
    "iota": (lambda: lax.broadcasted_iota(jnp.float8_e4m3, (2, 3), 1),),
    "shapes": (lambda x: (x.T, x.reshape(3, 2), x[:, None], jnp.broadcast_to(x, (4, 2, 3))), X),
    "slices": (lambda x: (x[1:], x[:, ::2], x[0:0], x[:, ::-1]), X),
    "pad": (lambda x: lax.pad(x, np.float32(0), [(1, 2, 3), (0, -1, 0)]), X),
    "concatenate": (lambda x: jnp.concatenate([x, x, x], 1), X),
    "gather": (lambda x, i: x[i], X, I),
    "gather at once": (lambda x, i: jnp.take_along_axis(x, i[None, :2], axis=1), X, I),
    "sums": (lambda x: (x.sum(), x.sum(1), x.prod(0), x.max((0, 1)), x.min(1)), X),
    "any": (lambda b: (b.any(1), b.all()), B),
    "argmax": (lambda x: jnp.argmax(x, 1), X),
    "any reducer": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a * 2 + b, (1,)), X),
    "sum of bf16": (lambda x: x.astype(jnp.bfloat16).sum(1), X),
    "dot": (lambda x, y: x @ y, X, Y),
    "dot of fp8": (lambda x, y: x.astype(jnp.float8_e4m3) @ y.astype(jnp.float8_e4m3), X, Y),
    "dot of two types": (
        lambda x, y: lax.dot_general(
            x.astype(jnp.float8_e4m3fn), y.astype(jnp.float8_e5m2), (((1,), (0,)), ((), ())),
            preferred_element_type=jnp.float32,
        ), X, Y),
    "dot, precise": (dot(lax.Precision.HIGHEST), X, Y),
    "dot, by algorithm": (dot(lax.DotAlgorithmPreset.BF16_BF16_F32_X3), X, Y),
    "batched dot": (lambda a: jnp.einsum("bij,bkj->bik", a, a), BATCH),
    "outer product": (lambda x, y: jnp.tensordot(x, y, 0), X, Y),
    "softmax": (jax.nn.softmax, X),
    "gelu": (lambda x: jax.nn.gelu(x, approximate=False), X),
    "barrier": (lambda x: lax.optimization_barrier((x, x)), X),
    "composite": (lambda x: lax.composite(lambda y, k: y * k, "my.op", version=2)(x, k=3), X),
    "custom call": (jnp.linalg.qr, X),
}


def octavo_opt(text, *flags):
    return subprocess.run(
        [OCTAVO_OPT, *flags, "-"], input=text, capture_output=True, text=True, timeout=120
    )


def without_blank_lines(text):
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_comes_back(name):
    program, *arguments = PROGRAMS[name]
    lowered = jax.jit(program).lower(*arguments)
    run = octavo_opt(lowered.as_text())
    assert run.returncode == 0, run.stderr
    assert without_blank_lines(run.stdout) == without_blank_lines(lowered.as_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_locations_come_back(name):
    program, *arguments = PROGRAMS[name]
    once = octavo_opt(jax.jit(program).lower(*arguments).as_text(debug_info=True),
                      "--mlir-print-debuginfo")
    assert once.returncode == 0, once.stderr
    assert "loc(" in once.stdout
    twice = octavo_opt(once.stdout, "--mlir-print-debuginfo")
    assert twice.stdout == once.stdout


TOKEN = re.compile(r"[A-Za-z_.$]+|\d+|\s+|.", re.S)
NUMBERS = ["-1", "0", "1", "7", "4294967296", "9223372036854775807", "-9223372036854775808",
           "18446744073709551616"]
PIECES = ["tensor<f32>", "tensor<?xf32>", "tensor<*xf32>", "f32", "tuple<>", "array<i64>", "dense<>",
          "tensor<0x3xf32>", "[", "]", "(", ")", "{", "}", "<", ">", "@f", "%x", ",", ":", '""']


def mutated(text, rng):
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(tokens))
        numbers = [i for i, token in enumerate(tokens) if token.isdigit()]
        choice = rng.random()
        if choice < 0.2:
            tokens[at] = ""
        elif choice < 0.35:
            tokens.insert(at, tokens[at])
        elif choice < 0.55:
            tokens[at] = rng.choice(tokens)
        elif choice < 0.7:
            tokens[at] = rng.choice(PIECES)
        elif choice < 0.95 and numbers:
            tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
        else:
            tokens = tokens[: max(at, 1)]
    return "".join(tokens)


def test_damaged_text_is_an_error_and_never_a_crash():
    """Damaged programs either fail with an error, or are programs that print and read as one."""
    rng = random.Random(3)
    texts = [
        part
        for file in sorted(STABLEHLO.glob("*.mlir"))
        for part in re.sub(r"//(?! -----).*", "", file.read_text()).split("// -----")
    ]
    damaged = [mutated(rng.choice(texts), rng) for _ in range(4000)]
    run = octavo_opt("\n// -----\n".join(damaged), "-split-input-file")
    assert run.returncode == 1, run.stderr[-2000:]
    assert run.stderr.count("error:") > 1000
    # MLIR's func itself prints an empty name that it cannot read.
    kept = [p for p in run.stdout.split("// -----") if p.strip() and "<<INVALID" not in p]
    assert len(kept) > 10
    again = octavo_opt("// -----".join(kept), "-split-input-file")
    assert again.returncode == 0, again.stderr[-2000:]
    assert [p.strip() for p in again.stdout.split("// -----")] == [p.strip() for p in kept]
