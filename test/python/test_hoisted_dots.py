"""Dots of a loop that run once, before it: with the bits of dots that stand one by one, and of the interpreter."""
import re

import ml_dtypes
import numpy as np
import pytest
from test_compiled import outputs

pytestmark = pytest.mark.mlir
N = 24


def shaped(shape, element):
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def index(text, size, axis, rank):
    return ", ".join(text if i == axis else "%z" for i in range(rank))


class Loop:
    """`for i in range(first, limit): out[i - first] = dot(x, at(i))`, whose body takes a part of %x at %at."""

    def __init__(self, shape, axis=0, size=1, first=0, limit=None, at="", step=None, element="f32", result="f32",
                 weight=None, isRight=False, count=1):
        self.shape, self.axis, self.size, self.element, self.result = shape, axis, size, element, result
        self.first, self.at, self.weight = first, at or "%at = stablehlo.add %i, %z : tensor<i32>", weight or element
        self.limit = first + shape[axis] if limit is None else limit
        self.rounds = max(0, self.limit - first)
        self.isRight, self.count = isRight, count
        self.part = [size if i == axis else n for i, n in enumerate(shape)]
        self.side = [n for i, n in enumerate(self.part) if size != 1 or i != axis]
        free = self.side[:-1]
        self.product = [N, *free] if isRight else [*free, N]

    def dot(self, name, part, weight):
        depth, rank = self.shape[-1], len(self.side)
        side, w = shaped(self.side, self.element), shaped([depth, N], self.weight)
        types = (f"({w}, {side})", f"{weight}, {part}", f"[0] x [{rank - 1}]") if self.isRight else (
            f"({side}, {w})", f"{part}, {weight}", f"[{rank - 1}] x [0]")
        return (f"    {name} = stablehlo.dot_general {types[1]}, contracting_dims = {types[2]} : "
                f"{types[0]} -> {shaped(self.product, self.result)}\n")

    def taken(self, name, text):
        part = shaped(self.part, self.element)
        reshape = f"    {name} = stablehlo.reshape {name}p : ({part}) -> {shaped(self.side, self.element)}\n"
        return f"    {name}p = {text}\n{reshape}"

    def head(self, results):
        weights = "".join(f", %w{k}: {shaped([self.shape[-1], N], self.weight)}" for k in range(self.count))
        return f"func.func @main(%x: {shaped(self.shape, self.element)}{weights}) -> ({', '.join(results)}) {{\n"

    def text(self):
        """As a loop."""
        stack, out = shaped(self.shape, self.element), [max(1, self.rounds), *self.product]
        zeros = ", ".join(["%z"] * len(self.product))
        starts = ", ".join("%at" if i == self.axis else "%z" for i in range(len(self.shape)))
        scalars = ", ".join(["tensor<i32>"] * len(self.shape))
        body = self.taken("%part", f"stablehlo.dynamic_slice %x, {starts}, sizes = {self.part} : "
                                   f"({stack}, {scalars}) -> {shaped(self.part, self.element)}")
        one = shaped([1, *self.product], self.result)
        outs = shaped(out, self.result)
        for k in range(self.count):
            body += self.dot(f"%d{k}", "%part", f"%w{k}")
            body += f"    %e{k} = stablehlo.reshape %d{k} : ({shaped(self.product, self.result)}) -> {one}\n"
            body += (f"    %n{k} = stablehlo.dynamic_update_slice %o{k}, %e{k}, %to, {zeros} : ({outs}, {one}, "
                     f"{', '.join(['tensor<i32>'] * len(out))}) -> {outs}\n")
        carried = "".join(f", %o{k} = %none" for k in range(self.count))
        types = ", ".join(["tensor<i32>"] + [outs] * self.count)
        results = ", ".join(f"%r#{k + 1}" for k in range(self.count))
        return (self.head([outs] * self.count) + f"""  %z = stablehlo.constant dense<0> : tensor<i32>
  %first = stablehlo.constant dense<{self.first}> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : {outs}
  %r:{self.count + 1} = stablehlo.while(%i = %first{carried}) : {types}
   cond {{
    %end = stablehlo.constant dense<{self.limit}> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<{self.shape[self.axis]}> : tensor<i32>
    %to = stablehlo.subtract %i, %first : tensor<i32>
    {self.at}
{body}    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, {', '.join(f'%n{k}' for k in range(self.count))} : {types}
  }}
  return {results} : {', '.join([outs] * self.count)}
}}
""")

    def oneByOne(self, starts):
        """Without a loop."""
        lines, given = "", [[] for _ in range(self.count)]
        for t, start in enumerate(starts):
            ranges = ", ".join(f"{start}:{start + self.size}" if i == self.axis else f"0:{n}"
                               for i, n in enumerate(self.shape))
            lines += self.taken(f"%p{t}", f"stablehlo.slice %x [{ranges}] : ({shaped(self.shape, self.element)}) -> "
                                          f"{shaped(self.part, self.element)}")
            for k in range(self.count):
                lines += self.dot(f"%d{t}_{k}", f"%p{t}", f"%w{k}")
                given[k].append(f"%d{t}_{k}")
        names = [name for each in given for name in each]
        types = [shaped(self.product, self.result)] * len(names)
        return self.head(types) + lines + f"  return {', '.join(names)} : {', '.join(types)}\n}}\n"

    def inputs(self, draw):
        kinds = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}
        return [draw(self.shape).astype(kinds[self.element]),
                *(draw([self.shape[-1], N]).astype(kinds[self.weight]) for _ in range(self.count))]


def isHoisted(folder, count):
    """Whether all dots stand before the loop, or none does."""
    before, _, body = (folder / "dump/1-after-passes.mlir").read_text().partition("stablehlo.while")
    found = [len(re.findall(r"dot_general", text)) for text in (before, body)]
    assert found in ([count, 0], [0, count]), found
    return found[0] == count


ROUNDS = "%at = stablehlo.subtract %i, %first : tensor<i32>"
BACKWARDS = """%b = stablehlo.subtract %n, %i : tensor<i32>
    %at = stablehlo.subtract %b, %one : tensor<i32>"""
WRAPPED = """%low = stablehlo.compare LT, %i, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %up = stablehlo.add %i, %n : tensor<i32>
    %at = stablehlo.select %low, %up, %i : tensor<i1>, tensor<i32>"""
BY_THREE = """%three = stablehlo.constant dense<3> : tensor<i32>
    %at = stablehlo.multiply %i, %three : tensor<i32>"""
WIDENED = """%w = stablehlo.convert %i : (tensor<i32>) -> tensor<i64>
    %at = stablehlo.convert %w : (tensor<i64>) -> tensor<i32>"""
LOOPS = {  # and where each round's part begins, and whether it is hoisted
    "a scan": (Loop([5, 2, 48]), range(5), True),
    "one row": (Loop([7, 40]), range(7), True),
    "two rounds": (Loop([2, 3, 48]), range(2), True),
    "backwards": (Loop([5, 2, 48], at=BACKWARDS), range(4, -1, -1), True),
    "an index that may be negative": (Loop([5, 2, 48], at=WRAPPED), range(5), True),
    "another integer": (Loop([5, 2, 48], at=WIDENED), range(5), True),
    "from another number": (Loop([5, 2, 48], first=3, at=ROUNDS), range(5), True),
    "from below zero": (Loop([5, 2, 48], first=-3, limit=2, at=ROUNDS), range(5), True),
    "some of the stack": (Loop([9, 2, 48], first=3, limit=8), range(3, 8), True),
    "some of it backwards": (Loop([9, 2, 48], first=1, limit=8, at=BACKWARDS), range(7, 0, -1), True),
    "the axis in the middle": (Loop([2, 5, 48], axis=1), range(5), True),
    "three rows a round": (Loop([15, 48], size=3, limit=5, at=BY_THREE), range(0, 15, 3), True),
    "on the right": (Loop([5, 2, 48], isRight=True), range(5), True),
    "two products": (Loop([5, 2, 48], count=2), range(5), True),
    "bf16": (Loop([5, 2, 64], element="bf16"), range(5), True),
    "bf16 to bf16": (Loop([5, 2, 64], element="bf16", result="bf16"), range(5), True),
    "f16": (Loop([5, 2, 64], element="f16", result="f16"), range(5), True),
    "no round": (Loop([5, 2, 48], limit=0), range(0), False),
    "one round": (Loop([5, 2, 48], limit=1), range(1), False),
    "beyond the stack, clamped": (Loop([5, 2, 48], first=2, limit=7), [2, 3, 4, 4, 4], False),
    "before the stack, clamped": (Loop([5, 2, 48], first=-2, limit=3), [0, 0, 0, 1, 2], False),
    "an index of both signs": (Loop([5, 2, 48], first=-2, limit=3, at=WRAPPED), [3, 4, 0, 1, 2], False),
    "parts that overlap": (Loop([7, 48], size=3, limit=5), range(5), False),
    "many rows": (Loop([3, 32, 192]), range(3), False),
    "a short sum": (Loop([5, 2, 4]), range(5), False),
}


@pytest.mark.parametrize("name", LOOPS)
def test_what_rounds_multiply(name, tmp_path):
    """Random numbers have the bits of the products one by one, and small integers, of exact sums, NumPy's."""
    loop, starts, hoisted = LOOPS[name]
    (tmp_path / "loop.mlir").write_text(loop.text())
    (tmp_path / "single.mlir").write_text(loop.oneByOne(starts))
    random = np.random.default_rng(5)
    inputs = loop.inputs(random.standard_normal)
    found = outputs(tmp_path / "loop.mlir", inputs, tmp_path, "compiled", "--dump", tmp_path / "dump")
    assert isHoisted(tmp_path, loop.count) == hoisted
    wanted = outputs(tmp_path / "single.mlir", inputs, tmp_path, "compiled") if len(starts) else []
    assert [a.tobytes() for each in found for a in each[:loop.rounds]] == [b.tobytes() for b in wanted]

    x, *weights = loop.inputs(lambda shape: random.integers(-3, 4, shape))
    for backend in ("compiled", "reference"):
        for out, w in zip(outputs(tmp_path / "loop.mlir", [x, *weights], tmp_path, backend), weights, strict=True):
            assert out.shape[0] == max(1, loop.rounds)
            for t, start in enumerate(starts):
                part = np.take(x, range(start, start + loop.size), loop.axis).reshape(loop.side).astype(np.float32)
                product = part @ w.astype(np.float32)
                product = np.moveaxis(product, -1, 0) if loop.isRight else product
                np.testing.assert_array_equal(out[t].astype(np.float32), product.astype(out.dtype).astype(np.float32))


NESTED = """
func.func @main(%x: tensor<3x4x2x48xf32>, %w: tensor<24x48xf32>) -> tensor<2x24xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<2x24xf32>
  %r:3 = stablehlo.while(%j = %z, %s = %none, %v = %w) : tensor<i32>, tensor<2x24xf32>, tensor<24x48xf32>
   cond {
    %end = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %j, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %p = stablehlo.dynamic_slice %x, %j, %z, %z, %z, sizes = [1, 4, 2, 48] : (tensor<3x4x2x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x2x48xf32>
    %xs = stablehlo.reshape %p : (tensor<1x4x2x48xf32>) -> tensor<4x2x48xf32>
    %q:3 = stablehlo.while(%i = %z, %a = %s, %u = %v) : tensor<i32>, tensor<2x24xf32>, tensor<24x48xf32>
     cond {
      %end = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %t = stablehlo.transpose %u, dims = [1, 0] : (tensor<24x48xf32>) -> tensor<48x24xf32>
      %o = stablehlo.dynamic_slice %xs, %i, %z, %z, sizes = [1, 2, 48] : (tensor<4x2x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x48xf32>
      %y = stablehlo.reshape %o : (tensor<1x2x48xf32>) -> tensor<2x48xf32>
      %d = stablehlo.dot_general %y, %t, contracting_dims = [1] x [0] : (tensor<2x48xf32>, tensor<48x24xf32>) -> tensor<2x24xf32>
      %h = stablehlo.subtract %d, %a : tensor<2x24xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %h, %u : tensor<i32>, tensor<2x24xf32>, tensor<24x48xf32>
    }
    %next = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %next, %q#1, %q#2 : tensor<i32>, tensor<2x24xf32>, tensor<24x48xf32>
  }
  return %r#1 : tensor<2x24xf32>
}
"""


def test_loops_within_loops(tmp_path):
    """One dot before both, of a weight that is transposed within."""
    program = tmp_path / "nested.mlir"
    program.write_text(NESTED)
    random = np.random.default_rng(6)
    x = random.integers(-3, 4, (3, 4, 2, 48)).astype(np.float32)
    w = random.integers(-3, 4, (24, 48)).astype(np.float32)
    found, = outputs(program, [x, w], tmp_path, "compiled", "--dump", tmp_path / "dump")
    assert isHoisted(tmp_path, 1)
    wanted = np.zeros((2, 24), np.float32)
    for part in x.reshape(12, 2, 48):
        wanted = part @ w.T - wanted
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(outputs(program, [x, w], tmp_path, "reference")[0], wanted)


def scaledLoop(rows, element, scale, block, columns, outer=""):
    """Rounds that quantize what they take and the weight alike."""
    def scaled(m):
        return f"!octavo.scaled<{m}x128x{element}, scale {scale}, block [1, {block}]{outer}>"
    rule = "floor" if scale == "f8E8M0FNU" else "nearest"
    part, product = f"tensor<1x{rows}x128xf32>", f"tensor<{rows}x{columns}xf32>"
    return f"""
func.func @main(%x: tensor<3x{rows}x128xf32>, %w: tensor<{columns}x128xf32>) -> {product} {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : {product}
  %r:2 = stablehlo.while(%i = %z, %s = %none) : tensor<i32>, {product}
   cond {{
    %end = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %p = stablehlo.dynamic_slice %x, %i, %z, %z, sizes = [1, {rows}, 128] : (tensor<3x{rows}x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {part}
    %a = stablehlo.reshape %p : ({part}) -> tensor<{rows}x128xf32>
    %q = octavo.quantize %a, rule = {rule} : tensor<{rows}x128xf32> -> {scaled(rows)}
    %v = octavo.quantize %w, rule = {rule} : tensor<{columns}x128xf32> -> {scaled(columns)}
    %d = octavo.dot_general %q, %v, contracting_dims = [1] x [1] : ({scaled(rows)}, {scaled(columns)}) -> {product}
    %h = stablehlo.subtract %d, %s : {product}
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %h : tensor<i32>, {product}
  }}
  return %r#1 : {product}
}}
"""


@pytest.mark.parametrize("rows,element,scale,block,hoisted", [
    (1, "f4E2M1FN", "f8E8M0FNU", 32, True), (5, "i8", "f8E8M0FNU", 32, True), (3, "f6E2M3FN", "f8E8M0FNU", 32, True),
    (4, "f4E2M1FN", "f8E4M3FN", 16, True), (16, "f8E4M3FN", "f8E8M0FNU", 32, False), (1, "f8E5M2", "f32", 128, False)])
def test_what_rounds_quantize(rows, element, scale, block, hoisted, tmp_path):
    """Integers have the interpreter's bits. Sums of few rows of 8-bit floats have an order of their own: these stay."""
    program = tmp_path / "scaled.mlir"
    program.write_text(scaledLoop(rows, element, scale, block, 40))
    random = np.random.default_rng(7)
    inputs = [random.standard_normal(shape, np.float32) for shape in [(3, rows, 128), (40, 128)]]
    found, = outputs(program, inputs, tmp_path, "compiled", "--dump", tmp_path / "dump")
    assert isHoisted(tmp_path, 1) == hoisted
    wanted, = outputs(program, inputs, tmp_path, "reference")
    if hoisted:
        assert found.tobytes() == wanted.tobytes()
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_scale_of_all_rows_is_of_each_round(tmp_path):
    """NVFP4's outer scale is that of what a round takes."""
    program = tmp_path / "outer.mlir"
    program.write_text(scaledLoop(4, "f4E2M1FN", "f8E4M3FN", 16, 40, ", outer f32"))
    random = np.random.default_rng(8)
    x = random.standard_normal((3, 4, 128), np.float32) * np.array([1, 100, 0.01], np.float32)[:, None, None]
    inputs = [x, random.standard_normal((40, 128), np.float32)]
    found, = outputs(program, inputs, tmp_path, "compiled", "--dump", tmp_path / "dump")
    assert not isHoisted(tmp_path, 1)
    assert found.tobytes() == outputs(program, inputs, tmp_path, "reference")[0].tobytes()
