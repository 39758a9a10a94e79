"""Programs of users of JAX, each a function with its inputs: what write.py exports.

Inputs and outputs are of types that .npy has; narrow types live inside. `tolerance` is relative to
the largest output value; 0 asks for the same bits. `shapes` are those of a program exported for
dimensions that have only names; the inputs give them their extents. `platform` is what the program
is written for; XLA computes its outputs on the CPU all the same.
"""
import functools
from typing import Callable, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P


class Program(NamedTuple):
    function: Callable
    inputs: tuple
    tolerance: float = 2e-6
    shapes: tuple | None = None
    platform: str = "cpu"


PROGRAMS = {}


def program(*inputs, tolerance=2e-6, name=None, shapes=None, platform="cpu"):
    def add(function):
        PROGRAMS[name or function.__name__] = Program(function, inputs, tolerance, shapes, platform)
        return function
    return add


def normal(*shape, seed=0, scale=1.0):
    return (np.random.default_rng([seed, *shape]).standard_normal(shape) * scale).astype(np.float32)


def integers(low, high, *shape, seed=0, dtype=np.int32):
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


KEY = np.array([17, 42], np.uint32)
X, Y = normal(4, 8), normal(8, 6, seed=1)


# Networks.

def layers(*sizes):
    return [(normal(a, b, seed=i, scale=a ** -0.5), normal(b, seed=i + 50, scale=0.1))
            for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]


MLP = layers(8, 16, 16, 4)


def mlp_of(parameters, x, activation=jax.nn.gelu):
    for weight, bias in parameters[:-1]:
        x = activation(x @ weight + bias)
    return x @ parameters[-1][0] + parameters[-1][1]


@program(MLP, X)
def mlp(parameters, x):
    return mlp_of(parameters, x)


for activation in (jax.nn.relu, jax.nn.silu, jax.nn.elu, jax.nn.softplus, jax.nn.leaky_relu, jax.nn.selu,
                   jax.nn.celu, jax.nn.hard_swish, jax.nn.mish, jax.nn.log_sigmoid, jnp.tanh):
    program(MLP, X, name=f"mlp_{activation.__name__}")(
        lambda parameters, x, activation=activation: mlp_of(parameters, x, activation))


def loss_of(parameters, x, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(mlp_of(parameters, x)), labels[:, None], 1))


LABELS = integers(0, 4, 4)
program(MLP, X, LABELS, name="mlp_loss_and_gradients")(jax.value_and_grad(loss_of))


@program(MLP, jax.tree.map(np.zeros_like, MLP), jax.tree.map(np.zeros_like, MLP), np.int32(3), X, LABELS,
         tolerance=1e-5)
def adam_step(parameters, mean, square, step, x, labels):
    gradients = jax.grad(loss_of)(parameters, x, labels)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradients)
    t = step.astype(jnp.float32) + 1
    def update(p, m, v):
        return p - 1e-3 * (m / (1 - 0.9 ** t)) / (jnp.sqrt(v / (1 - 0.999 ** t)) + 1e-8)
    return jax.tree.map(update, parameters, mean, square), mean, square, step + 1


@program(MLP, X, LABELS, tolerance=1e-5)
def momentum_training(parameters, x, labels):
    def step(state, _):
        parameters, speed = state
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, labels)
        speed = jax.tree.map(lambda s, g: 0.9 * s + g, speed, gradients)
        return (jax.tree.map(lambda p, s: p - 0.05 * s, parameters, speed), speed), loss
    return lax.scan(step, (parameters, jax.tree.map(jnp.zeros_like, parameters)), length=5)[1]


def convolve(x, kernel, stride=1, padding="SAME", groups=1, dilation=1):
    return lax.conv_general_dilated(x, kernel, (stride, stride), padding, rhs_dilation=(dilation, dilation),
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups)


def pool(x, size=2):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, size, size, 1), "VALID")


IMAGES = normal(2, 8, 8, 3)
CNN = {"first": normal(3, 3, 3, 8, scale=0.2), "second": normal(3, 3, 8, 8, seed=1, scale=0.1),
       "scale": np.ones(8, np.float32), "shift": np.zeros(8, np.float32), "head": normal(8, 4, scale=0.3)}


def batch_norm(x, scale, shift):
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


def cnn_of(parameters, x):
    x = pool(jax.nn.relu(batch_norm(convolve(x, parameters["first"]), parameters["scale"], parameters["shift"])))
    return jax.nn.relu(convolve(x, parameters["second"])).mean((1, 2)) @ parameters["head"]


program(CNN, IMAGES, tolerance=1e-5, name="cnn_batch_norm_pooling")(cnn_of)
program(CNN, IMAGES, tolerance=3e-5, name="cnn_gradients")(
    jax.grad(lambda parameters, x: jnp.sum(cnn_of(parameters, x) ** 2)))


@program(IMAGES, normal(3, 3, 1, 6, scale=0.3))
def depthwise_convolution(x, kernel):
    return convolve(x, kernel, groups=3)


@program(IMAGES, normal(3, 3, 3, 4, scale=0.3))
def dilated_convolution(x, kernel):
    return convolve(x, kernel, dilation=2)


@program(IMAGES, normal(3, 3, 3, 4, scale=0.3))
def strided_convolution(x, kernel):
    return convolve(x, kernel, stride=2, padding="VALID")


@program(IMAGES, normal(3, 3, 3, 4, scale=0.3))
def transposed_convolution(x, kernel):
    return lax.conv_transpose(x, kernel, (2, 2), "SAME")


@program(normal(2, 16, 4), normal(5, 4, 6, scale=0.3))
def convolution_1d(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1,), [(4, 0)], dimension_numbers=("NWC", "WIO", "NWC"))


@program(IMAGES)
def average_pooling(x):
    ones = lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / ones


program(IMAGES, name="pooling_gradient", tolerance=0)(jax.grad(lambda x: jnp.sum(pool(x) * 2)))


@program(IMAGES)
def bilinear_resize(x):
    return jax.image.resize(x, (2, 12, 5, 3), "bilinear")


LSTM = (normal(6, 32, scale=0.3), normal(8, 32, seed=1, scale=0.3), normal(32, seed=2, scale=0.1))


@program(LSTM, normal(5, 2, 6))
def lstm_by_scan(parameters, inputs):
    from_input, from_hidden, bias = parameters
    def cell(state, x):
        hidden, memory = state
        i, f, g, o = jnp.split(x @ from_input + hidden @ from_hidden + bias, 4, axis=-1)
        memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
        return (hidden, memory), hidden
    start = jnp.zeros((2, 8)), jnp.zeros((2, 8))
    return lax.scan(cell, start, inputs)


@program(normal(6, 12, scale=0.3), normal(4, 12, seed=1, scale=0.3), normal(5, 2, 6))
def gru_backwards(from_input, from_hidden, inputs):
    def cell(hidden, x):
        r, z, n = jnp.split(x @ from_input, 3, axis=-1)
        hr, hz, hn = jnp.split(hidden @ from_hidden, 3, axis=-1)
        z = jax.nn.sigmoid(z + hz)
        hidden = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn) + z * hidden
        return hidden, hidden
    return lax.scan(cell, jnp.zeros((2, 4)), inputs, reverse=True)[1]


# Attention.

def attention_of(q, k, v, mask=None):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(np.float32)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


Q, K, V = (normal(2, 5, 2, 4, seed=s) for s in range(3))
program(Q, K, V, name="attention")(attention_of)


@program(Q, K, V)
def causal_attention(q, k, v):
    return attention_of(q, k, v, jnp.tril(jnp.ones((5, 5), bool)))


program(Q, K, V, name="attention_gradients", tolerance=1e-5)(
    jax.grad(lambda q, k, v: jnp.sum(attention_of(q, k, v) ** 2), (0, 1, 2)))


@program(Q, K, V)
def dot_product_attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@program(normal(2, 1, 2, 4), np.zeros((2, 8, 2, 4), np.float32), np.zeros((2, 8, 2, 4), np.float32), np.int32(3))
def attention_with_kv_cache(x, keys, values, position):
    keys = lax.dynamic_update_slice(keys, x * 2, (0, position, 0, 0))
    values = lax.dynamic_update_slice(values, x + 1, (0, position, 0, 0))
    seen = jnp.arange(8) <= position
    return attention_of(x, keys, values, seen[None, None, None]), keys, values


@program(normal(1, 8), normal(8, 8, scale=0.3))
def decoding_with_kv_cache(x, weight):
    def step(state, position):
        x, rows = state
        rows = lax.dynamic_update_slice(rows, x @ weight, (position, 0))
        scores = jnp.where(jnp.arange(6) <= position, (x @ rows.T)[0], -jnp.inf)
        x = jax.nn.softmax(scores)[None] @ rows
        return (x, rows), x
    return lax.scan(step, (x, jnp.zeros((6, 8))), jnp.arange(6))


@program(normal(3, 8), normal(8), normal(8, seed=1))
def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


@program(normal(3, 8), normal(8))
def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


@program(normal(2, 6, 2, 8))
def rotary_embedding(x):
    angle = jnp.arange(6.0)[:, None] * 10000.0 ** (-jnp.arange(0, 4.0) / 4)
    a, b = jnp.split(x, 2, axis=-1)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


@program(normal(10, 6), integers(0, 10, 3, 4))
def embedding(table, tokens):
    return table[tokens]


program(normal(10, 6), integers(0, 10, 3, 4), name="embedding_gradient", tolerance=0)(
    jax.grad(lambda table, tokens: jnp.sum(table[tokens] * 2)))


@program(normal(6, 8), normal(8, 4), normal(4, 8, 8, scale=0.3))
def mixture_of_experts(x, router, experts):
    weights, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    out = jnp.einsum("td,edf->tef", x, experts)
    return jnp.einsum("tk,tkf->tf", weights, jnp.take_along_axis(out, chosen[..., None], 1))


# Sampling and random numbers.

@program(KEY, normal(3, 10))
def categorical(key, logits):
    return jax.random.categorical(jax.random.wrap_key_data(key), logits)


@program(KEY, normal(3, 10))
def top_k_sampler(key, logits):
    values, places = lax.top_k(logits, 4)
    drawn = jax.random.categorical(jax.random.wrap_key_data(key), values)
    return jnp.take_along_axis(places, drawn[:, None], 1)


@program(KEY, normal(2, 10))
def top_p_sampler(key, logits):
    order = jnp.argsort(-logits, axis=-1)
    probabilities = jax.nn.softmax(jnp.take_along_axis(logits, order, -1))
    kept = jnp.cumsum(probabilities, -1) - probabilities < 0.8
    drawn = jax.random.categorical(jax.random.wrap_key_data(key), jnp.where(kept, jnp.log(probabilities), -jnp.inf))
    return jnp.take_along_axis(order, drawn[:, None], 1)


for name, draw in {
        "uniform": lambda key: jax.random.uniform(key, (7,)),
        "normal": lambda key: jax.random.normal(key, (7,)),
        "bits": lambda key: jax.random.bits(key, (7,)),
        "randint": lambda key: jax.random.randint(key, (7,), -5, 100),
        "bernoulli": lambda key: jax.random.bernoulli(key, 0.3, (9,)),
        "permutation": lambda key: jax.random.permutation(key, 9),
        "split": lambda key: jax.random.key_data(jax.random.split(key, 3)),
        "gumbel": lambda key: jax.random.gumbel(key, (7,)),
        "truncated_normal": lambda key: jax.random.truncated_normal(key, -1.0, 2.0, (7,)),
        "gamma": lambda key: jax.random.gamma(key, 2.5, (4,)),
        "poisson": lambda key: jax.random.poisson(key, 3.0, (6,))}.items():
    exact = name in ("bits", "randint", "bernoulli", "permutation", "split", "poisson")
    program(KEY, name=f"random_{name}", tolerance=0 if exact else 3e-6)(
        lambda key, draw=draw: draw(jax.random.wrap_key_data(key)))


@program(KEY, X)
def dropout(key, x):
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.7, x.shape)
    return jnp.where(kept, x / 0.7, 0)


# FFT and complex numbers.

SIGNAL = normal(2, 16)


@program(SIGNAL, tolerance=1e-5)
def low_pass_filter(x):
    spectrum = jnp.fft.rfft(x)
    return jnp.fft.irfft(jnp.where(jnp.arange(9) < 4, spectrum, 0))


@program(SIGNAL, normal(2, 16, seed=1), tolerance=1e-5)
def fft_convolution(x, y):
    return jnp.real(jnp.fft.ifft(jnp.fft.fft(x) * jnp.fft.fft(y)))


@program(normal(4, 6), tolerance=1e-5)
def fft_2d(x):
    z = jnp.fft.fft2(x)
    return jnp.real(z), jnp.imag(z)


@program(X, normal(4, 8, seed=3), tolerance=1e-5)
def complex_functions(re, im):
    z = re + 1j * im
    parts = [jnp.exp(z), jnp.sqrt(z), jnp.log(z), jnp.sin(z), jnp.tanh(z), z ** 2.5, 1 / z, z * jnp.conj(z)]
    return [(jnp.real(p), jnp.imag(p)) for p in parts] + [jnp.abs(z), jnp.angle(z)]


@program(np.float32(-0.5), np.float32(0.4))
def mandelbrot(re, im):
    c = re + 1j * im
    def body(state):
        z, n = state
        return z * z + c, n + 1
    return lax.while_loop(lambda s: (jnp.abs(s[0]) < 2) & (s[1] < 50), body, (jnp.complex64(0), 0))[1]


# Linear algebra.

SQUARE = normal(5, 5) + 3 * np.eye(5, dtype=np.float32)
POSITIVE = (SQUARE @ SQUARE.T).astype(np.float32)

program(POSITIVE, name="cholesky", tolerance=1e-5)(jnp.linalg.cholesky)
program(SQUARE, normal(5, 3), name="solve", tolerance=1e-5)(jnp.linalg.solve)
program(SQUARE, name="inverse", tolerance=1e-5)(jnp.linalg.inv)
program(SQUARE, name="determinant", tolerance=1e-5)(jnp.linalg.det)
program(POSITIVE, name="eigenvalues_symmetric", tolerance=1e-5)(jnp.linalg.eigvalsh)
program(normal(5, 3), name="singular_values", tolerance=1e-5)(
    functools.partial(jnp.linalg.svd, compute_uv=False))
program(SQUARE * 0.2, name="matrix_exponential", tolerance=1e-5)(jax.scipy.linalg.expm)


@program(POSITIVE, normal(5, 2), tolerance=1e-5)
def cholesky_solve(a, b):
    return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a), True), b)


@program(np.tril(SQUARE), normal(5, 2), tolerance=1e-5)
def triangular_solve(a, b):
    return jax.scipy.linalg.solve_triangular(a, b, lower=True)


@program(normal(5, 3), tolerance=1e-5)
def projection_by_qr(a):
    q, r = jnp.linalg.qr(a)
    return q @ q.T, q @ r


@program(SQUARE, tolerance=1e-5)
def power_iteration(a):
    def step(v, _):
        v = a @ v
        return v / jnp.linalg.norm(v), None
    v = lax.scan(step, jnp.ones(5), length=30)[0]
    return v @ a @ v


@program(POSITIVE, normal(5), tolerance=1e-5)
def conjugate_gradients(a, b):
    return jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, maxiter=5)[0]


# Loops and branches.

@program(np.float32(2.0))
def newton_with_early_exit(x):
    def body(state):
        guess, _, n = state
        better = 0.5 * (guess + x / guess)
        return better, jnp.abs(better - guess), n + 1
    return lax.while_loop(lambda s: (s[1] > 1e-6) & (s[2] < 30), body, (x, jnp.float32(1), 0))


@program(integers(0, 100, 12), np.int32(37), tolerance=0)
def binary_search(values, wanted):
    ordered = jnp.sort(values)
    def body(state):
        low, high = state
        middle = (low + high) // 2
        return lax.cond(ordered[middle] < wanted, lambda: (middle + 1, high), lambda: (low, middle))
    return lax.while_loop(lambda s: s[0] < s[1], body, (0, 12))[0], jnp.searchsorted(ordered, wanted)


@program(X, np.int32(2))
def switch(x, i):
    return lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * v], x)


@program(integers(0, 2, 8, 8), tolerance=0)
def game_of_life(board):
    def turn(board, _):
        near = sum(jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        board = ((near == 3) | ((board == 1) & (near == 2))).astype(jnp.int32)
        return board, board.sum()
    return lax.scan(turn, board, length=4)


@program(normal(64), tolerance=1e-5)
def associative_scan(x):
    return lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x * 0.5, x))[1]


@program(np.float32(1.0), normal(3), tolerance=1e-5)
def runge_kutta(t, y):
    def slope(t, y):
        return jnp.array([y[1], -y[0] + y[2], -0.1 * y[2] * t])
    def step(state, _):
        t, y = state
        a = slope(t, y)
        b = slope(t + 0.05, y + 0.05 * a)
        c = slope(t + 0.05, y + 0.05 * b)
        d = slope(t + 0.1, y + 0.1 * c)
        return (t + 0.1, y + 0.1 / 6 * (a + 2 * b + 2 * c + d)), y
    return lax.scan(step, (t, y), length=10)


# Data movement, sorting, indexing.

@program(normal(6, 5))
def sort_by_columns(x):
    return jnp.sort(x, 0), jnp.argsort(x, 1), jnp.median(x, 1)


@program(integers(0, 6, 20), tolerance=0)
def histogram(x):
    return jnp.bincount(x, length=6), jnp.cumsum(x), jnp.cumprod(x % 3 + 1), jnp.unique(x, size=6)


@program(normal(12), integers(0, 4, 12))
def segments(x, of):
    return jax.ops.segment_sum(x, of, 4), jax.ops.segment_max(x, of, 4)


@program(X, integers(0, 4, 6), integers(0, 8, 6), tolerance=0)
def indexing(x, i, j):
    return x[i, j], x.at[i, j].set(0), x.at[i].max(1.0), x[::-1, 1::2], jnp.pad(x, ((1, 0), (0, 2)), mode="edge")


@program(normal(4, 6), tolerance=0)
def movement(x):
    return (jnp.roll(x, 2, 1), jnp.flip(x), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 0), jnp.rot90(x),
            x.reshape(2, 2, 3, 2).transpose(2, 0, 3, 1), jnp.triu(x), jnp.stack([x, x], 1))


@program(normal(3, 4), normal(4, 5), normal(2, 3, 4, seed=1))
def einsum(a, b, c):
    return jnp.einsum("ij,jk->ki", a, b), jnp.einsum("bij,ij->b", c, a), jnp.einsum("bij,bkj->bik", c, c)


@program(X)
def statistics(x):
    return x.mean(), x.std(0), x.var(1), jnp.quantile(x, 0.3), jax.nn.logsumexp(x, 1), x.argmax(1), jnp.any(x > 2)


@program(X, tolerance=4e-6)
def special_functions(x):
    s = jax.scipy.special
    positive = jnp.abs(x) + 0.1
    return (s.erf(x), s.erfc(x), s.gammaln(positive), s.digamma(positive), s.i1e(x), s.expit(x), s.logit(s.expit(x)),
            s.xlogy(positive, positive), s.zeta(positive + 1.5, 2.0), s.entr(positive), s.ndtri(s.expit(x)))


@program(X, tolerance=1e-5)
def jacobian_and_hessian(x):
    f = lambda v: jnp.sum(jnp.tanh(v) ** 3)
    return jax.jacfwd(jnp.sin)(x[0]), jax.hessian(f)(x[1])


@program(normal(3, 8), normal(3, 8, seed=1))
def mapped_function(x, y):
    return jax.vmap(lambda a, b: jnp.outer(a, b) @ b)(x, y)


# Narrow types inside.

for name, dtype in {"e4m3fn": jnp.float8_e4m3fn, "e5m2": jnp.float8_e5m2, "e4m3fnuz": jnp.float8_e4m3fnuz,
                    "e4m3b11fnuz": jnp.float8_e4m3b11fnuz, "e3m4": jnp.float8_e3m4, "e4m3": jnp.float8_e4m3,
                    "e2m1fn": jnp.float4_e2m1fn, "bf16": jnp.bfloat16, "f16": jnp.float16}.items():
    program(normal(4, 32), normal(32, 3, seed=1), tolerance=0, name=f"{name}_fake_quantized")(
        lambda x, w, dtype=dtype: (x.astype(dtype).astype(jnp.float32), (w * 0.1).astype(dtype).astype(jnp.float32)))


@program(normal(4, 32), normal(32, 3, seed=1), tolerance=1e-6)
def fp8_dot(x, w):
    sx, sw = jnp.max(jnp.abs(x)) / 448, jnp.max(jnp.abs(w)) / 448
    product = lax.dot_general((x / sx).astype(jnp.float8_e4m3fn), (w / sw).astype(jnp.float8_e4m3fn),
                              (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)
    return product * (sx * sw)


@program(normal(4, 64), normal(64, 3, seed=1), tolerance=1e-6)
def mxfp8_blocks(x, w):
    def quantized(v):
        blocks = v.reshape(-1, 32, v.shape[-1])
        scale = 2.0 ** (jnp.floor(jnp.log2(jnp.abs(blocks).max(1, keepdims=True))) - 8)
        return ((blocks / scale).astype(jnp.float8_e4m3fn).astype(jnp.float32) * scale).reshape(v.shape)
    return quantized(x.T).T @ quantized(w)


@program(integers(-8, 8, 3, 8), integers(-8, 8, 8, 4, seed=1), tolerance=0)
def int4_arithmetic(x, y):
    a, b = x.astype(jnp.int4), y.astype(jnp.int4)
    return ((a + a).astype(jnp.int32), (a * a).astype(jnp.int32), (a // jnp.int4(3)).astype(jnp.int32),
            (b - jnp.int4(1)).astype(jnp.int32), jnp.maximum(a, -a).astype(jnp.int32))


@program(integers(-128, 128, 3, 8), integers(-128, 128, 8, 4, seed=1), tolerance=0)
def int8_matmul(x, y):
    return lax.dot_general(x.astype(jnp.int8), y.astype(jnp.int8), (((1,), (0,)), ((), ())),
                           preferred_element_type=jnp.int32)


@program(integers(0, 2**31 - 1, 8), tolerance=0)
def bit_tricks(x):
    u = x.astype(jnp.uint32)
    return (lax.population_count(u), lax.clz(u), u << 3, u >> jnp.uint32(5), lax.bitcast_convert_type(x, jnp.float32) * 0,
            (x ^ 0x5555) & ~(x >> 1), x.astype(jnp.int8), x.astype(jnp.uint16))


@program(normal(8), tolerance=0)
def reduced_precision(x):
    return lax.reduce_precision(x, 5, 10), lax.reduce_precision(x, 8, 7), lax.nextafter(x, jnp.zeros_like(x))


# Dimensions that have only names.

@program(normal(3, 8), normal(8, 4), shapes=("b, 8", "8, 4"), tolerance=1e-5)
def symbolic_softmax(x, w):
    return jax.nn.softmax(x @ w, axis=-1).mean(0)


@program(normal(2, 6, 4), shapes=("b, 2*n, 4",))
def symbolic_halves(x):
    a, b = jnp.split(x, 2, axis=1)
    return (a * b).reshape(-1, 4).sum(0), jnp.arange(x.shape[1], dtype=jnp.float32) / x.shape[0]


@program(normal(7, 3), normal(5, 3, seed=1), shapes=("m, d", "n, d"), tolerance=1e-5)
def symbolic_distances(x, y):
    return jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)), jnp.concatenate([x, y])[1:-1]


@program(normal(2, 5, 2, 4), shapes=("b, t, 2, 4",))
def symbolic_attention(x):
    t = x.shape[1]
    return attention_of(x, x, x, jnp.tril(jnp.ones((t, t), bool)))


# Four devices (write.py has eight): arrays are whole on the outside, in pieces inside. mesh() is asked for when a program
# is traced, so that reading this file needs no devices.

def mesh(order=(0, 1, 2, 3), **axes):
    devices = np.array(jax.devices())[list(order)].reshape(tuple(axes.values()))
    return jax.sharding.Mesh(devices, tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))


def sharded(function, mesh, ins, outs, **options):
    return jax.shard_map(function, mesh=mesh, in_specs=tuple(P(*axes) for axes in ins), out_specs=P(*outs), **options)


RING = [(i, (i + 1) % 4) for i in range(4)]


@program(normal(8, 6))
def sharded_sum(x):
    return sharded(lambda part: lax.psum(part, "d"), mesh(d=4), [("d",)], ())(x)


@program(normal(8, 12), normal(12, 5), tolerance=1e-5)
def sharded_product(x, w):
    """Columns of x by rows of w: each device has a part of every sum."""
    return sharded(lambda a, b: lax.psum_scatter(a @ b, "d", tiled=True), mesh(d=4), [(None, "d"), ("d",)], ("d",))(x, w)


@program(normal(8, 4))
def sharded_ring(x):
    def turn(part):
        total = part
        for _ in range(3):
            part = lax.ppermute(part, "d", RING)
            total = total * 0.5 + part
        return total + lax.axis_index("d").astype(jnp.float32)
    return sharded(turn, mesh(d=4), [("d",)], ("d",))(x)


@program(normal(8, 8), tolerance=0)
def sharded_transpose(x):
    return sharded(lambda part: lax.all_to_all(part, "d", 1, 0, tiled=True), mesh(d=4), [("d",)], (None, "d"))(x)


@program(normal(8, 6))
def sharded_square(x):
    """Two axes: rows along one, columns along the other."""
    return sharded(lambda part: lax.all_gather(part, "b", axis=1, tiled=True) + lax.axis_index("a"), mesh(a=2, b=2),
                   [("a", "b")], ("a", None), check_vma=False)(x)


@program(normal(8, 6))
def sharded_in_another_order(x):
    return sharded(lambda part: lax.ppermute(part, "d", RING) + lax.axis_index("d").astype(jnp.float32),
                   mesh((2, 0, 3, 1), d=4), [("d",)], ("d",))(x)


@program(normal(8, 6))
def sharded_along_one_of_two(x):
    return sharded(lambda part: lax.psum(part, "a") * 2, mesh(a=2, b=2), [("a",)], (), axis_names={"a"})(x)


@program(normal(8, 6), tolerance=1e-5)
def sharded_in_a_loop(x):
    def step(_, v):
        return sharded(lambda part: part + lax.pmean(part, "d"), mesh(d=4), [("d",)], ("d",))(v)
    return lax.fori_loop(0, 3, step, x)


@program(normal(8, 6), tolerance=1e-5)
def sharded_attention(x):
    scores = sharded(lambda part: part @ lax.all_gather(part, "d", tiled=True).T, mesh(d=4), [("d",)], ("d",))(x)
    return sharded(lambda part: jax.nn.softmax(part, axis=1), mesh(d=4), [("d",)], ("d",))(scores)


@program(normal(8, 6), tolerance=0)
def sharding_constraint(x):
    layout = jax.sharding.NamedSharding(mesh(a=2, b=2), P("a", None))
    return lax.with_sharding_constraint(x * 2, layout)


@program(normal(8, 6), shapes=("4*n, m",))
def sharded_symbolic(x):
    """Extents that the parts compute with are operands of the computation."""
    def gathered(part):
        whole = lax.all_gather(part, "d", axis=1, tiled=True)
        return whole + jnp.arange(whole.shape[1], dtype=jnp.float32)
    return sharded(gathered, mesh(d=4), [("d",)], ("d",), check_vma=False)(x)


# Groups of rows, each with weights of its own. For a TPU or a GPU JAX prints chlo.ragged_dot (in
# jax.export's container a composite of it), for the gradient of the weights in its second mode.

GROUPS = np.array([3, 0, 5, 2], np.int32)


@program(normal(12, 6), normal(4, 6, 5, seed=1), GROUPS, tolerance=1e-5, platform="tpu")
def ragged_experts(x, w, sizes):
    def loss(x, w):
        y = jax.lax.ragged_dot(x, w, sizes)
        return (y * y).sum(), y
    gradients, y = jax.grad(loss, argnums=(0, 1), has_aux=True)(x, w)
    return y, *gradients


@program(normal(3, 5, 6), normal(3, 6, 4, seed=1), np.array([2, 1], np.int32), tolerance=1e-5, platform="cuda")
def ragged_batches(x, w, sizes):
    """The third mode: what is ragged are the batches."""
    axes = lax.RaggedDotDimensionNumbers((((2,), (1,)), ((0,), (0,))), [0], [])
    return lax.ragged_dot_general(x, w, sizes, axes)


# A manual computation within another, along other axes of the mesh.

@program(normal(4, 8))
def sharded_within_sharded(x):
    def inner(part):
        return part + lax.psum(part, "b") * 0.5 + lax.axis_index("b").astype(jnp.float32)
    def outer(part):
        rest = jax.shard_map(inner, in_specs=P(None, "b"), out_specs=P(None, "b"), axis_names={"b"})(part)
        return rest + lax.psum(part, "a") + lax.axis_index("a").astype(jnp.float32)
    return jax.shard_map(outer, mesh=mesh((2, 0, 3, 1), a=2, b=2), in_specs=P("a"), out_specs=P("a"), axis_names={"a"})(x)


@program(normal(8, 8), normal(8, 4, seed=1), tolerance=1e-5)
def sharded_within_a_loop(x, w):
    """The inner computation is a function's, and each turn has it once."""
    @jax.jit
    def product(part, w):
        return jax.shard_map(lambda a, b: lax.psum(a @ b, "b"), in_specs=(P(None, "b"), P("b")), out_specs=P(),
                             axis_names={"b"})(part, w)
    def outer(part, w):
        def step(i, v):
            return v * 0.5 + lax.ppermute(jnp.tanh(product(v, w)) @ w.T, "a", [(0, 1), (1, 0)])
        return lax.fori_loop(0, 3, step, part)
    return jax.shard_map(outer, mesh=mesh(a=2, b=2), in_specs=(P("a"), P()), out_specs=P("a"), axis_names={"a"},
                         check_vma=False)(x, w)


@program(normal(4, 6, 8), tolerance=0)
def sharded_three_deep(x):
    """Of eight devices; the innermost moves parts along its axis, the outer ones along theirs."""
    def shift(part, axis):
        return lax.ppermute(part, axis, [(0, 1), (1, 0)])
    def innermost(part):
        return shift(part, "c") + lax.axis_index("c").astype(jnp.float32)
    def inner(part):
        rest = jax.shard_map(innermost, in_specs=P(None, None, "c"), out_specs=P("c"), axis_names={"c"})(part)
        return shift(rest, "b") + 10 * lax.axis_index("b").astype(jnp.float32)
    def outer(part):
        rest = jax.shard_map(inner, in_specs=P(None, "b"), out_specs=P(None, "b"), axis_names={"b"})(part)
        return shift(rest, "a") + 100 * lax.axis_index("a").astype(jnp.float32)
    return jax.shard_map(outer, mesh=mesh(range(8), a=2, b=2, c=2), in_specs=P("a"), out_specs=P("a"), axis_names={"a"})(x)
