"""Convolutions with windows of one place are dots: quantized as such, and put back where they are left. Programs of
jax.lax.conv_general_dilated beside the same products as einsums."""
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


@pytest.mark.parametrize("options", [
    {"window_strides": (2, 2)}, {"padding": ((1, 0), (0, 0))}, {"lhs_dilation": (2, 1), "padding": ((0, 0), (0, 0))}, {"feature_group_count": 2}],
    ids=["strides", "padding", "dilation", "groups"])
def test_others_are_left(options):
    x, w, _ = arrays("channels last")
    w = w[:, :, : FEATURES // options.get("feature_group_count", 1)]
    program = lowered(convolved("channels last", **options), w, x)
    with pytest.warns(UserWarning, match="the program has no dots"):
        made = octavo.compile(program, quantize="mxfp8_e4m3", parameters="^w")
    assert made.dots == []
    np.testing.assert_array_equal(made(w, x), octavo.compile(program)(w, x))


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
