"""Convolutions are dots of patches: quantized as such, and put back where they are left. Programs of
jax.lax.conv_general_dilated beside einsums of the same products, on patches that NumPy lays out."""
import json

import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest
from program_commands import octavo as command

pytestmark = pytest.mark.mlir

BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])
FEATURES, OUTPUTS, PLACES = 48, 32, (5, 6)
# Dimension numbers of the convolution, and the einsum that it is.
LAYOUTS = {
    "channels last": (("NHWC", "HWIO", "NHWC"), "nhwi,io->nhwo"),
    "channels first": (("NCHW", "OIHW", "NCHW"), "nihw,oi->nohw"),
    "one axis": (("NWC", "WIO", "NWC"), "nwi,io->nwo"),
    "first to last": (("NCHW", "HWIO", "NHWC"), "nihw,io->nhwo"),
}


def lowered(function, *arguments):
    return jax.jit(function).lower(*arguments)


def arrays(layout):
    """The input, the kernel, and the kernel as a matrix."""
    (given, kernel, _), _ = LAYOUTS[layout]
    rng = np.random.default_rng(5)
    extents = {"N": 2, "C": FEATURES, "I": FEATURES, "O": OUTPUTS, "H": PLACES[0], "W": PLACES[1]}
    x = rng.standard_normal([extents[axis] for axis in given]).astype(np.float32)
    w = rng.standard_normal([extents[axis] if axis in "IO" else 1 for axis in kernel]).astype(np.float32) / 7
    return x, w, w.reshape([extents[axis] for axis in kernel if axis in "IO"])


def convolved(layout, **options):
    numbers, _ = LAYOUTS[layout]
    places = len(numbers[0]) - 2
    options = {"window_strides": (1,) * places, "padding": "VALID", **options}
    return lambda w, x: jax.nn.relu(jax.lax.conv_general_dilated(x, w, dimension_numbers=numbers, **options))


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxint8", "nvfp4", "fp8_tensor", "fp8_row"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_they_are_quantized_as_dots(layout, format, backend):
    x, w, matrix = arrays(layout)
    options = {"quantize": format, "parameters": "^w", "backend": backend}
    made = octavo.compile(lowered(convolved(layout), w, x), **options)
    assert [(dot.is_quantized, dot.reason) for dot in made.dots] == [(True, "weight quantized when it is bound")]
    product = octavo.compile(lowered(lambda w, x: jax.nn.relu(jnp.einsum(LAYOUTS[layout][1], x, w)), matrix, x), **options)
    np.testing.assert_array_equal(made(w, x), product(matrix, x))


def dilated(x, dilation, padding):
    """x with zeros between the places of its axes 1 and 2, and around them; negative padding cuts."""
    for axis, (by, (low, high)) in enumerate(zip(dilation, padding), 1):
        places = x.shape[axis]
        wide = np.zeros(x.shape[:axis] + (max((places - 1) * by + 1, 0),) + x.shape[axis + 1:], x.dtype)
        wide[(slice(None),) * axis + (slice(None, None, by),)] = x
        x = np.pad(wide, [(max(low, 0), max(high, 0)) if each == axis else (0, 0) for each in range(x.ndim)])
        x = x[(slice(None),) * axis + (slice(max(-low, 0), x.shape[axis] - max(-high, 0)),)]
    return x


def laid_out(x, window, strides=(1, 1), padding=((0, 0), (0, 0)), lhs_dilation=(1, 1), rhs_dilation=(1, 1)):
    """The patches [batch, places.., window * features] of x [batch, places.., features]."""
    x = dilated(x, lhs_dilation, padding)
    spans = [(length - 1) * by + 1 for length, by in zip(window, rhs_dilation)]
    rows = [[x[:, h: h + spans[0]: rhs_dilation[0], w: w + spans[1]: rhs_dilation[1]].reshape(len(x), -1)
             for w in range(0, x.shape[2] - spans[1] + 1, strides[1])]
            for h in range(0, x.shape[1] - spans[0] + 1, strides[0])]
    return np.moveaxis(np.array(rows), 2, 0)


# A window of 3x2 but where it says another, over images of 7x6.
WINDOWS = {
    "plain": {},
    "one place": {"window": (1, 1)},
    "one place with strides": {"window": (1, 1), "strides": (2, 3)},
    "padded": {"padding": ((1, 1), (0, 2))},
    "cut": {"padding": ((-1, 0), (2, -1))},
    "with strides": {"strides": (2, 1), "padding": ((1, 0), (0, 0))},
    "dilated": {"rhs_dilation": (2, 3)},
    "of dilated images": {"lhs_dilation": (2, 1), "padding": ((1, 2), (0, 0))},
    "side by side": {"strides": (3, 2)},
    "side by side, all but an edge": {"window": (2, 4), "strides": (2, 4)},
    "larger than the result": {"window": (6, 5), "padding": ((0, 0), (1, 0))},
    "larger than the result, apart": {"window": (3, 3), "strides": (2, 1), "rhs_dilation": (2, 2), "padding": ((0, 0), (0, 0))},
    "of the whole image": {"window": (7, 6)},
}


def windowed(kernel, features, window=(3, 2), strides=(1, 1), padding=((0, 0), (0, 0)), **dilation):
    """A function of a kernel in that layout and images, the kernel, the images, and the matrix and its patches."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 7, 6, features)).astype(np.float32)
    w = rng.standard_normal((*window, features, OUTPUTS)).astype(np.float32) / 16
    given = np.ascontiguousarray(np.transpose(w, ["HWIO".index(axis) for axis in kernel]))

    def convolve(w, x):
        return jax.lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", kernel, "NHWC"), **dilation)

    return convolve, given, x, (w.reshape(-1, OUTPUTS), laid_out(x, window, strides, padding, **dilation))


@BACKENDS
@pytest.mark.parametrize("kernel, format", [("OIHW", "mxfp8_e4m3"), *(("HWIO", each) for each in ("mxfp4", "nvfp4", "fp8_tensor", "fp8_row"))])
@pytest.mark.parametrize("windows", WINDOWS)
def test_they_are_dots_of_patches(windows, kernel, format, backend):
    convolve, w, x, (matrix, patches) = windowed(kernel, 64, **WINDOWS[windows])
    options = {"quantize": format, "parameters": "^w", "backend": backend}
    made = octavo.compile(lowered(convolve, w, x), **options)
    assert [(dot.is_quantized, dot.reason) for dot in made.dots] == [(True, "weight quantized when it is bound")]
    product = octavo.compile(lowered(lambda w, patches: jnp.einsum("nhwk,ko->nhwo", patches, w), matrix, patches), **options)
    np.testing.assert_array_equal(made(w, x), product(matrix, patches))


@BACKENDS
def test_what_is_padded_is_as_zeros_are(backend):
    """XLA's settings give a block of zeros the scale NaN, which spoils the windows that see one."""
    convolve, w, x, (matrix, patches) = windowed("HWIO", 64, **WINDOWS["padded"])
    options = {"quantize": "mxfp8_e4m3", "preset": "xla", "parameters": "^w", "backend": backend}
    found = octavo.compile(lowered(convolve, w, x), **options)(w, x)
    product = octavo.compile(lowered(lambda w, patches: jnp.einsum("nhwk,ko->nhwo", patches, w), matrix, patches), **options)
    np.testing.assert_array_equal(found, product(matrix, patches))
    assert np.isnan(found[:, 0]).all() and not np.isnan(found[:, 1:6, :4]).any()


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", "fp8_tensor", "fp8_row"])
@pytest.mark.parametrize("groups", ["features", "images"])
def test_groups_are_a_batch(groups, format, backend):
    rng = np.random.default_rng(10)
    x = rng.standard_normal((4, 7, 6, 64)).astype(np.float32)
    w = rng.standard_normal((3, 2, 32 if groups == "features" else 64, 16)).astype(np.float32)
    padding = ((1, 1), (0, 2))
    count = {"feature_group_count": 2} if groups == "features" else {"batch_group_count": 2}

    def convolve(w, x):
        return jax.lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **count)

    def multiply(w, patches):
        result = jax.lax.dot_general(patches, w, (((4,), (0,)), ((3 if groups == "features" else 0,), (1,))))
        result = jnp.moveaxis(result, 0, 3)  # the groups, before the outputs of each
        return result.reshape(*result.shape[:3], -1)

    patches = laid_out(x, (3, 2), padding=padding)
    if groups == "features":
        patches = np.moveaxis(patches.reshape(*patches.shape[:3], 6, 2, 32), 4, 3).reshape(*patches.shape[:3], 2, -1)
    else:
        patches = patches.reshape(2, 2, *patches.shape[1:])
    options = {"quantize": format, "parameters": "^w", "backend": backend}
    made = octavo.compile(lowered(convolve, w, x), **options)
    assert [(dot.is_quantized, dot.reason) for dot in made.dots] == [(True, "weight quantized when it is bound")]
    matrix = w.reshape(-1, 2, 8)
    np.testing.assert_array_equal(made(w, x), octavo.compile(lowered(multiply, matrix, patches), **options)(matrix, patches))


@BACKENDS
@pytest.mark.parametrize("windows", ["padded", "side by side", "larger than the result"])
def test_the_number_of_images_may_be_open(windows, backend):
    convolve, w, x, (matrix, patches) = windowed("HWIO", 64, **WINDOWS[windows])
    options = {"quantize": "mxfp8_e4m3", "parameters": "^w", "backend": backend}
    images = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 7, 6, 64"), x.dtype)
    made = octavo.compile(jax.export.export(jax.jit(convolve))(w, images), **options)
    assert [(dot.is_quantized, dot.reason) for dot in made.dots] == [(True, "weight quantized when it is bound")]
    product = octavo.compile(lowered(lambda w, patches: jnp.einsum("nhwk,ko->nhwo", patches, w), matrix, patches), **options)
    np.testing.assert_array_equal(made(w, x), product(matrix, patches))
    if backend == "compiled":
        assert made.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", "fp8_tensor"])
def test_the_input_of_an_open_number_of_images_is_quantized_once(tmp_path, format):
    """As that of a known one is, but for one scale of all images, which packing finds."""
    convolve, w, x, _ = windowed("HWIO", 64, **WINDOWS["padded"])
    options = {"quantize": format, "parameters": "^w"}
    images = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 7, 6, 64"), x.dtype)
    exported = jax.export.export(jax.jit(convolve))(w, images)
    made = octavo.compile(exported, **options)
    for n in (1, 2, 5, 2):
        given = np.resize(x, (n, *x.shape[1:])) * np.float32(2.0) ** np.arange(n, dtype=np.float32)[:, None, None, None]
        known = octavo.compile(lowered(convolve, w, given), **options)
        np.testing.assert_array_equal(made(w, given), known(w, given))
    assert made.explain()["open_extents"] == "any number of items"
    (tmp_path / "net.mlir").write_text(str(exported.mlir_module()))
    command("quantize", tmp_path / "net.mlir", "--format", format, "--parameters", "^arg0|^w", "-o", tmp_path / "q.mlir")
    of_input = "tensor<?x7x6x64xf32> -> !octavo.scaled" in (tmp_path / "q.mlir").read_text()
    assert of_input == (format != "fp8_tensor")


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", "fp8_row"])
@pytest.mark.parametrize("features", [32, 48])
def test_groups_of_an_open_number_of_images(features, format, backend):
    rng = np.random.default_rng(13)
    x = rng.standard_normal((3, 7, 6, 2 * features)).astype(np.float32)
    w = rng.standard_normal((3, 2, features, 16)).astype(np.float32)

    def convolve(w, x):
        return jax.lax.conv_general_dilated(x, w, (1, 2), ((1, 1), (0, 2)), feature_group_count=2,
                                            dimension_numbers=("NHWC", "HWIO", "NHWC"))

    options = {"quantize": format, "parameters": "^w", "backend": backend}
    images = jax.ShapeDtypeStruct(jax.export.symbolic_shape(f"n, 7, 6, {2 * features}"), x.dtype)
    made = octavo.compile(jax.export.export(jax.jit(convolve))(w, images), **options)
    assert [dot.is_quantized for dot in made.dots] == [True]
    for n in (1, 3):
        known = octavo.compile(lowered(convolve, w, x[:n]), **options)
        np.testing.assert_array_equal(made(w, x[:n]), known(w, x[:n]))


@BACKENDS
def test_delayed_scales_are_of_the_input(backend):
    """The largest magnitude of the patches is that of the input, which is quantized in their place."""
    convolve, w, x, (matrix, patches) = windowed("HWIO", 48, **WINDOWS["padded"])
    recipe = {"rules": [{"weights": "fp8_tensor", "scaling": "delayed", "history": 2}]}
    options = {"recipe": recipe, "parameters": "^w", "backend": backend}
    made = octavo.compile(lowered(convolve, w, x), **options)
    product = octavo.compile(lowered(lambda w, patches: jnp.einsum("nhwk,ko->nhwo", patches, w), matrix, patches), **options)
    state = np.array([2, 4], np.float32), np.array([[0, 3], [0, 0.5]], np.float32)
    for found, expected in zip(made(w, x, *state), product(matrix, patches, *state), strict=True):
        np.testing.assert_array_equal(found, expected)


@BACKENDS
@pytest.mark.parametrize("features, reason", [
    (3, "weight quantized when it is bound"),
    (48, "weight quantized in the program: blocks of 32 go over places of its convolution's windows, which have 48 features each; "
         "blocks of mxfp8_e4m3:16 would not")])
def test_blocks_go_over_places(features, reason, backend):
    """18 numbers make one short block; of 288 some blocks of 32 have numbers of two places."""
    convolve, w, x, (matrix, patches) = windowed("HWIO", features, **WINDOWS["padded"])
    options = {"quantize": "mxfp8_e4m3", "parameters": "^w", "backend": backend}
    made = octavo.compile(lowered(convolve, w, x), **options)
    assert [(dot.is_quantized, dot.reason) for dot in made.dots] == [(True, reason)]
    product = octavo.compile(lowered(lambda w, patches: jnp.einsum("nhwk,ko->nhwo", patches, w), matrix, patches), **options)
    np.testing.assert_array_equal(made(w, x), product(matrix, patches))


@BACKENDS
@pytest.mark.parametrize("strides, padding, dilation", [((1, 1), "SAME", (1, 1)), ((2, 2), "SAME", (1, 1)), ((2, 3), "VALID", (2, 1))])
def test_gradients_are_dots(strides, padding, dilation, backend):
    """Of the kernel, whose windows are as large as the result, and of the images, which dilation spreads. All are whole
    numbers that the format has, so that products are those of f32."""
    rng = np.random.default_rng(9)
    x = rng.integers(-3, 4, (4, 12, 11, 32)).astype(np.float32)
    w = rng.integers(-1, 2, (3, 3, 32, 8)).astype(np.float32)

    def convolve(w, x):
        return jax.lax.conv_general_dilated(x, w, strides, padding, rhs_dilation=dilation, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    given = rng.integers(-2, 3, jax.eval_shape(convolve, w, x).shape).astype(np.float32)
    gradients = jax.grad(lambda w, x, given: jnp.sum(convolve(w, x) * given), (0, 1))
    made = octavo.compile(lowered(gradients, w, x, given), quantize="mxfp8_e4m3", parameters="^w", both_activations=True, backend=backend)
    assert [dot.is_quantized for dot in made.dots] == [True, True]
    for found, expected in zip(made(w, x, given), jax.jit(gradients)(w, x, given)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("window, options, reason", [
    ((1, 1), {"feature_group_count": 4}, "its 4 groups have 1 feature each, and those of 32 and more are dots"),
    ((9, 16), {"padding": ((8, 8), (15, 15))}, "its patches are made of 144 slices of its input, and up to 128 are")])
def test_others_are_left(window, options, reason, tmp_path):
    rng = np.random.default_rng(8)
    x = rng.standard_normal((1, 16, 16, 4)).astype(np.float32)
    w = rng.standard_normal((*window, 4 // options.get("feature_group_count", 1), 8)).astype(np.float32)
    program = lowered(lambda w, x: jax.lax.conv_general_dilated(x, w, (1, 1), **{"padding": "VALID", **options},
                                                                dimension_numbers=("NHWC", "HWIO", "NHWC")), w, x)
    with pytest.warns(UserWarning, match=f"left every dot as it was; of .*: it is a convolution, and {reason}"):
        made = octavo.compile(program, quantize="mxfp8_e4m3", parameters="^w")
    assert made.dots == []
    np.testing.assert_array_equal(made(w, x), octavo.compile(program)(w, x))
    (tmp_path / "net.mlir").write_text(program.as_text())
    assert f"it is a convolution, and {reason}" in command("quantize", tmp_path / "net.mlir", "--format", "mxfp8_e4m3", "--explain")


def test_groups_of_an_open_number_of_images_are_left():
    x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("2*n, 7, 6, 64"), np.float32)
    w = np.ones((3, 3, 64, 8), np.float32)
    program = jax.export.export(jax.jit(lambda w, x: jax.lax.conv_general_dilated(
        x, w, (1, 1), "VALID", batch_group_count=2, dimension_numbers=("NHWC", "HWIO", "NHWC"))))(w, x)
    with pytest.warns(UserWarning, match="it has groups of images, whose number is open"):
        assert octavo.compile(program, quantize="mxfp8_e4m3", parameters="^w").dots == []


def test_those_that_are_left_stay_convolutions(tmp_path):
    """One is excluded by its name, one has no weight; the third is a dot."""
    x, w, _ = arrays("channels last")
    square = np.random.default_rng(6).standard_normal((1, 1, OUTPUTS, OUTPUTS)).astype(np.float32)
    conv = convolved("channels last")

    def net(w, square, other, x):
        with jax.named_scope("first"):
            x = conv(w, x)
        with jax.named_scope("second"):
            x = conv(square, x)
        with jax.named_scope("third"):
            return conv(other, x)

    (tmp_path / "net.mlir").write_text(lowered(net, w, square, square, x).as_text(debug_info=True))
    command("quantize", tmp_path / "net.mlir", "--format", "mxfp8_e4m3", "--parameters", "^(w|square)$", "--exclude", "first", "-o", tmp_path / "q.mlir")
    told = command("quantize", tmp_path / "net.mlir", "--format", "mxfp8_e4m3", "--parameters", "^(w|square)$", "--exclude", "first", "--explain")
    text = (tmp_path / "q.mlir").read_text()
    assert text.count("stablehlo.convolution(") == 2 and text.count("octavo.dot_general") == 1
    assert "stablehlo.dot_general" not in text
    assert 'its name is excluded by "first"' in told and "both operands are activations" in told
    report = json.loads(command("quantize", tmp_path / "net.mlir", "--format", "mxfp8_e4m3", "--parameters", "^(w|square)$", "--exclude", "first", "--json"))
    assert [(dot["m"], dot["n"], dot["k"], dot["quantized"]) for dot in report["dots"]] == [
        (60, 32, 48, False), (60, 32, 32, True), (60, 32, 32, False)]
    assert (report["dots_quantized"], report["weight_bytes_before"], report["others"]) == (1, 4 * (48 + 32) * 32, [])


def test_a_layer_has_its_gradient():
    """The first of four layers is kept with the gradient of its kernel, the last with those of its kernel and its input."""
    def loss(w, x):
        for name in "abcd":
            x = jax.nn.relu(jax.lax.conv_general_dilated(x, w[name], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.sum(jnp.square(x))

    weights = {name: np.ones((3, 3, 32, 32), np.float32) for name in "abcd"}
    recipe = {"rules": [*({"place": place, "keep": "f32", "reason": "the recipe's"} for place in ("first", "last")), {"weights": "mxfp8_e4m3"}]}
    made = octavo.compile(lowered(jax.grad(loss), weights, np.ones((2, 6, 6, 32), np.float32)), recipe=recipe, parameters="^w", both_activations=True)
    backward = [dot.is_quantized for dot in made.dots if "transpose" in dot.name]
    assert len(made.dots) == 11 and len(backward) == 7
    assert sum(dot.is_quantized for dot in made.dots) == 6 and sum(backward) == 4


@BACKENDS
def test_each_is_calibrated(backend):
    x, w, matrix = arrays("channels last")
    options = {"parameters": "^w", "backend": backend}
    found = []
    for function, weight in ((convolved("channels last"), w),
                             (lambda w, x: jax.nn.relu(jnp.einsum("nhwi,io->nhwo", x, w)), matrix)):
        program = lowered(function, weight, x)
        ranges = octavo.calibrate(program, [(weight, x)], parameters="^w")
        made = octavo.compile(program, quantize="fp8_tensor", calibration=ranges, **options)
        assert "static scale of lhs" in made.dots[0].reason
        found.append(made(weight, x / 2))
    np.testing.assert_array_equal(found[0], found[1])
