"""Each operation over each element type that it admits, against the rules of element_rules.py."""

import itertools
import math
import operator

import ml_dtypes
import mpmath
import numpy as np
import pytest
from element_rules import (BINARY_FUNCTIONS, BOOLEAN_BINARY, COMPLEX, COMPLEX_BINARY, COMPLEX_UNARY, DIRECTIONS, EXACT,
                           F32, F64, FLOATS, FUNCTIONS, INF, INTEGER_BINARY, INTEGER_UNARY, INTEGERS, PLAIN, PLAIN_BINARY,
                           RANDOM, REDUCERS, SIGNED_UNARY, TYPES, Complex, Float, convert, fold, maximum, minimum, next_after,
                           order, to_odd)
from test_reference import run

pytestmark = pytest.mark.mlir


class Program:
    """One program for all cases. Results are widened, without a rounding, and joined by kind."""

    WIDE = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "ui64": np.uint64}

    def __init__(self):
        self.lines, self.cases = [], []
        self.joined = {kind: [] for kind in self.WIDE}
        self.samples = {name: [type.sample() for _ in range(2)] for name, type in TYPES.items()}
        self.constants = {name: [self.constant(type, codes) for codes in self.samples[name]]
                          for name, type in TYPES.items()}

    def assign(self, text):
        self.lines.append(f"%v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def constant(self, type, codes, shape=None):
        extents = "x".join(map(str, shape or (len(codes),))) + "x" if shape != () else ""
        literals = type.literals(codes)
        if shape is not None and len(shape) == 2:
            rows = np.array_split(np.asarray(codes), shape[0])
            literals = ", ".join("[" + type.literals(row) + "]" for row in rows)
        body = literals if shape == () else f"[{literals}]"
        return self.assign(f"stablehlo.constant dense<{body}> : tensor<{extents}{type.name}>")

    def call(self, operation, operands, result, attributes="", region=""):
        """Operands are pairs of a value and its type's text."""
        names, types = zip(*operands)
        name = operation if "." in operation else "stablehlo." + operation
        return self.assign(f'"{name}"({", ".join(names)}){region} {{{attributes}}} : ({", ".join(types)}) -> {result}')

    def expect(self, case, value, type, expected, shape=None, ulps=0):
        """`value`, of elements of `type`, holds the numbers `expected`."""
        if isinstance(type, Complex):
            for part, take in (("real", np.real), ("imag", np.imag)):
                half = self.call(part, [(value, text(type, expected, shape))], text(type.part, expected, shape))
                self.expect(f"{case}, {part}", half, type.part, list(take(expected)), shape, ulps)
            return
        if isinstance(type, Float):
            kind = "f64" if type.name == "f64" else "f32"
        else:
            kind = "i64" if type.low < 0 else "ui64"
        if type.name != kind:
            value = self.call("convert", [(value, text(type, expected, shape))], text(TYPES[kind], expected, shape))
        if shape is not None:
            value = self.call("reshape", [(value, text(TYPES[kind], expected, shape))], text(TYPES[kind], expected))
        start = sum(size for _, size in self.joined[kind])
        self.joined[kind].append((value, len(expected)))
        self.cases.append((case, kind, slice(start, start + len(expected)), list(expected), ulps))

    def text(self):
        names, types, lines = [], [], list(self.lines)
        for kind, parts in self.joined.items():
            operands = ", ".join(value for value, _ in parts)
            given = ", ".join(f"tensor<{size}x{kind}>" for _, size in parts)
            types.append(f"tensor<{sum(size for _, size in parts)}x{kind}>")
            names.append(f"%{kind}")
            lines.append(f'%{kind} = "stablehlo.concatenate"({operands}) {{dimension = 0 : i64}} : ({given}) -> {types[-1]}')
        body = "\n  ".join(lines)
        return (f"func.func @main() -> ({', '.join(types)}) {{\n  {body}\n"
                f"  return {', '.join(names)} : {', '.join(types)}\n}}\n")


def text(type, values, shape=None):
    extents = "".join(f"{extent}x" for extent in (shape if shape is not None else (len(values),)))
    return f"tensor<{extents}{type.name}>"


def typed(p, type, which=0):
    return p.constants[type.name][which], text(type, p.samples[type.name][which])


def rounded(type, values):
    with np.errstate(all="ignore"):
        return [type.round(value) for value in values]


def elementwise_floats(p):
    for type in FLOATS.values():
        a, b = typed(p, type), typed(p, type, 1)
        x, y = (list(map(float, type.decode(codes))) for codes in p.samples[type.name])
        ulps = 1 if type in (F32, F64) else 0  # narrower ones are rounded correctly
        with np.errstate(all="ignore"):
            for name, function in PLAIN.items():
                p.expect(f"{name} of {type.name}", p.call(name, [a], a[1]), type,
                         rounded(type, [function(np.float64(v)) for v in x]))
            for name, functions in FUNCTIONS.items():
                exact = EXACT[name]
                p.expect(f"{name} of {type.name}", p.call(name, [a], a[1]), type,
                         rounded(type, [exact(v) for v in x]), ulps=ulps)
            for name, function in PLAIN_BINARY.items():
                p.expect(f"{name} of {type.name}", p.call(name, [a, b], a[1]), type,
                         rounded(type, [function(np.float64(v), np.float64(w)) for v, w in zip(x, y)]))
            for name in BINARY_FUNCTIONS:
                exact = EXACT[name]
                p.expect(f"{name} of {type.name}", p.call(name, [a, b], a[1]), type,
                         rounded(type, [exact(v, w) for v, w in zip(x, y)]), ulps=ulps)
        codes = p.samples[type.name]
        p.expect(f"next_after of {type.name}", p.call("chlo.next_after", [a, b], a[1]), type,
                 [next_after(type, c, d) for c, d in zip(*codes)])
        booleans = a[1].replace(type.name, "i1")
        p.expect(f"is_finite of {type.name}", p.call("is_finite", [a], booleans), INTEGERS["i1"], [math.isfinite(v) for v in x])
        for name, is_one in [("is_inf", math.isinf), ("is_pos_inf", lambda v: v == INF), ("is_neg_inf", lambda v: v == -INF)]:
            p.expect(f"{name} of {type.name}", p.call("chlo." + name, [a], booleans), INTEGERS["i1"], [is_one(v) for v in x])
        narrow = rounded(type, [float(np.array(v).astype(ml_dtypes.bfloat16)) for v in x]) if type is F32 else None
        if narrow:
            p.expect("reduce_precision of f32", p.call(
                "reduce_precision", [a], a[1], "exponent_bits = 8 : i32, mantissa_bits = 7 : i32"), type, narrow)


def elementwise_integers(p):
    for type in INTEGERS.values():
        a, b = typed(p, type), typed(p, type, 1)
        x, y = p.samples[type.name]
        if type.bits == 1:
            p.expect("not of i1", p.call("not", [a], a[1]), type, [1 - v for v in x])
            for name, function in BOOLEAN_BINARY.items():
                p.expect(f"{name} of i1", p.call(name, [a, b], a[1]), type, [function(v, w) for v, w in zip(x, y)])
            continue
        unary = INTEGER_UNARY | (SIGNED_UNARY if type.signed else {})
        for name, function in unary.items():
            p.expect(f"{name} of {type.name}", p.call(name, [a], a[1]), type, [type.wrap(function(type, v)) for v in x])
        for name, function in INTEGER_BINARY.items():
            p.expect(f"{name} of {type.name}", p.call(name, [a, b], a[1]), type,
                     [type.wrap(function(type, v, w)) for v, w in zip(x, y)])


def broadcasts(p):
    """The second operand is one number for all."""
    for type in TYPES.values():
        a, codes = typed(p, type), p.samples[type.name]
        b = p.constant(type, codes[1][2:3], ()), text(type, codes, ())
        x, (y,) = type.decode(codes[0]), type.decode(codes[1][2:3])
        if isinstance(type, Complex):
            functions = {name: COMPLEX_BINARY[name] for name in ("add", "subtract", "multiply")}
        elif isinstance(type, Float):
            functions = PLAIN_BINARY
        else:
            functions = {name: function for name, function in (BOOLEAN_BINARY if type.bits == 1 else INTEGER_BINARY).items()
                         if "." not in name}
        for name, function in functions.items():
            with np.errstate(all="ignore"):
                if isinstance(type, (Float, Complex)):
                    take = np.float64 if isinstance(type, Float) else complex
                    expected = [type.round(function(take(v), take(y))) for v in x]
                else:
                    expected = [type.wrap(function(v, y) if type.bits == 1 else function(type, v, y)) for v in x]
            p.expect(f"broadcast_{name} of {type.name}", p.call(f"chlo.broadcast_{name}", [a, b], a[1]), type, expected)


def sorting(p):
    for type in [*FLOATS.values(), *INTEGERS.values()]:
        a, codes = typed(p, type), p.samples[type.name][0]
        x = list(type.decode(codes))
        scalar = text(type, x, ())
        kind = ", compare_type = #stablehlo<comparison_type TOTALORDER>" if isinstance(type, Float) else ""
        region = (f' ({{ ^bb0(%x: {scalar}, %y: {scalar}): %c = "stablehlo.compare"(%x, %y) {{comparison_direction = '
                  f'#stablehlo<comparison_direction LT>{kind}}} : ({scalar}, {scalar}) -> tensor<i1> '
                  '"stablehlo.return"(%c) : (tensor<i1>) -> () })')
        expected = sorted(range(len(x)), key=lambda i: order(type, codes[i], x[i]) if kind else x[i])
        p.expect(f"sort of {type.name}", p.call("sort", [a], a[1], "dimension = 0 : i64", region), type,
                 [x[i] for i in expected])


def choices(p):
    """compare, select and clamp."""
    for type in TYPES.values():
        a, b = typed(p, type), typed(p, type, 1)
        x, y = (type.decode(codes) for codes in p.samples[type.name])
        booleans = a[1].replace(type.name, "i1")
        for direction, holds in DIRECTIONS.items():
            if isinstance(type, Complex) and direction not in ("EQ", "NE"):
                continue
            value = p.call("compare", [a, b], booleans,
                           f"comparison_direction = #stablehlo<comparison_direction {direction}>")
            p.expect(f"compare {direction} of {type.name}", value, INTEGERS["i1"], [bool(holds(v, w)) for v, w in zip(x, y)])
        mask = RANDOM.integers(0, 2, len(x))
        predicate = p.constant(INTEGERS["i1"], mask)
        p.expect(f"select of {type.name}", p.call("select", [(predicate, booleans), a, b], a[1]), type,
                 np.where(mask, x, y))
        if isinstance(type, Complex):
            continue
        top, bottom = (maximum, minimum) if isinstance(type, Float) else (max, min)
        stored = type.round if isinstance(type, Float) else int
        z = x[::-1]
        reverse = p.call("reverse", [a], a[1], "dimensions = array<i64: 0>")
        p.expect(f"clamp of {type.name}", p.call("clamp", [b, a, (reverse, a[1])], a[1]), type,
                 [stored(bottom(top(v, low), high)) for low, v, high in zip(y, x, z)])


def total_order(p):
    for type in FLOATS.values():
        a, b = typed(p, type), typed(p, type, 1)
        x, y = (type.decode(codes) for codes in p.samples[type.name])
        codes, others = p.samples[type.name]
        value = p.call("compare", [a, b], a[1].replace(type.name, "i1"),
                       "comparison_direction = #stablehlo<comparison_direction LT>, "
                       "compare_type = #stablehlo<comparison_type TOTALORDER>")
        p.expect(f"compare TOTALORDER of {type.name}", value, INTEGERS["i1"],
                 [order(type, c, v) < order(type, d, w) for c, v, d, w in zip(codes, x, others, y)])


def conversions(p):
    for source, target in itertools.permutations(TYPES.values(), 2):
        a = typed(p, source)
        x = source.decode(p.samples[source.name][0])
        if isinstance(source, Float) and isinstance(target, Float) and not target.nan:
            # Without the NaN of either sign, whose codes N3 tells apart.
            keep = [i for i, v in enumerate(x) if v == v]
            codes = p.samples[source.name][0][keep]
            a, x = (p.constant(source, codes), text(source, codes)), x[keep]
        p.expect(f"convert {source.name} to {target.name}", p.call("convert", [a], text(target, x)), target,
                 [convert(source, target, v) for v in (x.tolist() if isinstance(x, np.ndarray) else x)])


def body(operation, type):
    scalar = f"tensor<{type.name}>"
    return (f' ({{ ^bb0(%x: {scalar}, %y: {scalar}): %r = "stablehlo.{operation}"(%x, %y) : ({scalar}, {scalar}) -> {scalar} '
            f'"stablehlo.return"(%r) : ({scalar}) -> () }})')


def reductions(p):
    for type in [*FLOATS.values(), *INTEGERS.values()]:
        is_float = isinstance(type, Float)
        codes = p.samples[type.name][0][-(24 if type.bits > 4 else 16 if type.bits > 1 else 8):]
        x = list(type.decode(codes))
        reducers = REDUCERS if is_float else BOOLEAN_BINARY if type.bits == 1 else {
            "add": operator.add, "multiply": operator.mul, "maximum": max, "minimum": min, "and": operator.and_, "or": operator.or_}
        rows = 4
        width = len(x) // rows
        a = p.constant(type, codes, (rows, width)), text(type, x, (rows, width))
        start = p.constant(type, codes[:1], ()), text(type, x, ())
        for name, function in reducers.items():
            if name == "xor":
                continue
            with np.errstate(all="ignore"):
                p.expect(f"reduce by {name} of {type.name}", p.call(
                    "reduce", [a, start], text(type, [0] * rows), "dimensions = array<i64: 1>", body(name, type)), type,
                    [fold(type, function, x[0], x[r * width:(r + 1) * width]) for r in range(rows)])
                p.expect(f"reduce_window by {name} of {type.name}", p.call(
                    "reduce_window", [a, start], text(type, x, (rows, width - 1)), "window_dimensions = array<i64: 1, 2>",
                    body(name, type)), type,
                    [fold(type, function, x[0], x[r * width + c:r * width + c + 2], as_written=True)
                     for r in range(rows) for c in range(width - 1)], (rows, width - 1))
        # The matrix times its transpose (I12), from +0.
        with np.errstate(all="ignore"):
            running = (F64 if type is F64 else F32) if is_float else type
            step = running.round if is_float else running.wrap

            def dot(v, w, step=step, is_boolean=type.bits == 1):
                total = 0.0 if is_float else 0
                for k, m in zip(v, w):
                    total = total | (k & m) if is_boolean else step(total + step(k * m))
                return total
            parts = [x[r * width:(r + 1) * width] for r in range(rows)]
            expected = [dot(v, w) for v in parts for w in parts]
        p.expect(f"dot_general of {type.name}", p.call(
            "dot_general", [a, a], text(type, x, (rows, rows)),
            "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>"),
            type, [type.round(v) for v in expected] if is_float else expected, (rows, rows))


def movement(p):
    """Codes stay as they are."""
    for type in TYPES.values():
        codes = p.samples[type.name][0][:8]
        x = np.array(type.decode(codes)).reshape(2, 4)
        flat = p.constant(type, codes), text(type, codes)
        a = (p.call("reshape", [flat], text(type, codes, (2, 4))), text(type, codes, (2, 4)))
        one = p.constant(type, codes[:1], ()), text(type, codes, ())
        two = p.constant(type, codes[2:4], (2,)), text(type, codes[2:4])
        index = [(p.assign(f"stablehlo.constant dense<{i}> : tensor<i32>"), "tensor<i32>") for i in (0, 1)]
        places = p.assign("stablehlo.constant dense<[1, 1, 0]> : tensor<3xi32>"), "tensor<3xi32>"
        updated, padded = x.copy(), np.full((3, 7), x[0, 0], x.dtype)
        updated[0, 1:3] = x[0, 2:4]
        padded[1:, ::2] = x
        flat_row = p.call("reshape", [two], text(type, codes, (1, 2))), text(type, codes, (1, 2))
        cases = {
            "reshape": ([a], "", x.reshape(4, 2)),
            "transpose": ([a], "permutation = array<i64: 1, 0>", x.T),
            "reverse": ([a], "dimensions = array<i64: 1>", x[:, ::-1]),
            "broadcast_in_dim": ([a], "broadcast_dimensions = array<i64: 0, 2>", np.repeat(x[:, None], 2, 1)),
            "slice": ([a], "start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 4>, strides = array<i64: 1, 2>",
                      x[:, 1:4:2]),
            "concatenate": ([a, a], "dimension = 0 : i64", np.concatenate([x, x])),
            "pad": ([a, one], "edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, 0>, "
                    "interior_padding = array<i64: 0, 1>", padded),
            "dynamic_slice": ([a, *index], "slice_sizes = array<i64: 1, 2>", x[0:1, 1:3]),
            "dynamic_update_slice": ([a, flat_row, *index], "", updated),
            "gather": ([a, places], "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                       "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>", x[[1, 1, 0]]),
        }
        scalar = text(type, codes, ())
        written = x.T.copy()
        written[[1, 1, 0]] = [x[0, 0:2], x[0, 2:4], x[1, 0:2]]
        cases["scatter"] = ([
            (p.call("transpose", [a], text(type, codes, (4, 2)), "permutation = array<i64: 1, 0>"), text(type, codes, (4, 2))),
            places, (p.call("reshape", [(p.constant(type, codes[:6]), text(type, codes[:6]))], text(type, codes, (3, 2))),
                     text(type, codes, (3, 2)))],
            "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>", written)
        regions = {"scatter": f' ({{ ^bb0(%x: {scalar}, %y: {scalar}): "stablehlo.return"(%y) : ({scalar}) -> () }})'}
        for name, (operands, attributes, expected) in cases.items():
            value = p.call(name, operands, text(type, codes, expected.shape), attributes, regions.get(name, ""))
            p.expect(f"{name} of {type.name}", value, type, list(expected.ravel()), expected.shape)
        same = f"bitcast_convert of {type.name}"
        if isinstance(type, Float) and type.bits in (4, 8, 16, 32, 64):
            word = INTEGERS[f"ui{type.bits}"]
            p.expect(same, p.call("bitcast_convert", [flat], text(word, codes)), word, [int(code) for code in codes])
        if not isinstance(type, Complex) and type.name != "i1":
            value = p.assign(f"stablehlo.iota dim = 0 : tensor<6x{type.name}>")
            steps = rounded(type, range(6)) if isinstance(type, Float) else [type.wrap(i) for i in range(6)]
            p.expect(f"iota of {type.name}", value, type, steps)


def complex_numbers(p):
    for type in COMPLEX.values():
        part = type.part
        a, b = typed(p, type), typed(p, type, 1)
        x, y = (type.decode(codes) for codes in p.samples[type.name])

        def both(values, part=part):
            return np.array([complex(part.round(v.real), part.round(v.imag)) for v in values])
        with np.errstate(all="ignore"):
            for name, function in COMPLEX_UNARY.items():
                p.expect(f"{name} of {type.name}", p.call(name, [a], a[1]), type, both([function(v) for v in x]))
            for name, function in COMPLEX_BINARY.items():
                p.expect(f"{name} of {type.name}", p.call(name, [a, b], a[1]), type,
                         both([function(v, w) for v, w in zip(x, y)]))
            start = p.constant(type, p.samples[type.name][0][:1], ()), text(type, x, ())
            for name in ("add", "multiply"):
                p.expect(f"reduce by {name} of {type.name}", p.call(
                    "reduce", [a, start], text(type, x, ()), "dimensions = array<i64: 0>", body(name, type)), type,
                    np.array([fold(type, COMPLEX_BINARY[name], complex(x[0]), map(complex, x))]), ())
        finite = [i for i, v in enumerate(x) if np.isfinite(v)]
        codes = p.samples[type.name][0][finite]
        c = p.constant(type, codes), text(type, codes)
        p.expect(f"abs of {type.name}", p.call("abs", [c], text(part, codes)), part,
                 rounded(part, [to_odd(mpmath.hypot(x[i].real, x[i].imag)) for i in finite]), ulps=1)


def build():
    program = Program()
    for family in (elementwise_floats, elementwise_integers, broadcasts, sorting, choices, total_order, conversions, reductions, movement,
                   complex_numbers):
        family(program)
    return program


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    program = build()
    arrays = run(tmp_path_factory.mktemp("types"), program.text(), backend="reference")
    return program.cases, dict(zip(program.joined, arrays, strict=True))


def differences(kind, found, expected, ulps):
    """Indices where a value, the sign of a zero or being NaN differs."""
    if kind.endswith("i64"):
        return [i for i, (f, e) in enumerate(zip(found, expected)) if int(f) != int(e)]
    with np.errstate(invalid="ignore"):
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    same = (np.isnan(found) & np.isnan(expected)) | ((found == expected) & (np.signbit(found) == np.signbit(expected)))
    if ulps:
        with np.errstate(all="ignore"):
            unit = np.spacing(np.abs(expected).astype(Program.WIDE[kind])).astype(np.float64)
            same |= np.abs(found - expected) <= ulps * unit
    return np.flatnonzero(~same).tolist()


def test_every_type(results):
    cases, arrays = results
    wrong = []
    for case, kind, where, expected, ulps in cases:
        found = arrays[kind][where]
        places = differences(kind, found, expected, ulps)
        if places:
            wrong.append(f"{case}: {len(places)} of {len(expected)}, first at {places[0]}: found "
                         f"{found[places[0]]!r}, expected {expected[places[0]]!r}")
    assert not wrong, "\n".join(wrong)
    assert len(cases) > 2000
