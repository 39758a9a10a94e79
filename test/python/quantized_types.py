"""Quantized types by the specification's formulas, on NumPy's integers and floats, and programs of
operations on them (docs/semantics.md, I25)."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

EXPRESSED = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
RANDOM = np.random.default_rng(25)


@dataclass(frozen=True)
class Type:
    """!quant.uniform of a storage, such as ui8."""

    storage: str
    scales: tuple
    zeros: tuple
    axis: int | None = None
    expressed: str = "f32"
    range: tuple | None = None

    @property
    def limits(self):
        width = int(self.storage.lstrip("ui"))
        low, high = (0, 2**width - 1) if self.storage[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
        return self.range or (low, high)

    @property
    def text(self):
        storage = self.storage.replace("ui", "u")
        storage += "<%d:%d>" % self.range if self.range else ""
        pairs = [f"{scale!r}:{zero}" for scale, zero in zip(self.scales, self.zeros)]
        if self.axis is None:
            return f"!quant.uniform<{storage}:{self.expressed}, {pairs[0]}>"
        return f"!quant.uniform<{storage}:{self.expressed}:{self.axis}, {{{', '.join(pairs)}}}>"

    def along(self, values, rank, dtype):
        shape = [1] * rank
        if self.axis is not None:
            shape[self.axis] = len(values)
        return np.array(values).astype(dtype).reshape(shape)

    def dequantize(self, codes):
        dtype = EXPRESSED[self.expressed]
        differences = codes - self.along(self.zeros, codes.ndim, np.int64)
        return differences.astype(dtype) * self.along(self.scales, codes.ndim, dtype)

    def quantize(self, numbers):
        dtype = EXPRESSED[self.expressed]
        x = np.asarray(numbers).astype(dtype)
        with np.errstate(over="ignore"):
            x = x / self.along(self.scales, x.ndim, dtype) + self.along(self.zeros, x.ndim, dtype)
        low, high = (np.array(limit).astype(dtype) for limit in self.limits)
        zeros = np.broadcast_to(self.along(self.zeros, x.ndim, np.float64), x.shape)
        x = np.where(np.isnan(x), np.clip(0, *self.limits), np.clip(np.rint(np.clip(x, low, high)).astype(np.float64), *self.limits))
        return x.astype(np.int64)

    def random(self, *shape):
        low, high = self.limits
        low, high = max(low, self.zeros[0] - 100), min(high, self.zeros[0] + 100)
        return RANDOM.integers(low, high + 1, shape)


def tensor(shape, element):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


class Program:
    """One program for all cases: each computes its results from constants."""

    def __init__(self):
        self.lines, self.results, self.expected = [], [], {}

    def value(self, text, type):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name, type

    def quantized(self, codes, type):
        shape = tensor(codes.shape, type.text)
        stored = tensor(codes.shape, type.storage)
        return self.value(f'stablehlo.constant() <{{value = dense<{codes.tolist()}> : {stored}}}> : () -> {shape}', shape)

    def floats(self, numbers, element="f32"):
        shape = tensor(numbers.shape, element)
        return self.value(f"stablehlo.constant dense<{np.asarray(numbers, np.float64).tolist()}> : {shape}", shape)

    def call(self, operation, operands, result, attributes="", regions=""):
        names, types = zip(*operands)
        return self.value(f'"stablehlo.{operation}"({", ".join(names)}){regions} {{{attributes}}} : '
                          f'({", ".join(types)}) -> {result}', result)

    def expect(self, case, found, expected, type=None):
        """`found` holds `expected`: codes of a quantized type, or numbers."""
        name, text = found
        if isinstance(type, Type):
            stored = tensor(expected.shape, type.storage)
            name, _ = self.call("bitcast_convert", [found], stored)
            name, text = self.call("convert", [(name, stored)], tensor(expected.shape, "i64"))
        assert case not in self.expected, case
        self.results.append((name, text))
        self.expected[case] = expected

    def text(self):
        names, types = zip(*self.results)
        body = "\n  ".join(self.lines)
        return (f"func.func @main() -> ({', '.join(types)}) {{\n  {body}\n"
                f"  return {', '.join(names)} : {', '.join(types)}\n}}\n")
