"""NaN that operations of a program make, of whatever sign, and infinities under the largest scales, in every
format: what becomes of them under skip-nan (S8), compiled and interpreted.

IEEE 754 leaves the sign of a NaN that an operation makes open: x86 makes a negative one, Arm a positive one,
and a compiler that folds constants either."""
import numpy as np
import octavo
import pytest

ROWS, DEPTH = 3, 32
SCALED = {name: row for name, row in octavo.formats().items()
          if isinstance(row, octavo.ScaledFormat) and name != "fp8_block"}  # whose activations are in fp8_group
NAN = np.uint32(0x7FC00000).view(np.float32)
BINARY = "%x: tensor<3x32xf32>, %y: tensor<3x32xf32>"


def program(operation, operands):
    """p = operation(operands); p times the identity, which every format has exactly."""
    return f"""func.func @main({BINARY}, %w: tensor<32x32xf32> {{octavo.parameter}}) -> tensor<3x32xf32> {{
  %p = stablehlo.{operation} {operands} : tensor<3x32xf32>
  %d = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : (tensor<3x32xf32>, tensor<32x32xf32>) -> tensor<3x32xf32>
  return %d : tensor<3x32xf32>
}}"""


# name: operation, operands, what x and y are where it makes a NaN, and NumPy's function of the others.
INF = np.float32(np.inf)
OPERATIONS = {
    "0 / 0": ("divide", "%x, %y", 0, 0, np.divide), "inf / inf": ("divide", "%x, %y", INF, -INF, np.divide),
    "inf - inf": ("subtract", "%x, %y", INF, INF, np.subtract), "-inf + inf": ("add", "%x, %y", -INF, INF, np.add),
    "0 * inf": ("multiply", "%x, %y", 0, INF, np.multiply), "-inf * 0": ("multiply", "%x, %y", -INF, 0, np.multiply),
    "sqrt(-1)": ("sqrt", "%x", -1, 1, lambda x, y: np.sqrt(x)), "rsqrt(-1)": ("rsqrt", "%x", -1, 1, lambda x, y: 1 / np.sqrt(x)),
    "log(-1)": ("log", "%x", -1, 1, lambda x, y: np.log(x)), "remainder": ("remainder", "%x, %y", INF, 1, np.fmod),
    "negate": ("negate", "%x", NAN, 1, lambda x, y: -x), "abs": ("abs", "%x", -NAN, 1, lambda x, y: np.abs(x)),
    "maximum": ("maximum", "%x, %y", -NAN, 1, np.maximum), "sign kept": ("add", "%x, %y", -NAN, 1, np.add),
    **{f"payload {bits:x}": ("multiply", "%x, %y", np.uint32(bits).view(np.float32), 1, np.multiply)
       for bits in (0x7FC00001, 0xFFC12345, 0x7FFFFFFF, 0xFFFFFFFF)},
}


def arrays(x_bad, y_bad):
    rng = np.random.default_rng(1)
    x, y = (rng.uniform(0.5, 2, (ROWS, DEPTH)).astype(np.float32) for _ in range(2))
    for place in ((0, 5), (2, 0), (2, 31)):
        x.view(np.uint32)[place] = np.asarray(x_bad, np.float32).view(np.uint32)
        y.view(np.uint32)[place] = np.asarray(y_bad, np.float32).view(np.uint32)
    return x, y


def quantized(p, format, **options):
    """What octavo's quantizer makes of the values, every NaN being the positive one."""
    return octavo.quantize(np.where(np.isnan(p), NAN, p), format, **options)


@pytest.mark.mlir
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_nan_of_any_sign_becomes_the_same(name):
    operation, operands, x_bad, y_bad, function = OPERATIONS[name]
    x, y = arrays(x_bad, y_bad)
    with np.errstate(all="ignore"):
        p = function(x, y).astype(np.float32)
    assert np.isnan(p).sum() == 3
    weights = {"arg2": np.eye(DEPTH, dtype=np.float32)}
    wrong = []
    for format, row in SCALED.items():
        expected = quantized(p, format, nan="skip-nan")
        if row.element.nan_code is None:  # the largest positive value under the block's scale
            scales = np.repeat(expected.scales.astype(np.float64), DEPTH // expected.scales.shape[1], 1) if expected.scales.shape[0] == ROWS else None
            if scales is not None:
                np.testing.assert_allclose(expected.dequantize()[np.isnan(p)], (row.element.max * scales * expected.outer)[np.isnan(p)], rtol=1e-6)
        for backend in ("compiled", "reference"):
            found = octavo.compile(program(operation, operands), quantize=format, weights=weights, non_finite="skip-nan", backend=backend)(x, y)
            values = expected.dequantize()
            wanted = values if row.element.nan_code is None else np.where(np.isnan(values).any(1, keepdims=True), np.nan, values)
            # Values of log, rsqrt and their like may differ by an ulp, which may decide a tie.
            close = np.isclose(found, wanted, rtol=1e-5, atol=1e-5, equal_nan=True)
            if not close[np.isnan(p)].all() or (~close).sum() > 2:
                wrong.append((format, backend, found[np.isnan(p)], wanted[np.isnan(p)]))
    assert not wrong


@pytest.mark.mlir
@pytest.mark.parametrize("policy", ["saturate", "skip-nan"])
@pytest.mark.parametrize("largest", [2.0 ** 127, float(np.finfo(np.float32).max), 2.0 ** 126, 1.0])
def test_infinities_under_the_largest_scales(policy, largest):
    """An infinity counts as f32's largest value for the block and becomes the element's largest value of its
    sign, whose value may be beyond f32 (S1)."""
    rng = np.random.default_rng(2)
    x = (rng.uniform(-1, 1, (ROWS, DEPTH)) * largest).astype(np.float32)
    x[0, 3], x[1, 4] = np.inf, -np.inf
    weights = {"arg2": np.eye(DEPTH, dtype=np.float32)}
    wrong = []
    for format, row in SCALED.items():
        if row.scale.name == "f32" and largest > 1:  # products of f32 scales overflow as D9 has it
            continue
        expected = quantized(x, format, nan=policy).dequantize()
        assert np.sign(expected[0, 3]) == 1 and np.sign(expected[1, 4]) == -1
        results = [octavo.compile(program("maximum", "%x, %x"), quantize=format, weights=weights, non_finite=policy, backend=backend)(x, x)
                   for backend in ("compiled", "reference")]
        for backend, found in zip(("compiled", "reference"), results):
            finite = np.isfinite(expected).all(1)
            # Under an f32 scale f32's largest value may be rounded beyond, by the scale of the other side.
            beyond = (np.abs(expected) > 3.4e38) & (np.abs(found) > 3.4e38) & (np.sign(found) == np.sign(expected))
            if not (beyond | np.isclose(found, expected, rtol=1e-5, atol=0))[finite].all():
                wrong.append((format, backend))
        np.testing.assert_array_equal(np.isfinite(results[0]), np.isfinite(results[1]), err_msg=format)
    assert not wrong


@pytest.mark.mlir
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp8_e5m2", "fp8_tensor", "fp8_e5m2_tensor"])
def test_transformer_engines_codes(format):
    """Its NaN has no sign, and the scale of a block with an infinity is 2^127, or 1."""
    x, _ = arrays(-NAN, 1)
    x[1, 7] = -np.inf
    made = octavo.quantize(x, format, preset="transformer-engine")
    code = {"e4m3fn": 0x7F, "e5m2": 0x7E}[made.format.element.name]
    assert set(made.codes[np.isnan(x)].tolist()) == {code}
    weights = {"arg2": np.eye(DEPTH, dtype=np.float32)}
    found = [octavo.compile(program("negate", "%x"), quantize=format, preset="transformer-engine", weights=weights, backend=backend)(x, x)
             for backend in ("compiled", "reference")]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize("policy", ["skip-nan", "propagate", "saturate"])
@pytest.mark.parametrize("rounding", ["ties-to-even", "toward-negative", "ties-to-away"])
def test_kernels_take_a_nan_of_any_sign_alike(policy, rounding):
    """Rows long enough for every kernel, of one NaN and of NaN alone."""
    rng = np.random.default_rng(3)
    for format in SCALED:
        for length in (1, 31, 32, 96, 1000):
            x = rng.standard_normal((4, length)).astype(np.float32)
            x[rng.random(x.shape) < 0.1] = NAN
            x[3] = NAN
            signs = x.copy()
            signs.view(np.uint32)[np.isnan(x)] = rng.choice(np.uint32([0x7FC00000, 0xFFC00000, 0xFF800001, 0x7F923456, 0xFFFFFFFF]), np.isnan(x).sum())
            one, other = (octavo.quantize(each, format, nan=policy, rounding=rounding) for each in (x, signs))
            np.testing.assert_array_equal(one.codes, other.codes, err_msg=format)
            np.testing.assert_array_equal(one.scales.view(np.uint8), other.scales.view(np.uint8), err_msg=format)
