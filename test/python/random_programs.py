"""Programs drawn at random, of operations whose bits every backend must have: differential tests."""
import math
import random

TYPES = ("f32", "bf16", "i32", "ui8", "i1")


def tensor(shape, element):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


class Program:
    """A function @main of two arguments, and all values that nobody uses as its results."""

    def __init__(self, seed, operations=24):
        self.random = random.Random(seed)
        self.lines, self.values, self.count = [], [], 0
        shape = [self.extent() for _ in range(self.random.randint(1, 3))]
        self.arguments = [(shape, "f32"), ([self.random.randint(1, 4)], "i32")]
        self.values = [(f"%arg{i}", *kind) for i, kind in enumerate(self.arguments)]
        while self.count < operations:
            getattr(self, self.random.choice(STEPS))()
        self.results = self.values[-6:]

    def extent(self):
        return self.random.choice((0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 33))

    def pick(self, *types):
        fitting = [value for value in self.values if not types or value[2] in types]
        return self.random.choice(fitting) if fitting else None

    def emit(self, text, shape, element):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"    {name} = {text}")
        self.values.append((name, list(shape), element))
        return self.values[-1]

    def like(self, shape, element):
        """A value of that shape and type: one that there is, or a constant."""
        fitting = [value for value in self.values if value[1] == list(shape) and value[2] == element]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        literal = {"f32": "0x3FC00000", "bf16": "0xBFC0", "i32": "-3", "ui8": "5", "i1": "true"}[element]
        return self.emit(f"stablehlo.constant dense<{literal}> : {tensor(shape, element)}", shape, element)

    def binary(self):
        name, shape, element = self.pick()
        if element == "i1":
            operation = self.random.choice(("and", "or", "xor", "add", "maximum", "minimum"))
        else:
            names = ["add", "subtract", "multiply", "maximum", "minimum", "divide"]
            names += ["and", "or", "xor", "shift_left", "remainder"] if element in ("i32", "ui8") else []
            operation = self.random.choice(names)
        other = self.like(shape, element)[0]
        pair = (name, other) if self.random.random() < 0.5 else (other, name)
        self.emit(f"stablehlo.{operation} {pair[0]}, {pair[1]} : {tensor(shape, element)}", shape, element)

    def unary(self):
        name, shape, element = self.pick("f32", "bf16", "i32")
        names = ["negate", "abs", "sign"] + (["floor", "sqrt", "rsqrt", "ceil", "round_nearest_even"]
                                             if element != "i32" else [])
        self.emit(f"stablehlo.{self.random.choice(names)} {name} : {tensor(shape, element)}", shape, element)

    def compare_and_select(self):
        name, shape, element = self.pick("f32", "bf16", "i32", "ui8")
        kind = {"f32": "FLOAT", "bf16": "FLOAT", "i32": "SIGNED", "ui8": "UNSIGNED"}[element]
        direction = self.random.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
        other = self.like(shape, element)[0]
        of = tensor(shape, element)
        predicate = self.emit(f"stablehlo.compare {direction}, {name}, {other}, {kind} : ({of}, {of}) -> "
                              f"{tensor(shape, 'i1')}", shape, "i1")[0]
        self.emit(f"stablehlo.select {predicate}, {name}, {other} : {tensor(shape, 'i1')}, {of}", shape, element)

    def convert(self):
        name, shape, element = self.pick()
        to = self.random.choice([each for each in TYPES if each != element])
        self.emit(f"stablehlo.convert {name} : ({tensor(shape, element)}) -> {tensor(shape, to)}", shape, to)

    def bits(self):
        """Of integers as floats; the other way about the bits of a NaN would be seen."""
        name, shape, _ = self.pick("i32")
        self.emit(f"stablehlo.bitcast_convert {name} : ({tensor(shape, 'i32')}) -> {tensor(shape, 'f32')}", shape, "f32")

    def broadcast(self):
        name, shape, element = self.pick()
        if len(shape) > 3:
            return
        place = self.random.randint(0, len(shape))
        new = [*shape[:place], self.random.randint(1, 5), *shape[place:]]
        dims = [axis for axis in range(len(new)) if axis != place]
        self.emit(f"stablehlo.broadcast_in_dim {name}, dims = {dims} : ({tensor(shape, element)}) -> "
                  f"{tensor(new, element)}", new, element)

    def transpose(self):
        name, shape, element = self.pick()
        order = self.random.sample(range(len(shape)), len(shape))
        new = [shape[axis] for axis in order]
        self.emit(f"stablehlo.transpose {name}, dims = {order} : ({tensor(shape, element)}) -> "
                  f"{tensor(new, element)}", new, element)

    def reshape(self):
        name, shape, element = self.pick()
        size = 1
        for extent in shape:
            size *= extent
        divisors = [d for d in range(1, size + 1) if size % d == 0] or [0]
        first = self.random.choice(divisors)
        new = [first, size // first if first else 1]
        self.emit(f"stablehlo.reshape {name} : ({tensor(shape, element)}) -> {tensor(new, element)}", new, element)

    def slice(self):
        name, shape, element = self.pick()
        ranges, new = [], []
        for extent in shape:
            begin = self.random.randint(0, extent)
            end = self.random.randint(begin, extent)
            step = self.random.randint(1, 3)
            ranges.append(f"{begin}:{end}:{step}")
            new.append((end - begin + step - 1) // step)
        self.emit(f"stablehlo.slice {name} [{', '.join(ranges)}] : ({tensor(shape, element)}) -> "
                  f"{tensor(new, element)}", new, element)

    def reverse(self):
        name, shape, element = self.pick()
        axes = sorted(self.random.sample(range(len(shape)), self.random.randint(0, len(shape))))
        self.emit(f"stablehlo.reverse {name}, dims = {axes} : {tensor(shape, element)}", shape, element)

    def pad(self):
        name, shape, element = self.pick()
        low = [self.random.randint(-1, 2) if extent > 1 else self.random.randint(0, 2) for extent in shape]
        high = [self.random.randint(0, 2) for _ in shape]
        inner = [self.random.randint(0, 1) for _ in shape]
        new = [l + h + extent + max(extent - 1, 0) * i for l, h, i, extent in zip(low, high, inner, shape)]
        value = self.like([], element)[0]
        self.emit(f"stablehlo.pad {name}, {value}, low = {low}, high = {high}, interior = {inner} : "
                  f"({tensor(shape, element)}, {tensor([], element)}) -> {tensor(new, element)}", new, element)

    def concatenate(self):
        name, shape, element = self.pick()
        if not shape:
            return
        axis = self.random.randrange(len(shape))
        other = self.like(shape, element)[0]
        new = list(shape)
        new[axis] *= 2
        of = tensor(shape, element)
        self.emit(f"stablehlo.concatenate {name}, {other}, dim = {axis} : ({of}, {of}) -> {tensor(new, element)}",
                  new, element)

    def reduce(self):
        name, shape, element = self.pick()
        operation = self.random.choice(("maximum", "minimum") + (("add",) if element in ("i32", "ui8") else ()))
        axes = sorted(self.random.sample(range(len(shape)), self.random.randint(0, len(shape))))
        new = [extent for axis, extent in enumerate(shape) if axis not in axes]
        initial = self.like([], element)[0]
        self.emit(f"stablehlo.reduce({name} init: {initial}) applies stablehlo.{operation} across dimensions = {axes} : "
                  f"({tensor(shape, element)}, {tensor([], element)}) -> {tensor(new, element)}", new, element)

    def whole(self, name, shape):
        """A value's numbers rounded to small integers, whose products have sums that are exact in any order."""
        low, high = (self.emit(f"stablehlo.constant dense<{bound}> : tensor<f32>", [], "f32")[0] for bound in ("-4.0", "4.0"))
        of = tensor(shape, "f32")
        rounded = self.emit(f"stablehlo.round_nearest_even {name} : {of}", shape, "f32")[0]
        return self.emit(f"stablehlo.clamp {low}, {rounded}, {high} : (tensor<f32>, {of}, tensor<f32>) -> {of}",
                         shape, "f32")[0]

    def network(self):
        """Dots one after the other, each changed element by element: what is run range by range."""
        value = self.pick("f32")
        if not value[1]:
            rows = [self.random.randint(2, 70), self.random.randint(1, 9)]
            value = self.emit(f"stablehlo.broadcast_in_dim {value[0]}, dims = [] : ({tensor([], 'f32')}) -> "
                              f"{tensor(rows, 'f32')}", rows, "f32")
        for _ in range(self.random.randint(1, 3)):
            value = self.dot(value) or value
            shape = value[1]
            other = self.random.choice((value, self.like(shape, "f32"), self.like(shape, "f32")))
            operation = self.random.choice(("add", "maximum", "subtract"))
            value = self.emit(f"stablehlo.{operation} {value[0]}, {other[0]} : {tensor(shape, 'f32')}", shape, "f32")

    def dot(self, value=None):
        """With a matrix that is a constant; of a value with itself, row by row or in a batch."""
        name, shape, _ = value or self.pick("f32")
        size = math.prod(shape)
        if not shape or size > 20_000:
            return None
        depth, rest, left = shape[-1], shape[:-1], self.whole(name, shape)
        if self.random.random() < 0.6:
            columns = self.extent()
            rows = [[float(self.random.randint(-3, 3)) for _ in range(columns)] for _ in range(depth)]
            literal = rows if depth * columns else ""
            right = self.emit(f"stablehlo.constant dense<{literal}> : {tensor([depth, columns], 'f32')}",
                              [depth, columns], "f32")[0]
            contracted, new, other = f"[{len(rest)}] x [0]", [*rest, columns], [depth, columns]
            batch = ""
        elif len(shape) >= 2 and self.random.random() < 0.7:
            axes = list(range(len(rest) - 1))
            batch = f"batching_dims = {axes} x {axes}, " if axes else ""
            contracted, new = f"[{len(rest)}] x [{len(rest)}]", [*rest, rest[-1]]
            right, other = left, shape
        else:
            if math.prod(rest) ** 2 > 20_000:
                return None
            batch, contracted, new = "", f"[{len(rest)}] x [{len(rest)}]", [*rest, *rest]
            right, other = left, shape
        return self.emit(f"stablehlo.dot_general {left}, {right}, {batch}contracting_dims = {contracted} : "
                         f"({tensor(shape, 'f32')}, {tensor(other, 'f32')}) -> {tensor(new, 'f32')}", new, "f32")

    def dynamic_slice(self):
        name, shape, element = self.pick()
        if not shape:
            return
        starts = [self.like([], "i32")[0] for _ in shape]
        sizes = [self.random.randint(0, extent) for extent in shape]
        kinds = ", ".join([tensor(shape, element)] + ["tensor<i32>"] * len(shape))
        self.emit(f"stablehlo.dynamic_slice {name}, {', '.join(starts)}, sizes = {sizes} : ({kinds}) -> "
                  f"{tensor(sizes, element)}", sizes, element)

    def dynamic_update_slice(self):
        name, shape, element = self.pick()
        if not shape:
            return
        starts = [self.like([], "i32")[0] for _ in shape]
        sizes = [self.random.randint(0, extent) for extent in shape]
        update = self.like(sizes, element)[0]
        kinds = ", ".join([tensor(shape, element), tensor(sizes, element)] + ["tensor<i32>"] * len(shape))
        self.emit(f"stablehlo.dynamic_update_slice {name}, {update}, {', '.join(starts)} : ({kinds}) -> "
                  f"{tensor(shape, element)}", shape, element)

    def region(self, operation, element):
        scalar = f"tensor<{element}>"
        return (f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n      %r = stablehlo.{operation} %a, %b : {scalar}\n"
                f"      stablehlo.return %r : {scalar}\n    }})")

    def reduce_window(self):
        name, shape, element = self.pick()
        if not shape or math.prod(shape) > 5000:
            return
        sizes = [self.random.choice((1, 1, 2, 3)) for _ in shape]
        strides = [self.random.randint(1, 2) for _ in shape]
        pads = [(self.random.randint(0, 2), self.random.randint(0, 2)) for _ in shape]
        new = []
        for extent, size, stride, pad in zip(shape, sizes, strides, pads):
            padded = extent + sum(pad)
            new.append((padded - size) // stride + 1 if padded >= size and padded else 0)
        operation = self.random.choice(("add", "maximum", "minimum"))
        initial, scalar = self.like([], element)[0], f"tensor<{element}>"
        self.emit(f"\"stablehlo.reduce_window\"({name}, {initial}) <{{window_dimensions = array<i64: {str(sizes)[1:-1]}>, "
                  f"window_strides = array<i64: {str(strides)[1:-1]}>, padding = dense<{[list(pad) for pad in pads]}> : "
                  f"tensor<{len(shape)}x2xi64>}}> {self.region(operation, element)} : ({tensor(shape, element)}, {scalar}) -> "
                  f"{tensor(new, element)}", new, element)

    def sort(self):
        """By one value of each place, or by that and then by another, which is moved along."""
        name, shape, element = self.pick()
        if not shape:
            return
        axis, direction = self.random.randrange(len(shape)), self.random.choice(("LT", "GT"))
        other = self.like(shape, element)[0]
        of, scalar, k = tensor(shape, element), f"tensor<{element}>", self.count
        kind = {"f32": "FLOAT", "bf16": "FLOAT", "i32": "SIGNED"}.get(element, "UNSIGNED")
        self.count += 1
        self.lines.append(f"""    %{k}:2 = "stablehlo.sort"({name}, {other}) <{{dimension = {axis} : i64, is_stable = true}}> ({{
    ^bb0(%a: {scalar}, %b: {scalar}, %c: {scalar}, %d: {scalar}):
      %r = stablehlo.compare {direction}, %a, %b, {kind} : ({scalar}, {scalar}) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }}) : ({of}, {of}) -> ({of}, {of})""")
        for i in (0, 1):
            self.values.append((f"%{k}#{i}", list(shape), element))

    def scatter(self):
        """Rows added or written at indices that may come twice, and lie outside."""
        name, shape, element = self.pick()
        if not shape:
            return
        count = self.random.randint(0, 6)
        indices = [[self.random.randint(-1, shape[0])] for _ in range(count)]
        where = self.emit(f"stablehlo.constant dense<{indices if count else ''}> : tensor<{count}x1xi32>", [count, 1], "i32")[0]
        updates = [count, *shape[1:]]
        given, scalar = self.like(updates, element)[0], f"tensor<{element}>"
        numbers = (f"update_window_dims = {list(range(1, len(shape)))}, inserted_window_dims = [0], "
                   "scatter_dims_to_operand_dims = [0], index_vector_dim = 1")
        body = self.region(self.random.choice(("add", "maximum")), element)
        if self.random.random() < 0.4:
            body = f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n      stablehlo.return %b : {scalar}\n    }})"
        self.emit(f"\"stablehlo.scatter\"({name}, {where}, {given}) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> "
                  f"{body} : ({tensor(shape, element)}, tensor<{count}x1xi32>, {tensor(updates, element)}) -> "
                  f"{tensor(shape, element)}", shape, element)

    def convolution(self):
        """Of small integers, whose sums are exact in any order; as matrices where the value is one."""
        name, shape, _ = self.pick("f32")
        if len(shape) not in (2, 3) or math.prod(shape) > 5000:
            return
        value = self.whole(name, shape)
        if len(shape) == 2:
            shape = [1, *shape]
            value = self.emit(f"stablehlo.reshape {value} : ({tensor(shape[1:], 'f32')}) -> {tensor(shape, 'f32')}", shape,
                              "f32")[0]
        window, features, outputs = self.random.randint(1, 3), shape[2], self.random.randint(1, 9)
        groups = features if features > 1 and self.random.random() < 0.3 else 1
        outputs *= groups
        kernel = [window, features // groups, outputs]
        rows = [[[float(self.random.randint(-3, 3)) for _ in range(outputs)] for _ in range(kernel[1])] for _ in range(window)]
        weight = self.emit(f"stablehlo.constant dense<{rows if math.prod(kernel) else ''}> : {tensor(kernel, 'f32')}", kernel,
                           "f32")[0]
        pad, stride = [self.random.randint(0, 2), self.random.randint(0, 2)], self.random.randint(1, 2)
        padded = shape[1] + sum(pad)
        places = (padded - window) // stride + 1 if padded >= window and padded else 0
        new = [shape[0], places, outputs]
        self.emit(f"stablehlo.convolution({value}, {weight}) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
                  f"window = {{stride = [{stride}], pad = [{pad}]}} {{batch_group_count = 1 : i64, "
                  f"feature_group_count = {groups} : i64}} : ({tensor(shape, 'f32')}, {tensor(kernel, 'f32')}) -> "
                  f"{tensor(new, 'f32')}", new, "f32")

    def narrow(self):
        """There and back through a float of 8 bits or less, with an addition."""
        name, shape, _ = self.pick("f32")
        element = self.random.choice(("f8E4M3FN", "f8E5M2", "f8E3M4", "f8E4M3FNUZ"))
        of = tensor(shape, element)
        small = self.emit(f"stablehlo.convert {name} : ({tensor(shape, 'f32')}) -> {of}", shape, element)[0]
        twice = self.emit(f"stablehlo.add {small}, {small} : {of}", shape, element)[0]
        del self.values[-2:]  # files have no such type
        self.emit(f"stablehlo.convert {twice} : ({of}) -> {tensor(shape, 'f32')}", shape, "f32")

    def integer_dot(self):
        name, shape, element = self.pick("i32", "ui8")
        if not shape or math.prod(shape) > 2000:
            return
        rest = shape[:-1]
        new = [*rest, *rest]
        if math.prod(new) > 20_000:
            return
        axes = f"[{len(rest)}] x [{len(rest)}]"
        self.emit(f"stablehlo.dot_general {name}, {name}, contracting_dims = {axes} : ({tensor(shape, element)}, "
                  f"{tensor(shape, element)}) -> {tensor(new, 'i32')}", new, "i32")

    def iota(self):
        shape = [self.random.randint(1, 6) for _ in range(self.random.randint(1, 3))]
        axis = self.random.randrange(len(shape))
        element = self.random.choice(("f32", "i32", "bf16"))
        self.emit(f"stablehlo.iota dim = {axis} : {tensor(shape, element)}", shape, element)

    def loop(self):
        """A value changed n times, and a second one that changes places with a third."""
        name, shape, element = self.pick("f32", "i32")
        other = self.like(shape, element)[0]
        of, turns, k = tensor(shape, element), self.random.randint(0, 4), self.count
        self.count += 1
        self.lines.append(f"""    %zero{k} = stablehlo.constant dense<0> : tensor<i32>
    %{k}:3 = stablehlo.while(%i{k} = %zero{k}, %a{k} = {name}, %b{k} = {other}) : tensor<i32>, {of}, {of}
     cond {{
      %end{k} = stablehlo.constant dense<{turns}> : tensor<i32>
      %more{k} = stablehlo.compare LT, %i{k}, %end{k}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more{k} : tensor<i1>
    }} do {{
      %one{k} = stablehlo.constant dense<1> : tensor<i32>
      %next{k} = stablehlo.add %i{k}, %one{k} : tensor<i32>
      %sum{k} = stablehlo.add %a{k}, {name} : {of}
      stablehlo.return %next{k}, %b{k}, %sum{k} : tensor<i32>, {of}, {of}
    }}""")
        for i in (1, 2):
            self.values.append((f"%{k}#{i}", list(shape), element))

    def branch(self):
        name, shape, element = self.pick("f32", "i32")
        predicate, k = self.like([], "i1")[0], self.count
        of = tensor(shape, element)
        self.count += 1
        self.lines.append(f"""    %{k} = "stablehlo.if"({predicate}) ({{
      %n{k} = stablehlo.negate {name} : {of}
      stablehlo.return %n{k} : {of}
    }}, {{
      stablehlo.return {name} : {of}
    }}) : (tensor<i1>) -> {of}""")
        self.values.append((f"%{k}", list(shape), element))

    def text(self):
        names = ", ".join(value[0] for value in self.results)
        kinds = ", ".join(tensor(*value[1:]) for value in self.results)
        arguments = ", ".join(f"%arg{i}: {tensor(*kind)}" for i, kind in enumerate(self.arguments))
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\n    return {names} : {kinds}\n}}\n"


STEPS = [name for name in vars(Program) if name not in ("extent", "pick", "emit", "like", "text", "whole", "region") and
         not name.startswith("_")]
