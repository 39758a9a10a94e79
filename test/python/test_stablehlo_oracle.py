"""The StableHLO dialect against the one that jaxlib carries: what either of them accepts, and the
text that both print."""

import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.mlir

ir = pytest.importorskip("jaxlib.mlir.ir", reason="jaxlib has the StableHLO to compare with")
jax_mlir = pytest.importorskip("jax._src.interpreters.mlir", reason="jax makes its context")

OCTAVO_OPT = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo-opt"
SEPARATOR = "\n// -----\n"

FLOATS = (
    "f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ "
    "f8E8M0FNU bf16 f16 f32 f64"
).split()
SIGNED = "i2 i4 i8 i16 i32 i64".split()
UNSIGNED = "ui2 ui4 ui8 ui16 ui32 ui64".split()
COMPLEX = ["complex<f32>", "complex<f64>"]
PER_TENSOR = ["!quant.uniform<i8:f32, 5.000000e-01:3>", "!quant.uniform<u4<0:14>:bf16, 2.500000e-01>"]
PER_AXIS = ["!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:3}>"]
TYPES = ["i1", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]
NOT_ELEMENTS = ["si8", "i3", "i128", "ui1", "index", "f80", "tf32", "complex<f16>", "none"]

UNARY = (
    "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate "
    "not round_nearest_afz round_nearest_even rsqrt sign sine sqrt tanh"
).split()
BINARY = (
    "add and divide maximum minimum multiply or power remainder subtract xor"
).split()


@pytest.fixture(scope="module")
def real():
    """What jaxlib's StableHLO prints of a program; None where it refuses it."""
    context = jax_mlir.make_ir_context()

    def parse(text):
        with context, ir.Location.unknown():
            try:
                return str(ir.Module.parse(text)).strip()
            except ir.MLIRError:
                return None

    return parse


def ours(texts):
    """What octavo-opt prints of each program; None where it refuses one. One process reads all."""
    run = subprocess.run(
        [OCTAVO_OPT, "-split-input-file", "-"],
        input=SEPARATOR.join(texts), capture_output=True, text=True, timeout=300,
    )
    assert run.returncode in (0, 1), run.stderr[-2000:]
    printed = [part.strip() or None for part in run.stdout.split("// -----")]
    assert len(printed) == len(texts)
    return printed


def function(arguments, body):
    arguments = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    return f"func.func @f({arguments}) {{\n  {body}\n  return\n}}"


def unary(name, element, result=None):
    result = result or f"tensor<2x{element}>"
    return function(
        {"x": f"tensor<2x{element}>"},
        f'%0 = "stablehlo.{name}"(%x) : (tensor<2x{element}>) -> {result}',
    )


def binary(name, element):
    t = f"tensor<2x{element}>"
    return function({"x": t, "y": t}, f'%0 = "stablehlo.{name}"(%x, %y) : ({t}, {t}) -> {t}')


def absolute(element):
    inner = element[len("complex<") : -1] if element in COMPLEX else element
    return unary("abs", element, f"tensor<2x{inner}>")


def others(element):
    """One program an operation that takes any element type, or a choice of them."""
    t, s = f"tensor<2x3x{element}>", f"tensor<{element}>"
    x = {"x": t}

    def one(operands, attributes, result, arguments):
        types = ", ".join(arguments[o[1:]] for o in operands)
        name = attributes.pop("op")
        text = ", ".join(f"{k} = {v}" for k, v in attributes.items())
        return function(
            arguments,
            f'%0 = "stablehlo.{name}"({", ".join(operands)}) {{{text}}} : ({types}) -> {result}',
        )

    programs = {
        "clamp": one(["%s", "%x", "%s"], {"op": "clamp"}, t, x | {"s": s}),
        "compare": one(
            ["%x", "%x"],
            {"op": "compare", "comparison_direction": "#stablehlo<comparison_direction EQ>"},
            "tensor<2x3xi1>", x,
        ),
        "convert": one(["%x"], {"op": "convert"}, "tensor<2x3xf32>", x),
        "is_finite": one(["%x"], {"op": "is_finite"}, "tensor<2x3xi1>", x),
        "reduce_precision": one(
            ["%x"], {"op": "reduce_precision", "exponent_bits": "4 : i32", "mantissa_bits": "3 : i32"},
            t, x,
        ),
        "select": one(["%p", "%x", "%x"], {"op": "select"}, t, x | {"p": "tensor<i1>"}),
        "iota": one([], {"op": "iota", "iota_dimension": "1 : i64"}, t, {}),
        "broadcast_in_dim": one(
            ["%x"], {"op": "broadcast_in_dim", "broadcast_dimensions": "array<i64: 0, 2>"},
            f"tensor<2x4x3x{element}>", x,
        ),
        "concatenate": one(
            ["%x", "%x"], {"op": "concatenate", "dimension": "0 : i64"},
            f"tensor<4x3x{element}>", x,
        ),
        "pad": one(
            ["%x", "%s"],
            {"op": "pad", "edge_padding_low": "array<i64: 0, 1>",
             "edge_padding_high": "array<i64: 1, -1>", "interior_padding": "array<i64: 0, 2>"},
            f"tensor<3x7x{element}>", x | {"s": s},
        ),
        "reshape": one(["%x"], {"op": "reshape"}, f"tensor<6x{element}>", x),
        "reverse": one(["%x"], {"op": "reverse", "dimensions": "array<i64: 1>"}, t, x),
        "slice": one(
            ["%x"],
            {"op": "slice", "start_indices": "array<i64: 0, 0>",
             "limit_indices": "array<i64: 2, 3>", "strides": "array<i64: 1, 2>"},
            f"tensor<2x2x{element}>", x,
        ),
        "transpose": one(
            ["%x"], {"op": "transpose", "permutation": "array<i64: 1, 0>"},
            f"tensor<3x2x{element}>", x,
        ),
        "dot_general": one(
            ["%x", "%x"],
            {"op": "dot_general", "dot_dimension_numbers":
             "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>"},
            f"tensor<2x2x{element}>", x,
        ),
        "gather": one(
            ["%x", "%i"],
            {"op": "gather", "dimension_numbers":
             "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
             "start_index_map = [0], index_vector_dim = 1>", "slice_sizes": "array<i64: 1, 3>"},
            f"tensor<5x3x{element}>", x | {"i": "tensor<5x1xi32>"},
        ),
        "optimization_barrier": one(["%x"], {"op": "optimization_barrier"}, t, x),
        "tuple": one(["%x"], {"op": "tuple"}, f"tuple<{t}>", x),
        "custom_call": one(["%x"], {"op": "custom_call", "call_target_name": '"f"'}, t, x),
        "reduce": function(
            x | {"s": s},
            f"""%0 = "stablehlo.reduce"(%x, %s) ({{
            ^bb0(%a: {s}, %b: {s}):
              %1 = "stablehlo.maximum"(%a, %b) : ({s}, {s}) -> {s}
              "stablehlo.return"(%1) : ({s}) -> ()
            }}) {{dimensions = array<i64: 1>}} : ({t}, {s}) -> tensor<2x{element}>""",
        ),
    }
    return programs


def programs(element):
    table = {name: unary(name, element) for name in UNARY if name != "abs"}
    table["abs"] = absolute(element)
    table |= {name: binary(name, element) for name in BINARY}
    return table | others(element)


@pytest.mark.parametrize("element", TYPES)
def test_same_operations_take_an_element_type(element, real):
    table = programs(element)
    differences = []
    for (name, text), mine in zip(table.items(), ours(list(table.values()))):
        theirs = real(text)
        if (mine is None) != (theirs is None):
            differences.append((name, "refused" if mine is None else "accepted"))
        elif mine is not None and mine != theirs:
            differences.append((name, mine, theirs))
    assert not differences


# jaxlib's StableHLO comes without quantized types, so what takes them is the specification's tables
# of inputs: per tensor everything but these, per axis these alone.
NOT_PER_TENSOR = {"and", "convert", "not", "or", "xor"}
PER_AXIS_TOO = {"add", "broadcast_in_dim", "custom_call", "tuple"}


@pytest.mark.parametrize("element", PER_TENSOR)
def test_operations_that_take_elements_quantized_per_tensor(element):
    table = programs(element)
    refused = {n for n, mine in zip(table, ours(list(table.values()))) if mine is None}
    # A right operand with a zero point has no product (C15).
    assert refused == NOT_PER_TENSOR | ({"dot_general"} if element == PER_TENSOR[0] else set())


@pytest.mark.parametrize("element", PER_AXIS)
def test_operations_that_take_elements_quantized_per_axis(element):
    table = programs(element)
    assert {n for n, mine in zip(table, ours(list(table.values()))) if mine is not None} == PER_AXIS_TOO


# Shapes that leave something open, and those that they meet.
SHAPES = [
    ("?x3", "2x3", "?x3"), ("?x3", "2x3", "2x3"), ("2x3", "?x?", "2x?"), ("?x3", "2x4", "?x?"),
    ("?x3", "?x3", "2x3x1"),
]
BOUNDED = [
    ("?xf32, #stablehlo.bounds<4>", "4xf32", "4xf32"),
    ("?xf32, #stablehlo.bounds<4>", "5xf32", "5xf32"),
    ("?xf32, #stablehlo.bounds<4>", "?xf32, #stablehlo.bounds<3>", "?xf32, #stablehlo.bounds<3>"),
    ("?xf32, #stablehlo.bounds<4>", "?xf32", "?xf32, #stablehlo.bounds<5>"),
    ("?xf32, #stablehlo.type_extensions<bounds = [4]>", "?xf32", "?xf32"),
]


def test_shapes_that_leave_something_open_meet_alike(real):
    triples = [tuple(f"{shape}xf32" for shape in shapes) for shapes in SHAPES] + BOUNDED
    texts = []
    for x, y, result in triples:
        x, y, result = f"tensor<{x}>", f"tensor<{y}>", f"tensor<{result}>"
        predicate = result.replace("f32", "i1")
        texts += [
            function({"x": x, "y": y}, f'%0 = "stablehlo.add"(%x, %y) : ({x}, {y}) -> {result}'),
            function({"x": x, "y": y}, f'%0 = "stablehlo.power"(%x, %y) : ({x}, {y}) -> {result}'),
            function({"x": x}, f'%0 = "stablehlo.negate"(%x) : ({x}) -> {result}'),
            function(
                {"x": x, "y": y},
                '%0 = "stablehlo.compare"(%x, %y) {comparison_direction = '
                f"#stablehlo<comparison_direction EQ>}} : ({x}, {y}) -> {predicate}",
            ),
            function(
                {"x": x, "y": y},
                f'%0 = "stablehlo.concatenate"(%x, %y) {{dimension = 0 : i64}} : ({x}, {y}) -> {result}',
            ),
        ]
    assert ours(texts) == [real(text) for text in texts]


@pytest.mark.parametrize("element", NOT_ELEMENTS)
def test_other_types_are_refused(element):
    table = programs(element)
    assert not [n for n, mine in zip(table, ours(list(table.values()))) if mine is not None]


def test_attributes_of_others_are_written_in_the_same_place(real):
    table = {n: t for n, t in programs("f32").items() if n != "reduce"}
    texts = [
        re.sub(
            r'("stablehlo\.\w+"\([^)]*\))(?: \{([^}]*)\})?',
            lambda m: f"{m[1]} {{{', '.join(filter(None, [m[2], 'foo.bar']))}}}",
            text, count=1,
        )
        for text in table.values()
    ]
    theirs = [real(text) for text in texts]
    assert sum("foo.bar" in text for text in theirs if text) >= 40
    assert ours(texts) == theirs


FOLDERS = [Path(__file__).parents[1] / name for name in ("StableHLO", "CHLO", "Sdy")]
INVALID = sorted(file for folder in FOLDERS for file in folder.glob("*invalid.mlir") if "unlike-jaxlib" not in file.name)

# What octavo refuses and jaxlib takes. Where it is not said otherwise, the specification has the
# constraint and jaxlib's verifier does not check it.
STRICTER = [
    "(C11) precision_config",  # dot_general
    "(C13) lhs and rhs",  # dot_general: of two kinds; of one kind, both take them
    "(C3) elements of type",  # compare
    "(C2) init value",  # reduce
    "(C6) for input 0",  # reduce: the two arguments have different types
    "(C6) the body's type",  # reduce: f16 cannot hold f32
    "called_computations must name",  # custom_call: a symbol must name something
    "call_target_name must not be empty",  # it could not be read again
    "bounds must not be negative",
    "4294967296x4294967296",  # more elements than 63 bits count
    "(einsum_config)",  # the specification does not list einsum; jaxlib reads its equation when it lowers it
    "(C7) output_dimensions must have one number",  # dynamic_broadcast_in_dim
    "(C2) output_shape must have one number",  # dynamic_iota
    "(O1) the result must have the operand's element type and rank",  # real_dynamic_slice
    "(I2) size must be in",  # set_dimension_size: a constant beyond the bound
    "(C6) update 0 must have the input's element type",  # scatter
    "(I3) dim must be in",  # torch_index_select
    "(I2) operand and index must have one extent",  # torch_index_select
    "(I1) the state must be a list of ui64",  # rng_bit_generator
    "(C2) the state of",  # rng_bit_generator
    "(C24) precision_config must have an entry",  # convolution
    "(C3) init value 0 must have",  # reduce_window
    "(C1) source must have the operand's element type",  # select_and_scatter
    "(C3) init_value must have",  # select_and_scatter
    "source_target_pairs must",  # send, recv: jaxlib looks at those of collective_permute only
    "'stablehlo.send' op (C",
    "'stablehlo.recv' op (C",
    "'stablehlo.cross-replica-sum' op",  # jaxlib does not look at its groups
    "(C5) use_global_device_ids needs",  # all_gather
    "(C6) a result must have",  # all_gather: with the number of processes known
    "(C6) there must be at least one operand",  # all_gather
    "'stablehlo.all_gather' op (I3)",  # groups by axes of a mesh
    "(C1) the processes of a group",  # reduce_scatter
    "(C8) the operand must have",  # reduce_scatter
    "(C4) the body must return",  # async_start
    "extents must be equal or 1; axis",  # chlo.broadcast_*
    "broadcast_dimensions must ascend",  # chlo.broadcast_*
    "must have an entry for each of the 1 axes",  # chlo.broadcast_*
    "are compared as",  # chlo.broadcast_compare
    "'chlo.ragged_dot' op operands and result must all be",
    "'chlo.scan' op scan_dim_size must be given",
    "'chlo.scan' op carries must have",
]


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.name)
def test_what_octavo_refuses_jaxlib_refuses(file, real):
    accepted = [c for c in file.read_text().split("// -----") if real(c) is not None]
    unlisted = [c for c in accepted if not any(reason in c for reason in STRICTER)]
    assert not unlisted


def test_whole_programs_of_every_family_print_alike(real):
    files = [f for folder in FOLDERS for f in folder.glob("*.mlir") if "invalid" not in f.name]
    for file in files:
        if "missing" not in file.name and "unlike-jaxlib" not in file.name and "!quant" not in file.read_text():
            assert ours([file.read_text()]) == [real(file.read_text())], file.name
