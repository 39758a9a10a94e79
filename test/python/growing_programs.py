"""Programs that grow: shapes()["NAME"](n) is the text of a program with n steps, each of which uses a value more than once.

The tests of growth (test_growth.py of compiled programs, test_pass_growth.py of passes and commands) run
every shape at 10, 100 and 1,000 steps. The text is plain StableHLO, which JAX's own XLA compiles as well.
arguments(text) lists the arguments of @main: name, NumPy's element type, extents. Values stay finite for
arguments between 0.1 and 0.9 wherever a shape of that length can keep them so.

"gradient of SHAPE" is the derivative of the sum of the shape's result by its first argument, in reverse,
as JAX's grad writes it.
"""
import re

ROW = "tensor<64xf32>"
SQUARE = "tensor<16x16xf32>"
NUMPY_TYPES = {"f32": "float32", "i32": "int32", "ui32": "uint32"}


class Trace:
    """Operations in a row on values of one type, and what they are made of, so that a gradient can be taken."""

    def __init__(self, arguments=("a", "b"), kind=ROW):
        self.kind, self.arguments, self.lines, self.constants, self.steps = kind, arguments, [], {}, []

    def text(self, result):
        parameters = ", ".join(f"%{name}: {self.kind}" for name in self.arguments)
        body = "\n".join([*self.constants.values(), *self.lines])
        return f"func.func @main({parameters}) -> {self.kind} {{\n{body}\n  return {result} : {self.kind}\n}}\n"

    def number(self, value):
        name = f"%c{value}".replace(".", "_").replace("-", "m")
        self.constants[name] = f"  {name} = stablehlo.constant dense<{float(value):e}> : {self.kind}"
        return name

    def write(self, name, operands, text):
        result = f"%v{len(self.lines)}"
        self.lines.append(f"  {result} = {text}")
        self.steps.append((name, operands, result))
        return result

    def op(self, name, *operands):
        operands = [each if isinstance(each, str) else self.number(each) for each in operands]
        return self.write(name, operands, f"stablehlo.{name} {', '.join(operands)} : {self.kind}")

    def compare(self, direction, x, y):
        x, y = (each if isinstance(each, str) else self.number(each) for each in (x, y))
        flags = self.kind.replace("f32", "i1")
        return self.write("compare", [], f"stablehlo.compare {direction}, {x}, {y} : ({self.kind}, {self.kind}) -> {flags}")

    def select(self, flags, x, y):
        x, y = (each if isinstance(each, str) else self.number(each) for each in (x, y))
        return self.write("select", [flags, x, y],
                          f"stablehlo.select {flags}, {x}, {y} : {self.kind.replace('f32', 'i1')}, {self.kind}")

    def gradient(self, result, argument):
        """Of the sum of `result`: each step's derivatives, in reverse."""
        given = {result: self.number(1.0)}

        def give(value, amount):
            given[value] = self.op("add", given[value], amount) if value in given else amount

        for name, operands, made in list(reversed(self.steps)):
            if made not in given:
                continue
            g = given[made]
            x, y = (operands + [None, None])[:2]
            if name == "add":
                give(x, g), give(y, g)
            elif name == "subtract":
                give(x, g), give(y, self.op("negate", g))
            elif name == "multiply":
                give(x, self.op("multiply", g, y)), give(y, self.op("multiply", g, x))
            elif name == "divide":
                quotient = self.op("divide", g, y)
                give(x, quotient), give(y, self.op("negate", self.op("multiply", quotient, made)))
            elif name == "negate":
                give(x, self.op("negate", g))
            elif name == "tanh":
                give(x, self.op("multiply", g, self.op("subtract", 1.0, self.op("multiply", made, made))))
            elif name == "logistic":
                give(x, self.op("multiply", g, self.op("multiply", made, self.op("subtract", 1.0, made))))
            elif name == "exponential":
                give(x, self.op("multiply", g, made))
            elif name == "cosine":
                give(x, self.op("negate", self.op("multiply", g, self.op("sine", x))))
            elif name == "sqrt":
                give(x, self.op("divide", g, self.op("add", made, made)))
            elif name in ("maximum", "minimum"):
                flags = self.compare("GE" if name == "maximum" else "LE", x, y)
                give(x, self.select(flags, g, 0.0)), give(y, self.select(flags, 0.0, g))
            elif name == "select":
                flags, x, y = operands
                give(x, self.select(flags, g, 0.0)), give(y, self.select(flags, 0.0, g))
            elif name != "compare":
                raise AssertionError(f"no derivative of {name}")
        return given.get(argument, self.number(0.0))


def doubling(t, n):
    y = "%a"
    for _ in range(n):
        y = t.op("add", y, y)
    return y


def squaring(t, n):
    y = "%a"
    for _ in range(n):
        y = t.op("multiply", y, y)
    return y


def horner(t, n):
    y = t.number(1.0)
    for i in range(n):
        y = t.op("add", t.op("multiply", y, "%a"), 1.0 / (i + 1))
    return y


def clenshaw(t, n):
    twice, last, y = t.op("add", "%a", "%a"), t.number(0.0), t.number(0.0)
    for i in range(n):
        y, last = t.op("add", t.op("subtract", t.op("multiply", twice, y), last), 1.0 / (i + 1) ** 2), y
    return t.op("subtract", y, t.op("multiply", "%a", last))


def newton(t, n):
    y = t.number(1.0)
    for _ in range(n):
        y = t.op("multiply", t.op("add", y, t.op("divide", "%a", y)), 0.5)
    return y


def logistic_map(t, n):
    y = "%a"
    for _ in range(n):
        y = t.op("multiply", t.op("multiply", y, t.op("subtract", 1.0, y)), 3.7)
    return y


def runge_kutta(t, n):
    def slope(y):
        return t.op("multiply", y, t.op("subtract", 1.0, y))

    y = "%a"
    for _ in range(n):
        k1 = slope(y)
        k2 = slope(t.op("add", y, t.op("multiply", k1, 0.05)))
        k3 = slope(t.op("add", y, t.op("multiply", k2, 0.05)))
        k4 = slope(t.op("add", y, t.op("multiply", k3, 0.1)))
        middle = t.op("add", k2, k3)
        total = t.op("add", t.op("add", k1, t.op("add", middle, middle)), k4)
        y = t.op("add", y, t.op("multiply", total, 0.1 / 6))
    return y


def leaky_relu(t, n):
    y = "%a"
    for _ in range(n):
        leak = t.select(t.compare("GE", y, 0.0), y, t.op("multiply", y, 0.01))
        y = t.op("subtract", leak, 0.01)
    return y


def silu(t, n):
    y = "%a"
    for _ in range(n):
        y = t.op("add", t.op("multiply", y, t.op("logistic", y)), 0.1)
    return y


def gelu(t, n):
    y = "%a"
    for _ in range(n):
        cube = t.op("multiply", t.op("multiply", y, y), y)
        inner = t.op("multiply", t.op("add", y, t.op("multiply", cube, 0.044715)), 0.7978845608)
        y = t.op("add", t.op("multiply", t.op("multiply", y, 0.5), t.op("add", t.op("tanh", inner), 1.0)), 0.1)
    return y


def where(t, n):
    y = "%a"
    for _ in range(n):
        y = t.select(t.compare("GT", y, "%b"), t.op("multiply", y, 0.5), t.op("add", y, 0.25))
    return y


def nested_selects(t, n):
    y, z = "%a", "%b"
    for i in range(n):
        flags = t.compare("GT", y, t.number(0.1 + 0.8 * (i % 7) / 7))
        y, z = t.select(flags, y, z), t.select(flags, z, t.op("multiply", y, 0.9))
    return t.op("add", y, z)


def maxima(t, n):
    y, z = "%a", "%b"
    for _ in range(n):
        y, z = t.op("maximum", y, t.op("multiply", z, 0.9)), t.op("minimum", t.op("add", y, 0.1), z)
    return t.op("subtract", y, z)


def mandelbrot(t, n):
    x, y = t.number(0.0), t.number(0.0)
    for _ in range(n):
        xx, yy = t.op("multiply", x, x), t.op("multiply", y, y)
        inside = t.compare("LE", t.op("add", xx, yy), 4.0)
        xy = t.op("multiply", x, y)
        x, y = (t.select(inside, t.op("add", t.op("subtract", xx, yy), t.op("subtract", "%a", 1.0)), x),
                t.select(inside, t.op("add", t.op("add", xy, xy), "%b"), y))
    return t.op("add", x, y)


def gradient_descent(t, n):
    """Of the square of a * x - b and a little of x's own."""
    x = "%b"
    for _ in range(n):
        error = t.op("subtract", t.op("multiply", "%a", x), "%b")
        slope = t.op("add", t.op("multiply", error, "%a"), t.op("multiply", x, 0.01))
        x = t.op("subtract", x, t.op("multiply", slope, 0.1))
    return x


def momentum(t, n):
    """Adam without its corrections: three values are carried, each of which is used several times."""
    x, m, v = "%b", t.number(0.0), t.number(0.0)
    for _ in range(n):
        g = t.op("subtract", t.op("multiply", x, x), "%a")
        m = t.op("add", t.op("multiply", m, 0.9), t.op("multiply", g, 0.1))
        v = t.op("add", t.op("multiply", v, 0.999), t.op("multiply", t.op("multiply", g, g), 0.001))
        x = t.op("subtract", x, t.op("divide", t.op("multiply", m, 0.1), t.op("add", t.op("sqrt", v), 0.01)))
    return x


def recurrent(t, n):
    """A gated cell, unrolled."""
    h, c = "%a", "%b"
    for _ in range(n):
        gate = t.op("logistic", t.op("add", h, c))
        keep = t.op("subtract", 1.0, gate)
        c = t.op("add", t.op("multiply", keep, c), t.op("multiply", gate, t.op("tanh", h)))
        h = t.op("multiply", gate, t.op("tanh", c))
    return h


def exponentials(t, n):
    y = "%a"
    for _ in range(n):
        e = t.op("exponential", t.op("negate", y))
        y = t.op("divide", e, t.op("add", e, y))
    return y


ELEMENTWISE = [doubling, squaring, horner, clenshaw, newton, logistic_map, runge_kutta, leaky_relu, silu, gelu, where,
               nested_selects, maxima, mandelbrot, gradient_descent, momentum, recurrent, exponentials]


def elementwise(shape):
    def program(n):
        trace = Trace()
        return trace.text(shape(trace, n))
    return program


def gradient(shape):
    def program(n):
        trace = Trace()
        return trace.text(trace.gradient(shape(trace, n), "%a"))
    return program


def body(lines, result, arguments, kind, functions=""):
    parameters = ", ".join(f"%{name}: {each}" for name, each in arguments.items())
    return "\n".join([f"{functions}func.func @main({parameters}) -> {kind} {{", *lines, f"  return {result} : {kind}", "}", ""])


def one_value(n):
    """One value with n uses."""
    lines, y = [], "%a"
    for i in range(n):
        lines += [f"  %t{i} = stablehlo.{('tanh', 'sine', 'cosine', 'abs', 'negate')[i % 5]} %a : {ROW}",
                  f"  %s{i} = stablehlo.add {y}, %t{i} : {ROW}"]
        y = f"%s{i}"
    return body(lines, y, {"a": ROW}, ROW)


def reverses(n):
    lines, y = [], "%a"
    for i in range(n):
        lines.append(f"  %v{i} = stablehlo.reverse {y}, dims = [0] : {ROW}")
        y = f"%v{i}"
    return body(lines, y, {"a": ROW}, ROW)


def rolls(n):
    lines, y = [], "%a"
    for i in range(n):
        cut = 3 + i % 7
        lines += [f"  %x{i} = stablehlo.slice {y} [0:{cut}] : ({ROW}) -> tensor<{cut}xf32>",
                  f"  %y{i} = stablehlo.slice {y} [{cut}:64] : ({ROW}) -> tensor<{64 - cut}xf32>",
                  f"  %z{i} = stablehlo.concatenate %y{i}, %x{i}, dim = 0 : (tensor<{64 - cut}xf32>, tensor<{cut}xf32>) -> {ROW}",
                  f"  %w{i} = stablehlo.maximum %z{i}, {y} : {ROW}"]
        y = f"%w{i}"
    return body(lines, y, {"a": ROW}, ROW)


def normalizations(n):
    """Each step divides by a sum over what it divides."""
    lines, y = [f"  %zero = stablehlo.constant dense<0.0> : tensor<f32>"], "%a"
    for i in range(n):
        lines += [f"  %s{i} = stablehlo.reduce({y} init: %zero) applies stablehlo.add across dimensions = [0] : ({ROW}, tensor<f32>) -> tensor<f32>",
                  f"  %b{i} = stablehlo.broadcast_in_dim %s{i}, dims = [] : (tensor<f32>) -> {ROW}",
                  f"  %q{i} = stablehlo.divide {y}, %b{i} : {ROW}",
                  f"  %v{i} = stablehlo.add %q{i}, {y} : {ROW}"]
        y = f"%v{i}"
    return body(lines, y, {"a": ROW}, ROW)


def scan(n):
    """An unrolled scan over a stack of n rows, whose outputs are stacked again."""
    stack, one = f"tensor<{n}x64xf32>", "tensor<1x64xf32>"
    lines, h, outputs = [], "%h", []
    for i in range(n):
        lines += [f"  %x{i} = stablehlo.slice %xs [{i}:{i + 1}, 0:64] : ({stack}) -> {one}",
                  f"  %r{i} = stablehlo.reshape %x{i} : ({one}) -> {ROW}",
                  f"  %p{i} = stablehlo.multiply {h}, %r{i} : {ROW}",
                  f"  %a{i} = stablehlo.add %p{i}, {h} : {ROW}",
                  f"  %h{i} = stablehlo.tanh %a{i} : {ROW}",
                  f"  %o{i} = stablehlo.reshape %h{i} : ({ROW}) -> {one}"]
        h = f"%h{i}"
        outputs.append(f"%o{i}")
    lines.append(f"  %all = stablehlo.concatenate {', '.join(outputs)}, dim = 0 : ({', '.join([one] * n)}) -> {stack}")
    return body(lines, "%all", {"xs": stack, "h": ROW}, stack)


def random_bits(n):
    """Rounds of Threefry: sums, rotations and exclusive ors of two words."""
    kind = "tensor<64xui32>"
    lines, x, y, made = [], "%a", "%b", set()
    for i in range(n):
        left = (13, 15, 26, 6, 17, 29, 16, 24)[i % 8]
        for shift in (left, 32 - left):
            if shift not in made:
                made.add(shift)
                lines.insert(0, f"  %c{shift} = stablehlo.constant dense<{shift}> : {kind}")
        lines += [f"  %s{i} = stablehlo.add {x}, {y} : {kind}",
                  f"  %l{i} = stablehlo.shift_left {y}, %c{left} : {kind}",
                  f"  %r{i} = stablehlo.shift_right_logical {y}, %c{32 - left} : {kind}",
                  f"  %o{i} = stablehlo.or %l{i}, %r{i} : {kind}",
                  f"  %x{i} = stablehlo.xor %o{i}, %s{i} : {kind}"]
        x, y = f"%s{i}", f"%x{i}"
    return body(lines, y, {"a": kind, "b": kind}, kind)


def leaf(name, extra="", kind=ROW):
    return (f"func.func private @{name}(%x: {kind}) -> {kind} {{\n  %y = stablehlo.multiply %x, %x : {kind}\n{extra}"
            f"  return %y : {kind}\n}}\n")


def calls(targets, kind=ROW):
    lines, y = [], "%a"
    for i, target in enumerate(targets):
        lines.append(f"  %v{i} = func.call @{target}({y}) : ({kind}) -> {kind}")
        y = f"%v{i}"
    return lines, y


def called_again(n):
    """One function, called n times."""
    lines, y = calls(["f"] * n)
    return body(lines, y, {"a": ROW}, ROW, leaf("f"))


def called_in_turn(n):
    """n functions, called in turn."""
    lines, y = calls([f"f{i}" for i in range(n)])
    return body(lines, y, {"a": ROW}, ROW, "".join(leaf(f"f{i}") for i in range(n)))


def calls_in_depth(n):
    """n functions, each of which calls the next and uses its result twice."""
    functions = leaf("f0")
    for i in range(1, n):
        functions += (f"func.func private @f{i}(%x: {ROW}) -> {ROW} {{\n  %0 = func.call @f{i - 1}(%x) : ({ROW}) -> {ROW}\n"
                      f"  %y = stablehlo.multiply %0, %0 : {ROW}\n  return %y : {ROW}\n}}\n")
    lines, y = calls([f"f{n - 1}"])
    return body(lines, y, {"a": ROW}, ROW, functions)


def calls_in_a_tree(n):
    """Functions that each call the next twice: n calls of the last one, of log n functions."""
    depth = max(n - 1, 1).bit_length()
    functions = leaf("f0")
    for i in range(1, depth + 1):
        functions += (f"func.func private @f{i}(%x: {ROW}) -> {ROW} {{\n  %0 = func.call @f{i - 1}(%x) : ({ROW}) -> {ROW}\n"
                      f"  %y = func.call @f{i - 1}(%0) : ({ROW}) -> {ROW}\n  return %y : {ROW}\n}}\n")
    lines, y = calls([f"f{depth}"])
    return body(lines, y, {"a": ROW}, ROW, functions)


def branches(n):
    """n of `if` in a row, each of which chooses by what the one before gave."""
    lines, y = ["  %zero = stablehlo.constant dense<0.5> : tensor<f32>"], "%a"
    for i in range(n):
        lines += [f"  %s{i} = stablehlo.slice {y} [0:1] : ({ROW}) -> tensor<1xf32>",
                  f"  %t{i} = stablehlo.reshape %s{i} : (tensor<1xf32>) -> tensor<f32>",
                  f"  %p{i} = stablehlo.compare GT, %t{i}, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>",
                  f'  %v{i} = "stablehlo.if"(%p{i}) ({{',
                  f"    %x{i} = stablehlo.multiply {y}, {y} : {ROW}", f"    stablehlo.return %x{i} : {ROW}", "  }, {",
                  f"    %y{i} = stablehlo.tanh {y} : {ROW}", f"    stablehlo.return %y{i} : {ROW}",
                  f"  }}) : (tensor<i1>) -> {ROW}"]
        y = f"%v{i}"
    return body(lines, y, {"a": ROW}, ROW)


def loops(n):
    """n loops of two rounds in a row, each of which carries what the one before gave, twice."""
    number = "tensor<i32>"
    lines = [f"  %{name} = stablehlo.constant dense<{value}> : {number}" for name, value in (("zero", 0), ("one", 1), ("two", 2))]
    y = "%a"
    for i in range(n):
        lines += [f"  %w{i}:3 = stablehlo.while(%i{i} = %zero, %x{i} = {y}, %z{i} = {y}) : {number}, {ROW}, {ROW}", "  cond {",
                  f"    %p{i} = stablehlo.compare LT, %i{i}, %two : ({number}, {number}) -> tensor<i1>",
                  f"    stablehlo.return %p{i} : tensor<i1>", "  } do {",
                  f"    %j{i} = stablehlo.add %i{i}, %one : {number}",
                  f"    %u{i} = stablehlo.multiply %x{i}, %z{i} : {ROW}",
                  f"    %t{i} = stablehlo.tanh %x{i} : {ROW}",
                  f"    stablehlo.return %j{i}, %u{i}, %t{i} : {number}, {ROW}, {ROW}", "  }"]
        y = f"%w{i}#1"
    return body(lines, y, {"a": ROW}, ROW)


def dot(i, left, right, kind=SQUARE):
    return f"  %d{i} = stablehlo.dot_general {left}, {right}, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}"


WEIGHT = f"{SQUARE} {{octavo.parameter}}"


def dots(n):
    """Layers: a dot with one weight, and a function of what it gives."""
    lines, y = [], "%a"
    for i in range(n):
        lines += [dot(i, y, "%w"), f"  %v{i} = stablehlo.tanh %d{i} : {SQUARE}"]
        y = f"%v{i}"
    return body(lines, y, {"a": SQUARE, "w": WEIGHT}, SQUARE)


def dots_of_weights(n):
    """Layers, each with its own weight, and around each a residual sum."""
    lines, y = [], "%a"
    for i in range(n):
        lines += [dot(i, y, f"%w{i}"), f"  %t{i} = stablehlo.tanh %d{i} : {SQUARE}", f"  %v{i} = stablehlo.add %t{i}, {y} : {SQUARE}"]
        y = f"%v{i}"
    return body(lines, y, {"a": SQUARE} | {f"w{i}": WEIGHT for i in range(n)}, SQUARE)


def dots_of_activations(n):
    """Both sides of each dot are what the dot before gave."""
    lines, y = [], "%a"
    for i in range(n):
        lines += [dot(i, y, y), f"  %v{i} = stablehlo.tanh %d{i} : {SQUARE}"]
        y = f"%v{i}"
    return body(lines, y, {"a": SQUARE}, SQUARE)


def narrow(side):
    """A side of a dot that is rounded to a narrow float n times, each time used with what it is made of."""
    def program(n):
        narrow_kind = SQUARE.replace("f32", "f8E4M3FN")
        lines, y = [], f"%{side}"
        for i in range(n):
            lines += [f"  %q{i} = stablehlo.convert {y} : ({SQUARE}) -> {narrow_kind}",
                      f"  %e{i} = stablehlo.convert %q{i} : ({narrow_kind}) -> {SQUARE}",
                      f"  %p{i} = stablehlo.multiply %e{i}, {y} : {SQUARE}"]
            y = f"%p{i}"
        sides = {"a": "%a", "w": "%w"} | {side: y}
        return body([*lines, dot(0, sides["a"], sides["w"])], "%d0", {"a": SQUARE, "w": WEIGHT}, SQUARE)
    return program


def scales(n):
    """Scales that n steps compute, each from the one before, twice."""
    kind, row = "tensor<16x16xf8E4M3FN>", "tensor<16xf32>"
    lines, y = [f"  %q = stablehlo.convert %w : ({SQUARE}) -> {kind}", f"  %e = stablehlo.convert %q : ({kind}) -> {SQUARE}"], "%s"
    for i in range(n):
        lines.append(f"  %s{i} = stablehlo.{('add', 'multiply', 'maximum')[i % 3]} {y}, {y} : {row}")
        y = f"%s{i}"
    lines += [f"  %b = stablehlo.broadcast_in_dim {y}, dims = [0] : ({row}) -> {SQUARE}",
              f"  %m = stablehlo.multiply %e, %b : {SQUARE}", dot(0, "%a", "%m")]
    return body(lines, "%d0", {"a": SQUARE, "w": SQUARE, "s": row}, SQUARE)


def dequantized(n):
    """Dots of dequantized weights in a row: codes of a narrow float times a scale a row."""
    kind, row = "tensor<16x16xf8E4M3FN>", "tensor<16xf32>"
    lines, y = [f"  %q = stablehlo.convert %w : ({SQUARE}) -> {kind}"], "%a"
    for i in range(n):
        lines += [f"  %e{i} = stablehlo.convert %q : ({kind}) -> {SQUARE}",
                  f"  %b{i} = stablehlo.broadcast_in_dim %s, dims = [0] : ({row}) -> {SQUARE}",
                  f"  %m{i} = stablehlo.multiply %e{i}, %b{i} : {SQUARE}", dot(i, y, f"%m{i}"),
                  f"  %v{i} = stablehlo.tanh %d{i} : {SQUARE}"]
        y = f"%v{i}"
    return body(lines, y, {"a": SQUARE, "w": SQUARE, "s": row}, SQUARE)


def moved_codes(n):
    """A dequantized side that is turned and joined n times before it is multiplied."""
    kind, row, half = "tensor<16x16xf8E4M3FN>", "tensor<16xf32>", "tensor<8x16xf32>"
    lines = [f"  %q = stablehlo.convert %w : ({SQUARE}) -> {kind}", f"  %e = stablehlo.convert %q : ({kind}) -> {SQUARE}",
             f"  %b = stablehlo.broadcast_in_dim %s, dims = [0] : ({row}) -> {SQUARE}", f"  %m = stablehlo.multiply %e, %b : {SQUARE}"]
    y = "%m"
    for i in range(n):
        lines += [f"  %x{i} = stablehlo.slice {y} [0:8, 0:16] : ({SQUARE}) -> {half}",
                  f"  %y{i} = stablehlo.slice {y} [8:16, 0:16] : ({SQUARE}) -> {half}",
                  f"  %z{i} = stablehlo.concatenate %y{i}, %x{i}, dim = 0 : ({half}, {half}) -> {SQUARE}"]
        y = f"%z{i}"
    return body([*lines, dot(0, "%a", y)], "%d0", {"a": SQUARE, "w": SQUARE, "s": row}, SQUARE)


def gradient_of_dots(n):
    """Layers, and what their weight's gradient is: each layer's value is used again on the way back."""
    lines, values = [], ["%a"]
    for i in range(n):
        lines += [dot(i, values[-1], "%w"), f"  %v{i} = stablehlo.tanh %d{i} : {SQUARE}"]
        values.append(f"%v{i}")
    lines += [f"  %one = stablehlo.constant dense<1.0> : {SQUARE}", f"  %zero = stablehlo.constant dense<0.0> : {SQUARE}"]
    g, total = "%one", "%zero"
    for i in reversed(range(n)):
        lines += [f"  %m{i} = stablehlo.multiply %v{i}, %v{i} : {SQUARE}", f"  %n{i} = stablehlo.subtract %one, %m{i} : {SQUARE}",
                  f"  %g{i} = stablehlo.multiply {g}, %n{i} : {SQUARE}",
                  f"  %w{i} = stablehlo.dot_general {values[i]}, %g{i}, contracting_dims = [0] x [0] : ({SQUARE}, {SQUARE}) -> {SQUARE}",
                  f"  %t{i} = stablehlo.add {total}, %w{i} : {SQUARE}",
                  f"  %x{i} = stablehlo.dot_general %g{i}, %w, contracting_dims = [1] x [1] : ({SQUARE}, {SQUARE}) -> {SQUARE}"]
        g, total = f"%x{i}", f"%t{i}"
    return body(lines, total, {"a": SQUARE, "w": WEIGHT}, SQUARE)


def shapes():
    """{name: function of n that gives the program's text}."""
    programs = {shape.__name__.replace("_", " "): elementwise(shape) for shape in ELEMENTWISE}
    programs |= {f"gradient of {shape.__name__.replace('_', ' ')}": gradient(shape) for shape in ELEMENTWISE}
    others = [one_value, reverses, rolls, normalizations, scan, random_bits, called_again, called_in_turn, calls_in_depth,
              calls_in_a_tree, branches, loops, dots, dots_of_weights, dots_of_activations, gradient_of_dots, scales,
              dequantized, moved_codes]
    programs |= {shape.__name__.replace("_", " "): shape for shape in others}
    return programs | {"narrow activation": narrow("a"), "narrow weight": narrow("w")}


def arguments(text):
    """[(name, NumPy's element type, extents)] of @main."""
    (parameters,) = re.findall(r"func\.func @main\((.*)\) -> ", text)
    return [(name, NUMPY_TYPES[element], tuple(int(each) for each in extents.split("x") if each))
            for name, extents, element in re.findall(r"%(\w+): tensor<((?:\d+x)*)(\w+)>", parameters)]
