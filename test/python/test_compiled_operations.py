"""Families of operations, compiled, beside the interpreter: rule C1's bits over types and shapes, none of them handed
back to the interpreter. Those with bodies, products, and those of complex numbers and matrices have files of their own."""
import ml_dtypes
import numpy as np
import pytest
from compiled_function import NARROW, NUMPY, Function, codes, spread, value
from random_programs import tensor
from test_legalize_chlo import samples

pytestmark = pytest.mark.mlir


@pytest.mark.parametrize("element", NARROW)
def test_conversions_of_narrow_floats(element, tmp_path):
    function = Function()
    x = codes(function, element)
    for other in [*NUMPY, *NARROW]:
        if other != element:
            function.give(function.convert(x, [256], element, other), [256], other)
    for other in NUMPY:
        values = spread(other)
        given = function.argument(values, other)
        function.give(function.convert(given, values.shape, other, element), values.shape, element)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_bits_of_floats_that_registers_widen(element, tmp_path):
    """Every code as a float and back, as the other float, and the bits of a computed one."""
    function = Function()
    every, shape = np.arange(2**16, dtype=np.uint16), [2**16]
    of = {name: tensor(shape, name) for name in ("ui16", "i16", "f16", "bf16")}

    def bits(name, before, after):
        return function.emit(f"stablehlo.bitcast_convert {name} : ({of[before]}) -> {of[after]}")
    number = bits(function.argument(every, "ui16"), "ui16", element)
    function.give(bits(number, element, "i16"), shape, "i16")
    function.give(function.convert(number, shape, element, "f32"), shape, "f32")
    other = "bf16" if element == "f16" else "f16"
    function.give(function.convert(bits(number, element, other), shape, other, "f32"), shape, "f32")
    kinds = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
    numbers = every[(every & 0x7FFF) <= {"f16": 0x7C00, "bf16": 0x7F80}[element]]  # which NaN arithmetic gives is not told
    few, of_few = tensor(numbers.shape, "ui16"), tensor(numbers.shape, element)
    number = function.emit(f"stablehlo.bitcast_convert {function.argument(numbers, 'ui16')} : ({few}) -> {of_few}")
    magnitude = function.emit(f"stablehlo.abs {number} : {of_few}")
    function.give(function.emit(f"stablehlo.bitcast_convert {magnitude} : ({of_few}) -> {few}"), numbers.shape, "ui16")
    found = function.assert_bits(tmp_path)
    np.testing.assert_array_equal(found[0], every.view(np.int16))
    np.testing.assert_array_equal(found[1], every.view(kinds[element]).astype(np.float32))
    np.testing.assert_array_equal(found[2], every.view(kinds[other]).astype(np.float32))
    np.testing.assert_array_equal(found[3], numbers & 0x7FFF)


@pytest.mark.parametrize("element", NARROW)
def test_arithmetic_of_narrow_floats(element, tmp_path):
    """Of every code with every code."""
    function = Function()
    x, shape = codes(function, element), [256, 256]
    of = tensor(shape, element)
    left, right = [function.emit(f"stablehlo.broadcast_in_dim {x}, dims = [{axis}] : ({tensor([256], element)}) -> {of}")
                   for axis in (0, 1)]
    if element != "f8E8M0FNU":
        for name in ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"):
            function.give(function.emit(f"stablehlo.{name} {left}, {right} : {of}"), shape, element)
        for name in ("negate", "abs", "sign", "sqrt", "rsqrt", "floor", "ceil", "round_nearest_even", "exponential",
                     "tanh"):
            function.give(function.emit(f"stablehlo.{name} {x} : {tensor([256], element)}"), [256], element)
    for direction in ("EQ", "NE", "LT", "GE"):
        for kind in ("FLOAT", "TOTALORDER"):
            less = function.emit(f"stablehlo.compare {direction}, {left}, {right}, {kind} : ({of}, {of}) -> "
                                 f"{tensor(shape, 'i1')}")
            function.give(less, shape, "i1")
    function.give(function.emit(f"stablehlo.select {less}, {left}, {right} : {tensor(shape, 'i1')}, {of}"), shape, element)
    function.assert_bits(tmp_path)


# Rows whose largest or smallest is a zero of either sign, or that have a NaN at some place, or infinities.
EXTREMES = np.array([[sign * each for each in row] for sign in (1, -1) for row in
                     [[-0.0] * 37, [0.0] * 37, [0.0] + [-0.0] * 36, [-0.0] * 36 + [0.0], [-1.0] * 20 + [-0.0] * 17,
                      [-1.0] * 20 + [-0.0] * 16 + [0.0], [*range(-30, 7)], [np.nan] + [5.0] * 36, [5.0] * 36 + [-np.nan],
                      [7.0] * 11 + [np.nan] + [-0.0] * 25, [-np.inf] * 37, [np.inf] + [0.0] * 36, [1e-45] * 5 + [-1e-45] * 32,
                      [np.inf] * 9 + [-np.nan] * 28]])


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "f16"])
def test_largest_and_smallest(element, tmp_path):
    """Of rows, from initial values of all kinds on, and beside constants on either side."""
    function, shape = Function(), list(EXTREMES.shape)
    x = function.convert(function.argument(EXTREMES, "f64"), shape, "f64", element) if element != "f64" else \
        function.argument(EXTREMES, "f64")
    of = tensor(shape, element)

    def give(name, shape):
        is_bf16 = element == "bf16"
        function.give(function.convert(name, shape, element, "f32") if is_bf16 else name, shape, "f32" if is_bf16 else element)

    hexadecimal = {"f32": "0x{}{:07X}", "f64": "0x{}{:07X}00000000", "bf16": "0x{}{:03X}", "f16": "0x{}{:03X}"}[element]
    inf = {"f32": 0xF800000, "f64": 0xFF00000, "bf16": 0xF80, "f16": 0xC00}[element]
    bounds = ["0.0", "-0.0", "5.0", "-1.5", *[hexadecimal.format(each, inf) for each in "7F"]]
    bounds.append(hexadecimal.format("7", inf + {"f32": 0x400000, "f64": 0x80000, "bf16": 0x40, "f16": 0x200}[element]))
    for name in ("maximum", "minimum"):
        for bound in bounds:
            scalar = function.constant(bound, element)
            give(function.emit(f"stablehlo.reduce({x} init: {scalar}) applies stablehlo.{name} across dimensions = [1] : "
                               f"({of}, tensor<{element}>) -> {tensor(shape[:1], element)}"), shape[:1])
            wide = function.emit(f"stablehlo.broadcast_in_dim {scalar}, dims = [] : (tensor<{element}>) -> {of}")
            for sides in ((x, wide), (wide, x)):
                give(function.emit(f"stablehlo.{name} {', '.join(sides)} : {of}"), shape)
    low, high = function.constant("-0.0", element), function.constant("0.0", element)
    for a, b in ((low, high), (high, low), (low, low), (high, high)):
        give(function.emit(f"stablehlo.clamp {a}, {x}, {b} : (tensor<{element}>, {of}, tensor<{element}>) -> {of}"), shape)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["i4", "ui4", "i2", "ui2"])
def test_integers_of_fewer_than_8_bits(element, tmp_path):
    function = Function()
    given = function.argument(np.arange(-128, 128).astype(np.int8), "i8")
    x, shape = function.convert(given, [256], "i8", element), [256, 256]
    of = tensor(shape, element)
    left, right = [function.emit(f"stablehlo.broadcast_in_dim {x}, dims = [{axis}] : ({tensor([256], element)}) -> {of}")
                   for axis in (0, 1)]
    for name in ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                 "shift_left", "shift_right_logical", "shift_right_arithmetic"):
        function.give(function.emit(f"stablehlo.{name} {left}, {right} : {of}"), shape, element)
    for name in ("not", "popcnt", "count_leading_zeros", "negate", "abs", "sign"):
        if element[0] == "u" and name in ("negate", "abs", "sign"):
            continue
        function.give(function.emit(f"stablehlo.{name} {x} : {tensor([256], element)}"), [256], element)
    kind = "UNSIGNED" if element[0] == "u" else "SIGNED"
    function.give(function.emit(f"stablehlo.compare LT, {left}, {right}, {kind} : ({of}, {of}) -> {tensor(shape, 'i1')}"),
                  shape, "i1")
    for other in [*NUMPY, "f8E4M3FN", "f4E2M1FN"]:
        function.give(function.convert(x, [256], element, other), [256], other)
    for other in NUMPY:
        values = spread(other)
        function.give(function.convert(function.argument(values, other), values.shape, other, element), values.shape,
                      element)
    zero = function.constant(0, element)
    function.give(function.emit(f"stablehlo.reduce({left} init: {zero}) applies stablehlo.add across dimensions = [1] : "
                                f"({of}, tensor<{element}>) -> {tensor([256], element)}"), [256], element)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_next_after(element, tmp_path):
    x, y = samples(np.random.default_rng(16), NUMPY[element])
    function = Function()
    names = [function.argument(each, element) for each in (x, y)]
    of = tensor(x.shape, element)
    function.give(function.emit(f"\"chlo.next_after\"({', '.join(names)}) : ({of}, {of}) -> {of}"), x.shape, element)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f32", "bf16", "i32", "ui8", "f8E4M3FN"])
def test_top_k(element, tmp_path):
    function = Function()
    for case, (shape, k) in enumerate([([33], 5), ([3, 40], 40), ([2, 2, 7], 1), ([4, 9], 0), ([2, 3000], 50)]):
        x = value(function, shape, element, case)
        result = [*shape[:-1], k]
        name = function.emit(f"chlo.top_k({x}, k = {k}) : {tensor(shape, element)} -> ({tensor(result, element)}, "
                             f"{tensor(result, 'i32')})")
        function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:2 =")
        function.give(f"{name}#0", result, element)
        function.give(f"{name}#1", result, "i32")
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_reduced_precision(element, tmp_path):
    function = Function()
    values = spread("f32" if element == "bf16" else element)
    x = function.argument(values, "f32" if element == "bf16" else element)
    if element == "bf16":
        x = function.convert(x, values.shape, "f32", element)
    for exponent, mantissa in [(8, 7), (5, 10), (5, 2), (4, 3), (1, 0), (2, 1), (11, 52), (8, 23), (15, 60), (3, 0), (8, 0)]:
        name = function.emit(f"stablehlo.reduce_precision {x}, format = e{exponent}m{mantissa} : {tensor(values.shape, element)}")
        if element == "bf16":
            name = function.convert(name, values.shape, element, "f32")
        function.give(name, values.shape, "f32" if element == "bf16" else element)
    function.assert_bits(tmp_path)


# Shape and feature axis.
FEATURES = [([4, 3], 1), ([2, 3, 5, 4], 1), ([2, 5, 4, 3], 3), ([3, 9], 0), ([5], 0), ([0, 3], 1), ([2, 300, 7], 2)]
BATCH_NORM_ELEMENTS = ["f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FNUZ", "f8E4M3FN"]


def batch_norm(function, name, case, element, results):
    """The operation of drawn values, the variances among them not negative."""
    shape, feature = FEATURES[case]
    operands = {"inference": "xlllv", "training": "xll", "grad": "xllvx"}[name]
    names, kinds = [], []
    for i, which in enumerate(operands):
        extents = shape if which == "x" else [shape[feature]]
        names.append(value(function, extents, element, 7 * case + i))
        kinds.append(tensor(extents, element))
        if which == "v":
            names[-1] = function.emit(f"stablehlo.abs {names[-1]} : {kinds[-1]}")
    of = [tensor(shape, element), *[tensor([shape[feature]], element)] * (results - 1)]
    given = of[0] if results == 1 else f"({', '.join(of)})"
    found = function.emit(f"\"stablehlo.batch_norm_{name}\"({', '.join(names)}) {{epsilon = 1.0e-3 : f32, "
                          f"feature_index = {feature} : i64}} : ({', '.join(kinds)}) -> {given}")
    if results == 1:
        function.give(found, shape, element)
        return
    function.lines[-1] = function.lines[-1].replace(f"{found} =", f"{found}:{results} =")
    for i in range(results):
        function.give(f"{found}#{i}", shape if i == 0 else [shape[feature]], element)


@pytest.mark.parametrize("element", BATCH_NORM_ELEMENTS)
def test_batch_norm_inference(element, tmp_path):
    function = Function()
    for case in range(len(FEATURES)):
        batch_norm(function, "inference", case, element, 1)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("name", ["training", "grad"])
@pytest.mark.parametrize("element", BATCH_NORM_ELEMENTS)
def test_batch_norm_sums(element, name, tmp_path):
    """Sums of f64 in another order: of f64 what they are off by, else a rounding that falls on the other side of a tie."""
    function = Function()
    for case in range(len(FEATURES)):
        batch_norm(function, name, case, element, 3)
    ulp = {"f64": 2.0**-44, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}.get(element, 0.25)
    wanted, found = function.run(tmp_path, "reference"), function.run(tmp_path, "compiled")
    different = total = 0
    for a, b in zip(found, wanted, strict=True):
        largest = np.max(np.abs(b), initial=0, where=np.isfinite(b))
        np.testing.assert_allclose(a, b, rtol=ulp, atol=2.0**-44 * float(largest))
        different += np.count_nonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
        total += b.size
    assert element == "f64" or different <= total / 1000
    function.assert_all_is_compiled(tmp_path)


# States whose counters carry into the next word, and into nothing.
STATES = [[0, 0], [5, 2**64 - 2], [2**64 - 1, 2**32 - 1], [1, 2, 3], [5, 2**64 - 1, 11], [7, 2**64 - 3, 2**64 - 1]]


@pytest.mark.parametrize("algorithm", ["THREE_FRY", "PHILOX", "DEFAULT"])
@pytest.mark.parametrize("element", [*(each for each in NUMPY if each != "i1"), "bf16", "i2", "i4", "ui2", "ui4", *NARROW])
def test_random_bits(element, algorithm, tmp_path):
    """Both results, of extents that are odd, even and none, and of more than one thread takes at a time."""
    function = Function()
    shapes = [[], [1], [7], [2, 3], [3, 2], [3, 5, 3], [1, 1], [0], [3, 0], [4, 0, 3], [40, 151, 3]]
    for case, shape in enumerate(shapes):
        state = STATES[case % (3 if algorithm == "THREE_FRY" else 6)]
        state = function.argument(np.array(state, np.uint64), "ui64")
        of = tensor(function.arrays[-1].shape, "ui64")
        name = function.emit(f"stablehlo.rng_bit_generator {state}, algorithm = {algorithm} : ({of}) -> "
                             f"({of}, {tensor(shape, element)})")
        function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:2 =")
        function.give(f"{name}#0", function.arrays[-1].shape, "ui64")
        bits = f"{name}#1"
        if element in ("f32", "f64"):  # the bits of a NaN count, too
            of = f"ui{element[1:]}"
            bits = function.emit(f"stablehlo.bitcast_convert {bits} : ({tensor(shape, element)}) -> {tensor(shape, of)}")
            function.give(bits, shape, of)
        elif element == "bf16":
            function.give(function.convert(bits, shape, element, "f32"), shape, "f32")
        else:
            function.give(bits, shape, element)
    function.assert_bits(tmp_path)


def test_random_bits_in_a_loop(tmp_path):
    """Dropout's: a state that a loop carries, the sum of what is drawn."""
    function = Function()
    state = function.argument(np.array([3, 2**64 - 40], np.uint64), "ui64")
    function.lines.append(f"""  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<5x9xui32>
  %r:3 = stablehlo.while(%i = %zero, %s = {state}, %sum = %none) : tensor<i32>, tensor<2xui64>, tensor<5x9xui32>
   cond {{
    %end = stablehlo.constant dense<4> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %t, %bits = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x9xui32>)
    %more = stablehlo.add %sum, %bits : tensor<5x9xui32>
    stablehlo.return %next, %t, %more : tensor<i32>, tensor<2xui64>, tensor<5x9xui32>
  }}""")
    function.give("%r#1", [2], "ui64")
    function.give("%r#2", [5, 9], "ui32")
    function.assert_bits(tmp_path)


def test_steps_in_a_loop_write_into_what_it_carries(tmp_path):
    """A scatter into one of two tensors that change places, a sort and a convolution of the other."""
    function = Function()
    x, y = value(function, [1, 9, 4], "i32", 1), value(function, [1, 9, 4], "i32", 2)
    of = "tensor<1x9x4xi32>"
    function.lines.append(f"""  %zero = stablehlo.constant dense<0> : tensor<i32>
  %w = stablehlo.constant dense<[[[1, 2, 0, 1], [0, 1, 3, 0], [2, 0, 1, 1], [1, 1, 0, 2]]]> : tensor<1x4x4xi32>
  %at = stablehlo.constant dense<[[0, 1], [0, 8], [0, 1]]> : tensor<3x2xi32>
  %r:3 = stablehlo.while(%i = %zero, %a = {x}, %b = {y}) : tensor<i32>, {of}, {of}
   cond {{
    %end = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %c = stablehlo.convolution(%b, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({of}, tensor<1x4x4xi32>) -> {of}
    %s = "stablehlo.sort"(%c) <{{dimension = 1 : i64}}> ({{
    ^bb0(%l: tensor<i32>, %g: tensor<i32>):
      %less = stablehlo.compare LT, %l, %g, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }}) : ({of}) -> {of}
    %u = stablehlo.slice %s [0:1, 0:3, 0:4] : ({of}) -> tensor<1x3x4xi32>
    %v = stablehlo.reshape %u : (tensor<1x3x4xi32>) -> tensor<3x4xi32>
    %n = "stablehlo.scatter"(%a, %at, %v) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}}> ({{
    ^bb0(%l: tensor<i32>, %g: tensor<i32>):
      %sum = stablehlo.add %l, %g : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }}) : ({of}, tensor<3x2xi32>, tensor<3x4xi32>) -> {of}
    stablehlo.return %next, %s, %n : tensor<i32>, {of}, {of}
  }}""")
    function.give("%r#1", [1, 9, 4], "i32")
    function.give("%r#2", [1, 9, 4], "i32")
    function.assert_bits(tmp_path)


SCALED = {
    "mxfp8_e4m3": ("f8E4M3FN", "scale f8E8M0FNU, block [1, 32]"), "mxfp4": ("f4E2M1FN", "scale f8E8M0FNU, block [1, 32]"),
    "mxfp6_e3m2": ("f6E3M2FN", "scale f8E8M0FNU, block [1, 32]"), "mxint8": ("i8", "scale f8E8M0FNU, block [1, 32]"),
    "nvfp4": ("f4E2M1FN", "scale f8E4M3FN, block [1, 16], outer f32"), "rows": ("f8E5M2", "scale bf16, block [1, 70]"),
    "blocks": ("f8E4M3FN", "scale f32, block [2, 32]"),
}


@pytest.mark.parametrize("name", SCALED)
def test_scaled_tensors_and_their_parts(name, tmp_path):
    """Quantized, dequantized and taken apart; of parts again. Ragged: 5 rows of 70."""
    function = Function()
    element, rest = SCALED[name]
    scaled = f"!octavo.scaled<5x70x{element}, {rest}>"
    block = [int(n) for n in rest.split("block [")[1].split("]")[0].split(", ")]
    grid = tensor([-(-5 // block[0]), -(-70 // block[1])], rest.split()[1].rstrip(","))
    drawn = np.random.default_rng(2).normal(0, 3, (5, 70)).astype(np.float32)
    drawn[1] *= 1e-3
    drawn[2, :40] = 0
    rule = "floor" if "f8E8M0FNU" in rest else "nearest"
    x = function.argument(drawn, "f32")
    quantized = function.emit(f"octavo.quantize {x}, rule = {rule} : tensor<5x70xf32> -> {scaled}")
    back = function.emit(f"octavo.dequantize {quantized} : {scaled} -> tensor<5x70xf32>")
    function.give(back, [5, 70], "f32")
    parts = [tensor([5, 70], element), grid, *(["tensor<f32>"] if "outer" in rest else [])]
    names = [f"%part{i}" for i in range(len(parts))]
    function.lines.append(f"  {', '.join(names)} = octavo.unpack {quantized} : ({scaled}) -> ({', '.join(parts)})")
    function.give(names[0], [5, 70], element)
    again = function.emit(f"octavo.pack {', '.join(names)} : ({', '.join(parts)}) -> {scaled}")
    function.give(function.emit(f"octavo.dequantize {again} : {scaled} -> tensor<5x70xf32>"), [5, 70], "f32")
    first, elements, second = function.assert_bits(tmp_path)
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - drawn).max() < np.abs(drawn).max() / 3 and not first[2, :32].any() and elements.any()


JOINED = {"last axis": (1, [5, 0, 64, 1, 33], []), "middle axis": (1, [3, 0, 2, 9], [6]), "first axis": (0, [4, 1, 8], [17]),
          "two inputs": (1, [31, 32], []), "more inputs than loops": (1, [2] * 140, [])}


@pytest.mark.parametrize("element", ["f32", "bf16", "i8", "f8E4M3FN"])
@pytest.mark.parametrize("joined", JOINED)
def test_joined_tensors(joined, element, tmp_path):
    """By themselves; computed before and after; by twos that are cut at other places; and with a row's largest after them."""
    axis, extents, inner = JOINED[joined]
    function, rng = Function(), np.random.default_rng(11)
    shapes = [[7] * axis + [extent] + inner for extent in extents]
    arrays = [rng.integers(-100, 100, shape).astype(np.int8) for shape in shapes]
    given = [function.argument(array, "i8") for array in arrays]
    given = [function.convert(x, shape, "i8", element) for x, shape in zip(given, shapes)] if element != "i8" else given
    whole = [7] * axis + [sum(extents)] + inner

    def join(names, shapes):
        types = ", ".join(tensor(shape, element) for shape in shapes)
        return function.emit(f"stablehlo.concatenate {', '.join(names)}, dim = {axis} : ({types}) -> {tensor(whole, element)}")

    once, back = join(given, shapes), join(given[::-1], shapes[::-1])
    negated = join([function.emit(f"stablehlo.negate {x} : {tensor(shape, element)}") for x, shape in zip(given, shapes)], shapes)
    total = function.emit(f"stablehlo.add {once}, {back} : {tensor(whole, element)}")
    for name in (once, negated, total):
        function.give(name, whole, element)
    least = function.convert(function.constant(-100, "i8"), [], "i8", element) if element != "i8" else function.constant(-100, "i8")
    largest = function.emit(f"stablehlo.reduce({total} init: {least}) applies stablehlo.maximum across dimensions = [1] : "
                            f"({tensor(whole, element)}, tensor<{element}>) -> {tensor(whole[:1] + whole[2:], element)}")
    function.give(largest, whole[:1] + whole[2:], element)
    found = function.assert_bits(tmp_path)
    if element in ("f32", "i8"):
        np.testing.assert_array_equal(found[0], np.concatenate(arrays, axis))
        np.testing.assert_array_equal(found[2], np.concatenate(arrays, axis) + np.concatenate(arrays[::-1], axis, dtype=found[0].dtype))
