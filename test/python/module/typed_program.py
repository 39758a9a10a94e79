"""A user's program in which everything has a type. test_types.py has mypy read it, and runs it."""
import pathlib
from collections.abc import Mapping
from typing import Any, assert_type

import jax
import jax.numpy as jnp
import numpy as np
import octavo
import octavo.checkpoint
import octavo.jax as oj
import octavo.recipes
from numpy.typing import NDArray
from octavo import training

Batch = NDArray[np.float32]

X: Batch = np.linspace(-1, 1, 4 * 64, dtype=np.float32).reshape(4, 64)
W: Batch = np.linspace(-2, 3, 64 * 32, dtype=np.float32).reshape(64, 32)


def layer(w: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w)


def arrays(folder: pathlib.Path) -> None:
    q = octavo.quantize(X, "nvfp4", axis=-1, preset="jax", outer=0.5)
    assert_type(q, octavo.ScaledTensor)
    assert_type(q.T, octavo.ScaledTensor)
    assert_type(q.shape, tuple[int, ...])
    assert_type(q.ndim, int)
    assert_type(q.dequantize(), NDArray[np.float32])
    assert_type(q @ X.T, NDArray[np.float32])
    assert_type(octavo.matmul(X, q.T, return_amax=True), tuple[NDArray[Any], np.float32])
    assert_type(octavo.matmul(X, q.T, activation="relu"), NDArray[np.float32])
    assert_type(octavo.matmul(X, q.T, to="e4m3fn"), NDArray[Any])
    assert_type(octavo.formats()["mxfp4"].name, str)
    assert_type(octavo.convert(X, octavo.ElementFormat("e4m3fn").name), NDArray[Any])
    assert_type(octavo.pack(q.elements), NDArray[np.uint8])
    assert_type(octavo.PackedWeight(q.T).shape, tuple[int, int])
    assert_type(octavo.presets("mxfp4"), dict[str, dict[str, str]])
    assert_type(q.format.element.max, float)
    octavo.save(folder / "x.safetensors", {"q": q, "x": X})
    loaded = octavo.load(folder / "x.safetensors")
    assert_type(loaded, dict[str, octavo.ScaledTensor | NDArray[Any]])
    for row in octavo.analyze(X, "mxfp4"):
        assert_type(row.qsnr, float)
    error: ValueError = octavo.FormatError("a name that no format has")
    assert_type(str(error), str)


def checkpoints(folder: pathlib.Path) -> None:
    name = "model.layers.0.mlp.down_proj.weight"
    weight = octavo.quantize(octavo.samples("normal", 256 * 256).reshape(256, 256), "fp8_block")
    written = octavo.checkpoint.write(folder, {name: weight, "norm": X[0]}, "deepseek",
                                      config={"model_type": "llama"})
    assert_type(written, list[octavo.checkpoint.Finding])
    opened = octavo.checkpoint.open(folder)
    assert_type(opened, octavo.checkpoint.Checkpoint)
    assert_type(opened[name], octavo.ScaledTensor | NDArray[Any])
    assert_type(opened.dequantize(name), NDArray[np.float32])
    for key, value in opened.items():
        assert_type(key, str)
        assert_type(value, octavo.ScaledTensor | NDArray[Any])
    assert_type(octavo.checkpoint.config(opened), dict[str, Any] | None)
    for finding in octavo.checkpoint.lint(folder, readers=["vllm"]):
        assert_type(finding.severity, str)


def in_jax() -> None:
    s = oj.quantize(X, "mxfp4")
    assert_type(s, oj.ScaledArray)
    assert_type(s.mT, oj.ScaledArray)
    assert_type(s.shape, tuple[int, ...])
    assert_type(s @ s.T, jax.Array)
    assert_type(oj.matmul(X, oj.quantize(W, "mxfp4", axis=-2)), jax.Array)
    assert_type(oj.dequantize(s), jax.Array)
    assert_type(oj.fake_quantize(X, "mxfp4"), jax.Array)
    assert_type(oj.convert(X, "e4m3fn"), jax.Array)
    assert_type(oj.unpack(oj.pack(s.elements, "e2m1fn"), "e2m1fn"), jax.Array)
    assert_type(oj.amax(X), jax.Array)
    assert_type(s.to_tensor(), octavo.ScaledTensor)
    assert_type(oj.from_tensor(s.to_tensor()), oj.ScaledArray)
    product = oj.scaled_dot_general(X, W, (((1,), (0,)), ((), ())), configs=["mxfp8_e4m3"] * 3)
    assert_type(product, jax.Array)


def train() -> None:
    def loss(w: jax.Array, scales: training.DelayedScales, x: jax.Array) -> jax.Array:
        dot = training.delayed_dot_general(x, w, (((1,), (0,)), ((), ())), scales)
        assert_type(dot, jax.Array)
        return (dot ** 2).mean()

    scales = training.DelayedScales.initial()
    assert_type(scales, training.DelayedScales)
    assert_type(scales.scale, jax.Array)
    gradient, following = jax.grad(loss, (0, 1))(jnp.asarray(W), scales, jnp.asarray(X))
    both = training.DelayedScales.merged(following, following)
    assert_type(both, training.DelayedScales)
    loss_scale = training.LossScale.initial()
    gradients: dict[str, jax.Array] = {"w": gradient}
    assert_type(loss_scale.unscaled(gradients), dict[str, jax.Array])
    assert_type(loss_scale.updated(gradients), tuple[training.LossScale, jax.Array])
    key = jax.random.key(0)
    blocked = training.dot_general(X, W, (((1,), (0,)), ((), ())), ("mxfp8_e4m3",) * 3, key=key)
    assert_type(blocked, jax.Array)
    assert_type(training.hadamard(blocked, key), jax.Array)


def step(w: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    value, gradient = jax.value_and_grad(lambda w: (layer(w, x) ** 2).mean())(w)
    return w - 0.1 * gradient, value


def compile_and_tune(folder: pathlib.Path) -> None:
    lowered = jax.jit(layer).lower(W, X)
    weights: Mapping[str, Batch] = {"w": W}
    ranges = octavo.calibrate(lowered, [{"x": X}], weights=weights)
    assert_type(ranges, dict[str, Any])
    program = octavo.compile(lowered, weights=weights, quantize="fp8_tensor", calibration=ranges)
    assert_type(program, octavo.Program)
    result: Batch = program(X)
    program(x=X, out=np.empty_like(result))
    for argument in program.arguments:
        assert_type(argument.shape, tuple[int | None, ...])
    for dot in program.dots:
        assert_type(dot.lhs, str | None)
    assert_type(program.explain(), dict[str, Any])
    wide = octavo.compile(lowered, weights=weights)
    assert_type(wide.dot_errors(X, quantize="mxfp4"), dict[str, Any])
    assert_type(wide.dot_widths(), dict[str, Any])

    def metric(outputs: list[Any]) -> float:
        return float(np.abs(outputs[0] - result).mean())

    found = octavo.tune(lowered, {"x": X}, weights=weights, budget="metric <= 1", metric=metric,
                        formats=["mxfp8_e4m3"], state=folder / "state.json")
    assert_type(found, octavo.Tuning)
    assert_type(found.chosen.bits_per_weight, float)
    assert_type(found.dots, list[tuple[str, ...]])
    found.save(folder / "recipe.json")
    assert_type(octavo.recipes.read(folder / "recipe.json"), dict[str, Any])
    recipe = octavo.recipes.make({"weights": "mxfp8_e4m3"})
    octavo.recipes.check(recipe)
    assert_type(octavo.recipes.named(), dict[str, str])

    trained = octavo.compile(jax.jit(step).lower(W, X), recipe="fp8-delayed", parameters="^w$")
    state = training.ProgramState.initial(trained, seed=7)
    (w, value), state = state.run(trained, W, X)
    assert_type(state, training.ProgramState)


def load(folder: pathlib.Path) -> None:
    loaded = octavo.load_program(folder)
    assert_type(loaded, octavo.LoadedProgram)
    for each in loaded.results:
        assert_type(each.dtype, str)
