"""Compiled programs of jax.lax.ragged_dot: each row is multiplied by the matrix of its group alone (chlo.ragged_dot, which
JAX prints for a TPU; rule I12), beside the interpreter and beside NumPy."""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import pytest
from program_commands import octavo as command
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

GROUPS, DEPTH, COLUMNS = 4, 96, 40
SIZES = {  # of so many rows
    "like": lambda m: [m // 4, m // 4, m // 4, m - 3 * (m // 4)], "empty ones": lambda m: [0, m // 3, 0, m - m // 3],
    "all in the first": lambda m: [m, 0, 0, 0], "all in the last": lambda m: [0, 0, 0, m],
    "rows left over": lambda m: [m // 5, 0, m // 2, m // 9], "none": lambda m: [0, 0, 0, 0],
    "beyond the rows": lambda m: [m // 2, m, 7, 2**31 - 1],
}
ragged_dot = lambda x, w, sizes: jax.lax.ragged_dot(x, w, sizes, preferred_element_type=jnp.float32)


def lowered(function, *arguments):
    return jax.jit(function).trace(*arguments).lower(lowering_platforms=("tpu",)).as_text(debug_info=True)


def runs(sizes, rows):
    """Of each group, and of what is in none."""
    ends = np.minimum(np.cumsum(np.concatenate([[0], np.asarray(sizes, np.int64)])), rows)
    return [*zip(ends, ends[1:]), (ends[-1], rows)]


def summed(x, w, sizes):
    """In f64, and how far f32 may be off (rule P10)."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    y, bound = (np.zeros((len(x), w.shape[2])) for _ in range(2))
    for group, (begin, end) in enumerate(runs(sizes, len(x))[:-1]):
        y[begin:end] = x[begin:end] @ w[group]
        bound[begin:end] = np.abs(x[begin:end]) @ np.abs(w[group])
    return y, ((1 + 2.0**-24) ** (w.shape[1] + 1) - 1) * bound + 2.0**-125 * w.shape[1]


def drawn(rows, dtype=np.float32, seed=5):
    numbers = np.random.default_rng(seed)
    normal = lambda *shape: numbers.standard_normal(shape).astype(np.float32).astype(dtype)
    return normal(rows, DEPTH), normal(GROUPS, DEPTH, COLUMNS)


def is_grouped(program):
    """Whether all of it is code, and has one such product."""
    facts = program.explain()
    return not facts["interpreted"] and ["for each group of rows" in what for what, _ in facts["products"]] == [True]


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("rows", [1, 17, 130])
def test_each_row_is_multiplied_by_the_matrix_of_its_group(rows, dtype):
    x, w = drawn(rows, dtype)
    program = octavo.compile(lowered(ragged_dot, x, w, np.zeros(GROUPS, np.int32)))
    alone = [program(x, w, rows * np.eye(GROUPS, dtype=np.int32)[group]) for group in range(GROUPS)]
    for name, of in SIZES.items():
        sizes = np.array(of(rows), np.int32)
        found = program(x, w, sizes)
        expected, bound = summed(x, w, sizes)
        assert (np.abs(found - expected) <= bound).all(), name
        groups = runs(sizes, rows)
        assert not found[slice(*groups[-1])].tobytes().strip(b"\0"), name  # +0
        for whole, (begin, end) in zip(alone, groups):  # however rows are cut
            assert found[begin:end].tobytes() == whole[begin:end].tobytes(), name
    assert is_grouped(program)


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.int64, np.uint64])
def test_sizes_of_any_type(dtype):
    """Sums of integers, which are the interpreter's in any order."""
    numbers = np.random.default_rng(1)
    x, w = (numbers.integers(-8, 9, shape).astype(np.float32) for shape in ((50, DEPTH), (GROUPS, DEPTH, COLUMNS)))
    text = lowered(ragged_dot, x, w, np.zeros(GROUPS, np.int32))
    element = np.dtype(dtype).name.replace("uint", "ui").replace("int", "i")
    text = text.replace("tensor<4xi32>", f"tensor<4x{element}>")
    programs = [octavo.compile(text, backend=backend) for backend in ("compiled", "reference")]
    largest = np.iinfo(dtype).max
    for sizes in ([3, 0, 40, 2], [0, largest, largest, 1], [largest, 1, 2, 3]):
        results = [program(x, w, np.array(sizes, dtype)) for program in programs]
        np.testing.assert_array_equal(*results)
    if np.issubdtype(dtype, np.signedinteger):
        for program in programs:
            with pytest.raises(octavo.ProgramError, match="'chlo.ragged_dot'.*group sizes must not be negative; that of group 2 is -"):
                program(x, w, np.array([1, 2, -3, 4], dtype))


def by_columns(x, w, sizes):
    return ragged_dot(x, jnp.swapaxes(w, 1, 2), sizes)


def groups_last(x, w, sizes):
    return ragged_dot(x, jnp.moveaxis(w, 2, 0), sizes)


def turned(x, w, sizes):
    return ragged_dot(x.T, w, sizes)


def of_two_axes(x, w, sizes):
    numbers = jax.lax.RaggedDotDimensionNumbers((((1, 2), (1, 3)), ((), ())), [0], [0])
    return jax.lax.ragged_dot_general(x.reshape(-1, 8, DEPTH // 8), w.reshape(GROUPS, 8, COLUMNS, DEPTH // 8), sizes, numbers)


def widened(x, w, sizes):
    return ragged_dot(x, w.astype(jnp.float32), sizes)


LAYOUTS = {
    by_columns: lambda x, w: (x, np.swapaxes(w, 1, 2)), groups_last: lambda x, w: (x, np.moveaxis(w, 0, 2)),
    turned: lambda x, w: (x.T, w), widened: lambda x, w: (x, w.astype(ml_dtypes.bfloat16)),
    of_two_axes: lambda x, w: (x, np.transpose(w.reshape(GROUPS, 8, DEPTH // 8, COLUMNS), (0, 1, 3, 2))),
}


@pytest.mark.parametrize("function", LAYOUTS)
def test_wherever_sides_lie(function):
    x, w = drawn(60)
    w = w.astype(ml_dtypes.bfloat16).astype(np.float32)
    given = [np.ascontiguousarray(each) for each in LAYOUTS[function](x, w)]
    sizes = np.array([20, 0, 31, 4], np.int32)
    program = octavo.compile(lowered(function, *given, sizes))
    plain = octavo.compile(lowered(ragged_dot, x, w, sizes))
    assert program(*given, sizes).tobytes() == plain(x, w, sizes).tobytes()
    assert is_grouped(program)


def test_matrices_that_the_program_makes():
    """And sizes: nothing comes again, and each run packs the matrices of groups that have rows."""
    x, w = drawn(60)

    def function(x, w, experts):
        return jax.lax.ragged_dot(x, w * w, jax.nn.one_hot(experts, GROUPS, dtype=jnp.int32).sum(0))

    experts = np.sort(np.random.default_rng(0).choice([0, 2, 3], 60)).astype(np.int32)
    program = octavo.compile(lowered(function, x, w, experts))
    for turn in (experts, np.full(60, 1, np.int32), experts):
        sizes = np.bincount(turn, minlength=GROUPS)
        expected, bound = summed(x, w * w, sizes)
        assert (np.abs(program(x, w, turn) - expected) <= bound).all()
    assert not program.explain()["interpreted"]


def experts_of(x, up, down, bias, sizes):
    h = jnp.tanh(ragged_dot(x, up, sizes) + bias)
    return ragged_dot(h, down, sizes) * 2


@pytest.mark.parametrize("rows", [1, 30, 700])
def test_what_follows_is_computed_with_it(rows):
    """Of rows of no group, too; in chains of ranges of rows."""
    x, up = drawn(rows)
    down = np.ascontiguousarray(np.swapaxes(drawn(1, seed=6)[1], 1, 2))
    bias = np.linspace(-1, 1, COLUMNS, dtype=np.float32)
    program = octavo.compile(lowered(experts_of, x, up, down, bias, np.zeros(GROUPS, np.int32)))
    assert not program.explain()["interpreted"]
    for of in SIZES.values():
        sizes = np.array(of(rows), np.int32)
        h = np.tanh(summed(x, up, sizes)[0] + bias)
        np.testing.assert_allclose(program(x, up, down, bias, sizes), 2 * summed(h, down, sizes)[0], rtol=1e-5, atol=1e-4)


def test_layers_of_experts():
    """A loop takes a stack of them from a stack of layers, which is packed once."""
    numbers = np.random.default_rng(3)
    stack = (numbers.standard_normal((3, GROUPS, DEPTH, DEPTH)) / 8).astype(np.float32)
    x = numbers.standard_normal((50, DEPTH)).astype(np.float32)
    sizes = np.array([9, 0, 30, 6], np.int32)
    one = lambda h, w, sizes: jnp.tanh(ragged_dot(h, w, sizes))

    def scanned(stack, x, sizes):
        return jax.lax.scan(lambda h, w: (one(h, w, sizes), None), x, stack)[0]

    def each(stack, x, sizes):
        for w in stack:
            x = one(x, w, sizes)
        return x

    program, apart = (octavo.compile(lowered(f, stack, x, sizes)) for f in (scanned, each))
    assert program(stack, x, sizes).tobytes() == apart(stack, x, sizes).tobytes()
    assert is_grouped(program)


def exported(rows):
    shape = jax.export.symbolic_shape(f"{rows}, {DEPTH}")
    arguments = [jax.ShapeDtypeStruct(shape, np.float32), jax.ShapeDtypeStruct((GROUPS, DEPTH, COLUMNS), np.float32),
                 jax.ShapeDtypeStruct((GROUPS,), np.int32)]
    return jax.export.export(jax.jit(ragged_dot), platforms=["tpu"])(*arguments)


def test_any_number_of_rows():
    _, w = drawn(1)
    program = octavo.compile(exported("b"))
    for rows in (5, 1, 40, 600, 3):
        x = drawn(rows)[0]
        for of in SIZES.values():
            sizes = np.array(of(rows), np.int32)
            found = program(x, w, sizes)
            assert found.tobytes() == octavo.compile(exported(rows))(x, w, sizes).tobytes()
    assert program.explain()["open_extents"] == "any number of items" and is_grouped(program)


@pytest.mark.parametrize("rows", ["b", 60])
def test_a_folder_has_its_matrices_packed(rows, tmp_path):
    x, w = drawn(60)
    sizes = np.array([20, 0, 31, 4], np.int32)
    (tmp_path / "program.mlir").write_text(exported(rows).mlir_module())
    save_file({"w": w}, tmp_path / "weights.safetensors")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "sizes.npy", sizes)
    text = (tmp_path / "program.mlir").read_text()
    command("compile", tmp_path / "program.mlir", "--weights", tmp_path / "weights.safetensors", "-o", tmp_path / "folder")
    command("run", tmp_path / "folder", "--input", f"x={tmp_path / 'x.npy'}", "--input", f"sizes={tmp_path / 'sizes.npy'}",
            "--output", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tobytes() == octavo.compile(exported(60))(x, w, sizes).tobytes()


# Quantized: the dot of all rows and the matrices of all groups, of which each row takes what its group has.

FORMATS = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "mxint8", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block"]
INTEGERS = {"mxfp4", "mxint8", "nvfp4"}  # sums that are the interpreter's
quantized = lambda format, **options: {"quantize": format, "parameters": "w", **options}


@pytest.mark.parametrize("activations", [None, "none"])
@pytest.mark.parametrize("format", FORMATS)
def test_matrices_of_groups_are_quantized_once(format, activations):
    x, w = drawn(1)
    options = quantized(format) | ({"activations": activations} if activations else {})
    for rows in (1, 16, 17, 90):
        x = drawn(rows)[0]
        text = lowered(ragged_dot, x, w, np.zeros(GROUPS, np.int32))
        program, reference = (octavo.compile(text, **options, backend=each) for each in ("compiled", "reference"))
        assert [dot.reason for dot in program.dots] == ["weight quantized when it is bound"]
        for name, of in SIZES.items():
            sizes = np.array(of(rows), np.int32)
            found, wanted = program(x, w, sizes), reference(x, w, sizes)
            if format in INTEGERS and not activations:
                assert found.tobytes() == wanted.tobytes(), (rows, name)
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * DEPTH, err_msg=f"{rows}, {name}")
            assert not found[slice(*runs(sizes, rows)[-1])].any()
    assert is_grouped(program)


@pytest.mark.parametrize("rows", [13, 70, 500])
@pytest.mark.parametrize("format, activations", [("mxfp4", None), ("mxfp8_e4m3", None), ("fp8_row", None), ("mxfp4", "none"),
                                                 ("mxfp6_e2m3", "none"), ("mxfp8_e4m3", "none"), ("fp8_row", "none")])
def test_a_row_has_the_bits_of_a_product_of_all_rows_with_its_matrix(format, activations, rows):
    """Of the same quantized matrix: scales are of a row, or of blocks in it. However few rows its group has."""
    x, w = drawn(rows)
    sizes = np.array([rows // 3, 0, rows // 2, 2], np.int32)
    options = quantized(format) | ({"activations": activations} if activations else {})
    found = octavo.compile(lowered(ragged_dot, x, w, sizes), **options)(x, w, sizes)
    for group, (begin, end) in enumerate(runs(sizes, rows)[:-1]):
        alone = octavo.compile(lowered(lambda x, w: x @ w, x, w[group]), **options)(x, w[group])
        assert found[begin:end].tobytes() == alone[begin:end].tobytes()


def test_quantized_experts_with_what_is_between_them():
    """One quantization for gate and up; chains of ranges of rows."""
    x, gate = drawn(700)
    up, down = drawn(1, seed=6)[1], np.ascontiguousarray(np.swapaxes(drawn(1, seed=7)[1], 1, 2))

    def experts(x, w1, w2, w3, sizes):
        return ragged_dot(ragged_dot(x, w1, sizes) * ragged_dot(x, w2, sizes), w3, sizes)

    sizes = np.array([300, 0, 180, 150], np.int32)
    text = lowered(experts, x, gate, up, down, sizes)
    program, reference = (octavo.compile(text, **quantized("mxfp4"), backend=each) for each in ("compiled", "reference"))
    found, wanted = (each(x, gate, up, down, sizes) for each in (program, reference))
    assert found.tobytes() == wanted.tobytes() and found.any()
    assert not program.explain()["interpreted"]


@pytest.mark.parametrize("format", ["mxfp4", "fp8_row"])
def test_quantized_layers_of_experts(format):
    numbers = np.random.default_rng(3)
    stack = (numbers.standard_normal((3, GROUPS, DEPTH, DEPTH)) / 8).astype(np.float32)
    x = numbers.standard_normal((50, DEPTH)).astype(np.float32)
    sizes = np.array([9, 0, 30, 6], np.int32)
    one = lambda h, w, sizes: jnp.tanh(ragged_dot(h, w, sizes))

    def scanned(w, x, sizes):
        return jax.lax.scan(lambda h, w: (one(h, w, sizes), None), x, w)[0]

    def each(w, x, sizes):
        for layer in w:
            x = one(x, layer, sizes)
        return x

    program, apart = (octavo.compile(lowered(f, given, x, sizes), **quantized(format)) for f, given in
                      ((scanned, stack), (each, list(stack))))
    assert program(stack, x, sizes).tobytes() == apart(list(stack), x, sizes).tobytes()
    assert not program.explain()["interpreted"]


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_quantized_results_are_rounded_once(dtype):
    x, w = drawn(40, dtype)
    sizes = np.array([20, 0, 11, 4], np.int32)
    text = lowered(lambda x, w, sizes: jax.lax.ragged_dot(x, w, sizes), x, w, sizes)
    program, reference = (octavo.compile(text, **quantized("mxfp4"), backend=each) for each in ("compiled", "reference"))
    found, wanted = (each(x, w, sizes) for each in (program, reference))
    assert found.dtype == dtype and found.tobytes() == wanted.tobytes()
    assert is_grouped(program)


@pytest.mark.parametrize("format", ["mxfp4", "fp8_row"])
def test_any_number_of_quantized_rows(format):
    w = drawn(1)[1]
    program = octavo.compile(exported("b"), **quantized(format))
    for rows in (5, 1, 40, 300, 3):
        x = drawn(rows)[0]
        sizes = np.array(SIZES["rows left over"](rows), np.int32)
        assert program(x, w, sizes).tobytes() == octavo.compile(exported(rows), **quantized(format))(x, w, sizes).tobytes()
    assert program.explain()["open_extents"] == "any number of items" and is_grouped(program)
    assert [dot.reason for dot in program.dots] == ["weight quantized when it is bound"]


def test_negative_sizes_of_quantized_groups_are_refused():
    x, w = drawn(40)
    text = lowered(ragged_dot, x, w, np.zeros(GROUPS, np.int32))
    for backend in ("compiled", "reference"):
        with pytest.raises(octavo.ProgramError, match="group sizes must not be negative; that of group 3 is -"):
            octavo.compile(text, **quantized("mxfp4"), backend=backend)(x, w, np.array([1, 2, 3, -1], np.int32))


def test_a_quantized_folder_has_its_matrices_packed(tmp_path):
    x, w = drawn(60)
    sizes = np.array([20, 0, 31, 4], np.int32)
    text = lowered(ragged_dot, x, w, sizes)
    (tmp_path / "program.mlir").write_text(text)
    save_file({"w": w}, tmp_path / "weights.safetensors")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "sizes.npy", sizes)
    command("compile", tmp_path / "program.mlir", "--quantize", "mxfp4", "--parameters", "w", "--weights", tmp_path / "weights.safetensors",
            "-o", tmp_path / "folder")
    command("run", tmp_path / "folder", "--input", f"x={tmp_path / 'x.npy'}", "--input", f"sizes={tmp_path / 'sizes.npy'}",
            "--output", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tobytes() == octavo.compile(text, **quantized("mxfp4"))(x, w, sizes).tobytes()


def test_gradients_of_groups_are_left():
    """And told: what contracts the rows of groups is no product of rows."""
    x, w = drawn(40)
    sizes = np.array([20, 0, 11, 4], np.int32)
    gradient = lambda x, w, sizes: jax.grad(lambda w: ragged_dot(x, w, sizes).sum())(w)
    with pytest.warns(UserWarning, match="whose ragged axis is the one free axis of lhs"):
        octavo.compile(lowered(gradient, x, w, sizes), **quantized("mxfp4"))


def test_where_the_error_of_groups_comes_from():
    """The dot of all rows and all matrices is looked at, too, so that it is more than what rows take of it."""
    x, w = drawn(40)
    sizes = np.array([20, 0, 11, 4], np.int32)
    program = octavo.compile(lowered(ragged_dot, x, w, sizes))
    found = program.dot_errors(x, w, sizes, **quantized("mxfp4"))
    assert [dot["share"] for dot in found["dots"]] == [1.0]


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "fp8_row", "fp8_tensor", "nvfp4"])
@pytest.mark.parametrize("sizes_type", [np.int32, np.int64, np.uint64])
def test_rows_of_no_group_count_for_nothing(format, backend, sizes_type):
    """NaN and infinities in them are not refused, and make no scale of the rows that count."""
    rows = 24
    x, w = drawn(rows)
    text = lowered(ragged_dot, x, w, np.zeros(GROUPS, np.int32)).replace("tensor<4xi32>", {
        np.int32: "tensor<4xi32>", np.int64: "tensor<4xi64>", np.uint64: "tensor<4xui64>"}[sizes_type])
    program = octavo.compile(text, quantize=format, weights={"w": w}, backend=backend)
    for sizes in ([3, 0, 10, 6], [0, 0, 0, 0], [rows, 2**31 - 1, 0, 5]):
        count = min(sum(sizes), rows)
        clean, filled = x.copy(), x.copy()
        clean[count:] = 0
        filled[count:] = [np.nan, np.inf, 3e38][count % 3]
        sizes = np.asarray(sizes, sizes_type)
        expected = program(clean, sizes)
        np.testing.assert_array_equal(program(filled, sizes), expected)
        assert not expected[count:].any() and (count == 0 or expected[:count].any())
    x[2, 5] = np.nan
    with pytest.raises(octavo.NonFiniteError, match=r'argument "x" has NaN at \[2, 5\]'):
        program(x, np.asarray([3, 0, 10, 6], sizes_type))


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "fp8_row", "fp8_tensor", "nvfp4"])
def test_rows_of_no_group_of_any_number_count_for_nothing(format):
    w = drawn(1)[1]
    program = octavo.compile(exported("b"), quantize=format, weights={"w": w})
    for rows in (24, 1, 130):
        x = drawn(rows)[0]
        for sizes in ([rows // 5, 0, rows // 2, rows // 9], [0, 0, 0, 0], [rows, 2**31 - 1, 0, 5]):
            clean, filled = x.copy(), x.copy()
            clean[sum(sizes):] = 0
            filled[sum(sizes):] = np.nan
            sizes = np.array(sizes, np.int32)
            expected = octavo.compile(exported(rows), quantize=format, weights={"w": w})(clean, sizes)
            np.testing.assert_array_equal(program(filled, sizes), expected)
    assert is_grouped(program)
    if format != "fp8_tensor":  # whose scale is of all rows
        assert program.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("items", ["b", 24])
def test_rows_of_no_group_are_not_calibrated(items):
    x, w = drawn(24)
    sizes = np.array([3, 0, 10, 6], np.int32)
    clean, filled = x.copy(), x.copy()
    clean[19:], filled[19:] = 0, np.nan
    found = [octavo.calibrate(exported(items), [{"x": each, "sizes": sizes}], weights={"w": w}) for each in (clean, filled)]
    assert found[0] == found[1]
    assert [(each["side"], each["amax"]) for each in found[0]["tensors"]] == [("lhs", np.abs(x[:19]).max())]
