"""`octavo tune` beside every choice of a program of four dots and 625 choices, each compiled and run by
itself: what it chooses is the cheapest that keeps the budget, where errors do not add up too."""

import itertools

import numpy as np
import pytest

import octavo

pytestmark = pytest.mark.mlir

# Bits of a value, OCP MX table 1: an element and a 32nd of a scale.
BITS = {"f32": 32, "mxint8": 8.25, "mxfp6_e2m3": 6.25, "mxfp6_e3m2": 6.25, "mxfp4": 4.25}
FORMATS = [name for name in BITS if name != "f32"]
SIZES = {"a": (64, 32), "b": (32, 64), "c": (64, 96), "d": (96, 32)}


def dot(name, x, w, shape):
    (rows, k), n = shape, SIZES[w][1]
    return (f"  %{name} = stablehlo.dot_general %{x}, %{w}, contracting_dims = [1] x [0] : (tensor<{rows}x{k}xf32>, "
            f"tensor<{k}x{n}xf32>) -> tensor<{rows}x{n}xf32>\n")


def program(kind):
    weights = ", ".join(f'%{name}: tensor<{k}x{n}xf32> {{octavo.name = "{name}", octavo.parameter}}'
                        for name, (k, n) in SIZES.items())
    text = f'func.func @main(%x: tensor<4x64xf32> {{octavo.name = "x"}}, {weights}) -> tensor<4x32xf32> {{\n'
    text += dot("p", "x", "a", (4, 64))
    if kind == "saturating":
        text += "  %q = stablehlo.tanh %p : tensor<4x32xf32>\n" + dot("r", "q", "b", (4, 32))
        text += "  %s = stablehlo.tanh %r : tensor<4x64xf32>\n" + dot("t", "s", "c", (4, 64))
        text += "  %u = stablehlo.tanh %t : tensor<4x96xf32>\n" + dot("v", "u", "d", (4, 96))
        return text + "  return %v : tensor<4x32xf32>\n}"
    # Products of what dots give: errors multiply, and a gate lets them through or not.
    text += dot("r", "p", "b", (4, 32))
    text += "  %g = stablehlo.logistic %r : tensor<4x64xf32>\n  %s = stablehlo.multiply %g, %x : tensor<4x64xf32>\n"
    text += dot("t", "s", "c", (4, 64))
    text += "  %u = stablehlo.multiply %t, %t : tensor<4x96xf32>\n" + dot("v", "u", "d", (4, 96))
    return text + "  return %v : tensor<4x32xf32>\n}"


def worst_cosine(reference, value):
    reference, value = reference.astype(np.float64), value.astype(np.float64)
    norms = np.linalg.norm(reference, axis=-1) * np.linalg.norm(value, axis=-1)
    return ((reference * value).sum(-1) / norms).min()


@pytest.mark.parametrize("kind, seed", [("saturating", 2), ("gated", 5)])
def test_nothing_cheaper_keeps_the_budget(tmp_path, kind, seed):
    random = np.random.default_rng(seed)
    (tmp_path / "p.mlir").write_text(program(kind))
    weights = {name: (random.standard_normal(size) * 1.5 / np.sqrt(size[0])).astype(np.float32)
               for name, size in SIZES.items()}
    x = random.standard_normal((4, 64)).astype(np.float32)
    bytes_of = {name: k * n / 8 for name, (k, n) in SIZES.items()}

    def result(recipe):
        return octavo.compile(tmp_path / "p.mlir", weights=weights, recipe=recipe)(x)

    reference = octavo.compile(tmp_path / "p.mlir", weights=weights)(x)
    every = {}
    for formats in itertools.product(BITS, repeat=4):
        rules = [{"dots": name, "keep": "f32", "reason": "tried"} if each == "f32"
                 else {"dots": name, "weights": each} for name, each in zip(SIZES, formats)]
        every[formats] = (sum(BITS[each] * bytes_of[name] for name, each in zip(SIZES, formats)),
                          worst_cosine(reference, result({"rules": rules})))
    assert len(every) == 625

    for bound in (0.9, 0.97, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999):
        cheapest = min(cost for cost, cosine in every.values() if cosine >= bound)
        found = octavo.tune(tmp_path / "p.mlir", {"x": x}, budget=f"cosine >= {bound}", weights=weights,
                            formats=FORMATS, state=tmp_path / "state.json")
        assert found.is_met and found.chosen.value >= bound
        cost, cosine = every[tuple(found.chosen.formats)]
        assert found.chosen.bytes == cost and found.chosen.value == pytest.approx(cosine, abs=1e-12)
        # The goal is 3 %; of so few choices all are tried.
        assert cost <= 1.03 * cheapest and cost == cheapest, bound


def test_tries_can_be_had_or_left_out(tmp_path):
    random = np.random.default_rng(3)
    (tmp_path / "p.mlir").write_text(program("gated"))
    weights = {name: random.standard_normal(size).astype(np.float32) for name, size in SIZES.items()}
    x = random.standard_normal((4, 64)).astype(np.float32)

    def measured(tries):
        return octavo.tune(tmp_path / "p.mlir", {"x": x}, budget="cosine >= 0.99", weights=weights, formats=FORMATS,
                           tries=tries)
    none, some = measured(0), measured(10)
    assert none.measured <= some.measured <= none.measured + 10
    assert some.chosen.bytes <= none.chosen.bytes
