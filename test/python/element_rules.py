"""Element types, and what operations give on them (docs/semantics.md, section I), stated in Python:
exact integers, NumPy's f64, mpmath, and one rounding."""

import math
import operator

import ml_dtypes
import mpmath
import numpy as np

RANDOM = np.random.default_rng(2)
NAN, INF = math.nan, math.inf
SAMPLES = 72


class Float:
    """A float format by ml_dtypes' or NumPy's facts. Values are kept as f64, which holds them all."""

    def __init__(self, name, dtype, infinite=False, nan=True, signed_zero=True):
        self.name, self.dtype = name, np.dtype(dtype)
        self.infinite, self.nan, self.signed_zero = infinite, nan, signed_zero
        self.info = ml_dtypes.finfo(dtype)
        self.bits = self.info.bits
        self.word = np.dtype(f"u{max(1, self.bits // 8)}")

    def decode(self, codes):
        with np.errstate(invalid="ignore"):
            return np.array(codes, self.word).view(self.dtype).astype(np.float64)

    def sample(self):
        if self.bits <= 8:
            codes = RANDOM.permutation(2**self.bits)[:SAMPLES]
            specials = [self.word.type(2**self.bits - 1), self.word.type(2**(self.bits - 1)), 0]
        else:
            near = RANDOM.normal(0, 4, SAMPLES // 2).astype(self.dtype).view(self.word)
            codes = np.concatenate([near, RANDOM.integers(0, 2**self.bits, SAMPLES // 3, np.uint64).astype(self.word)])
            specials = np.array([0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -2.5, self.info.max, self.info.tiny,
                                 self.info.smallest_subnormal], self.dtype).view(self.word)
        return np.concatenate([specials, codes]).astype(self.word)

    def overflow(self, sign):
        if self.infinite:
            return math.copysign(INF, sign)
        return NAN if self.nan else math.copysign(float(self.info.max), sign)

    def round(self, x):
        """I2 and I3 on one number, which may be an integer of any size."""
        if isinstance(x, int) and abs(x) >= 2**53 and self.name != "f64":
            with mpmath.workprec(120):
                x = to_odd(mpmath.mpf(x))
        x = float(x)
        if x != x:
            return NAN if self.nan else -0.0
        if self.name == "f64":
            return x
        if self.bits == 8 and self.info.nmant == 0:
            return self.round_scale(x)
        if x == 0:
            return x if self.signed_zero else 0.0
        if math.isinf(x):
            return self.overflow(x)
        exponent = max(math.frexp(x)[1] - 1, self.info.minexp)
        quantum = math.ldexp(1.0, exponent - self.info.nmant)
        y = math.copysign(round(abs(x) / quantum) * quantum, x)  # Python rounds ties to even
        if abs(y) > float(self.info.max):
            return self.overflow(x)
        return y if y != 0 or self.signed_zero else 0.0

    @staticmethod
    def round_scale(x):
        """Into e8m0fnu (N7)."""
        if x <= 0:
            return NAN
        if x <= 2.0**-127:
            return 2.0**-127
        if x < 2.0**-126:
            return 2.0**-126
        power = math.frexp(x)[1] - 1 if math.isfinite(x) else 128
        power += power < 128 and x / 2.0**power >= 1.5
        return 2.0**power if power <= 127 else NAN

    def literals(self, codes):
        return ", ".join(f"0x{int(code):0{max(2, self.bits // 4)}X}" for code in codes)


class Integer:
    def __init__(self, bits, signed):
        self.name = ("i" if signed else "ui") + str(bits)
        self.bits, self.signed = bits, signed
        self.low, self.high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed and bits > 1 else (0, 2**bits - 1)

    def wrap(self, x):
        return (x - self.low) % 2**self.bits + self.low

    def sample(self):
        few = [self.low, self.high, 0, self.high // 2, *([-1] if self.low else [1])]
        if self.bits == 1:
            return np.array([0, 1] * 4, object)
        values = RANDOM.integers(self.low, self.high, SAMPLES // 2, np.uint64 if self.low == 0 else np.int64, endpoint=True)
        near = RANDOM.integers(max(self.low, -9), min(self.high, 9), SAMPLES // 3, endpoint=True)
        return np.array([*few, *map(int, values), *map(int, near)], object)

    def decode(self, codes):
        return codes

    def literals(self, codes):
        return ", ".join(("false", "true")[int(x)] if self.bits == 1 else str(x) for x in codes)


class Complex:
    def __init__(self, part):
        self.part = part
        self.name = f"complex<{part.name}>"

    def sample(self):
        codes = self.part.sample()
        return np.stack([codes, RANDOM.permutation(codes)], 1)

    def round(self, x):
        return complex(self.part.round(x.real), self.part.round(x.imag))

    def decode(self, codes):
        parts = self.part.decode(codes)
        return np.array([complex(re, im) for re, im in parts])

    def literals(self, codes):
        return ", ".join(f"({self.part.literals([re])}, {self.part.literals([im])})" for re, im in codes)


FLOATS = {format.name: format for format in [
    Float("f8E4M3FN", ml_dtypes.float8_e4m3fn),
    Float("f8E5M2", ml_dtypes.float8_e5m2, infinite=True),
    Float("f8E4M3", ml_dtypes.float8_e4m3, infinite=True),
    Float("f8E3M4", ml_dtypes.float8_e3m4, infinite=True),
    Float("f8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, signed_zero=False),
    Float("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, signed_zero=False),
    Float("f8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz, signed_zero=False),
    Float("f6E3M2FN", ml_dtypes.float6_e3m2fn, nan=False),
    Float("f6E2M3FN", ml_dtypes.float6_e2m3fn, nan=False),
    Float("f4E2M1FN", ml_dtypes.float4_e2m1fn, nan=False),
    Float("f8E8M0FNU", ml_dtypes.float8_e8m0fnu, signed_zero=False),
    Float("bf16", ml_dtypes.bfloat16, infinite=True),
    Float("f16", np.float16, infinite=True),
    Float("f32", np.float32, infinite=True),
    Float("f64", np.float64, infinite=True)]}
INTEGERS = {type.name: type for type in [Integer(1, True), *(Integer(bits, signed) for signed in (True, False)
                                                             for bits in (2, 4, 8, 16, 32, 64))]}
COMPLEX = {type.name: type for type in (Complex(FLOATS["f32"]), Complex(FLOATS["f64"]))}
TYPES = FLOATS | INTEGERS | COMPLEX
F32, F64 = FLOATS["f32"], FLOATS["f64"]


def to_odd(exact):
    """An f64 that rounds on as the exact number does: toward zero, its last bit set where inexact."""
    nearest = float(exact)
    if nearest == exact or not math.isfinite(nearest):
        return nearest
    below = nearest if abs(nearest) < abs(exact) else math.nextafter(nearest, 0.0)
    bits = np.array(below).view(np.uint64)
    return float((bits | np.uint64(1)).view(np.float64))


def by_mpmath(function, nearly):
    """`function` where `nearly`, the same on f64, says that it is finite and not zero."""
    known = {}

    def exact(*x):
        key = np.array(x).tobytes()  # tells the zeros apart
        if key not in known:
            try:
                guess = float(nearly(*x))
            except (ValueError, ZeroDivisionError, OverflowError):
                guess = NAN
            if math.isfinite(guess) and guess != 0 and 0 not in x:  # mpmath has one zero
                with mpmath.workprec(120):
                    guess = to_odd(function(*map(mpmath.mpf, x)))
            known[key] = guess
        return known[key]
    return exact


def sign(x):
    return x if x == 0 or x != x else math.copysign(1.0, x)


def half_away(x):
    return x if not math.isfinite(x) or abs(x) >= 2.0**52 else math.copysign(math.floor(abs(x) + 0.5), x)


def maximum(x, y):
    if x != x or y != y:
        return NAN
    return max((x, math.copysign(1, x)), (y, math.copysign(1, y)))[0]


def minimum(x, y):
    return -maximum(-x, -y)


def erf_inv(x):
    if abs(x) >= 1:
        return math.copysign(INF, x) if abs(x) == 1 else NAN
    return float(mpmath.erfinv(x)) if x else x


def lgamma(x):
    return INF if abs(x) > 1e305 or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


def digamma(x):
    if x == -INF or (x <= 0 and x == math.floor(x)):
        return NAN
    return x if x == INF or x != x else float(mpmath.digamma(x))


def bessel_i1e(x):
    if abs(x) < 1000:
        return mpmath.exp(-abs(x)) * mpmath.besseli(1, x)
    # Hankel's expansion (DLMF 10.40.1); five terms are exact to 2^-60 and more.
    term, total, y = mpmath.mpf(1), mpmath.mpf(1), abs(x)
    for k in range(1, 8):
        term *= -(4 - (2 * k - 1) ** 2) / (8 * k * mpmath.mpf(y))
        total += term
    return mpmath.sign(x) * total / mpmath.sqrt(2 * mpmath.pi * y)


def near_bessel_i1e(x):
    return math.copysign(0.0, x) if math.isinf(x) else float(bessel_i1e(mpmath.mpf(x))) if x else x


def exact_cbrt(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


# Computed in f64 without an error, or with one that a second rounding cannot see.
PLAIN = {
    "abs": abs, "negate": operator.neg, "sign": sign, "floor": np.floor, "ceil": np.ceil,
    "round_nearest_afz": half_away, "round_nearest_even": np.rint, "sqrt": np.sqrt, "chlo.square": lambda x: x * x,
}
FUNCTIONS = {
    "cbrt": (exact_cbrt, np.cbrt), "cosine": (mpmath.cos, np.cos), "exponential": (mpmath.exp, np.exp),
    "exponential_minus_one": (mpmath.expm1, np.expm1), "log": (mpmath.log, np.log),
    "log_plus_one": (mpmath.log1p, np.log1p), "logistic": (lambda x: 1 / (1 + mpmath.exp(-x)), lambda x: 1 / (1 + np.exp(-x))),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), lambda x: 1 / np.sqrt(x)), "sine": (mpmath.sin, np.sin),
    "tan": (mpmath.tan, np.tan), "tanh": (mpmath.tanh, np.tanh),
    "chlo.acos": (mpmath.acos, np.arccos), "chlo.acosh": (mpmath.acosh, np.arccosh), "chlo.asin": (mpmath.asin, np.arcsin),
    "chlo.asinh": (mpmath.asinh, np.arcsinh), "chlo.atan": (mpmath.atan, np.arctan), "chlo.atanh": (mpmath.atanh, np.arctanh),
    "chlo.cosh": (mpmath.cosh, np.cosh), "chlo.sinh": (mpmath.sinh, np.sinh), "chlo.erf": (mpmath.erf, math.erf),
    "chlo.erfc": (mpmath.erfc, math.erfc), "chlo.erf_inv": (mpmath.erfinv, erf_inv), "chlo.lgamma": (
        lambda x: mpmath.log(abs(mpmath.gamma(x))) if x < 0 else mpmath.loggamma(x), lgamma),
    "chlo.digamma": (mpmath.digamma, digamma), "chlo.bessel_i1e": (bessel_i1e, near_bessel_i1e),
}
PLAIN_BINARY = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": lambda x, y: np.float64(x) / y,
    "remainder": np.fmod, "maximum": maximum, "minimum": minimum,
}
BINARY_FUNCTIONS = {"atan2": (mpmath.atan2, np.arctan2), "power": (mpmath.power, np.power)}


def divide(x, y):
    return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def remainder(x, y):
    return x if y == 0 else x - divide(x, y) * y


def power(x, y):
    return x ** y if y >= 0 else {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)


def bits_of(type, x):
    return x % 2**type.bits


INTEGER_UNARY = {
    "negate": lambda t, x: -x, "not": lambda t, x: ~x, "popcnt": lambda t, x: bits_of(t, x).bit_count(),
    "count_leading_zeros": lambda t, x: t.bits - bits_of(t, x).bit_length(),
}
SIGNED_UNARY = {"abs": lambda t, x: abs(x), "sign": lambda t, x: (x > 0) - (x < 0)}
INTEGER_BINARY = {
    "add": lambda t, x, y: x + y, "subtract": lambda t, x, y: x - y, "multiply": lambda t, x, y: x * y,
    "divide": lambda t, x, y: divide(x, y), "remainder": lambda t, x, y: remainder(x, y),
    "power": lambda t, x, y: power(x, y) if y < 0 else pow(x, y, 2**t.bits), "maximum": lambda t, x, y: max(x, y),
    "minimum": lambda t, x, y: min(x, y), "and": lambda t, x, y: x & y, "or": lambda t, x, y: x | y,
    "xor": lambda t, x, y: x ^ y, "chlo.mulhi": lambda t, x, y: x * y >> t.bits,
    "shift_left": lambda t, x, y: bits_of(t, x) << bits_of(t, y) if bits_of(t, y) < t.bits else 0,
    "shift_right_logical": lambda t, x, y: bits_of(t, x) >> bits_of(t, y),
    # Copies of the highest bit, of unsigned ones too.
    "shift_right_arithmetic": lambda t, x, y: Integer(t.bits, True).wrap(x) >> bits_of(t, y),
}
BOOLEAN_BINARY = {"add": operator.or_, "multiply": operator.and_, "maximum": operator.or_, "minimum": operator.and_,
                  "and": operator.and_, "or": operator.or_, "xor": operator.xor}
DIRECTIONS = {"EQ": operator.eq, "NE": operator.ne, "GE": operator.ge, "GT": operator.gt, "LE": operator.le, "LT": operator.lt}

EXACT = {name: by_mpmath(*functions) for name, functions in (FUNCTIONS | BINARY_FUNCTIONS).items()}


COMPLEX_UNARY = {
    "negate": operator.neg, "chlo.conj": np.conj,
}
COMPLEX_BINARY = {
    "add": operator.add, "subtract": operator.sub,
    "multiply": lambda x, y: complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real),
}


def convert(source, target, x):
    """I7."""
    if isinstance(target, Complex):
        re, im = (x.real, x.imag) if isinstance(source, Complex) else (x, 0)
        return complex(convert(source if not isinstance(source, Complex) else source.part, target.part, re), target.part.round(im))
    if isinstance(source, Complex):
        return convert(source.part, target, x.real)
    if isinstance(target, Float):
        # A NaN keeps its sign, which only formats without NaN show; 0 of any sign is 0 in an integer.
        return target.round(x if not isinstance(x, (bool, np.bool_)) else int(x))
    if target.bits == 1:
        return int(x != 0)
    if isinstance(source, Integer):
        return target.wrap(int(x))
    if x != x:
        return 0
    return int(min(max(x, target.low), target.high)) if math.isinf(x) else min(max(int(x), target.low), target.high)


REDUCERS = {"add": operator.add, "multiply": operator.mul, "maximum": maximum, "minimum": minimum}


def next_after(type, code, other):
    """The value next to a code's toward that of another."""
    x, y = (float(v) for v in type.decode([code, other]))
    if x != x or y != y:
        return type.round(NAN)
    if x == y:
        return y
    high = 1 << (type.bits - 1)
    scale = type.info.nmant == 0 and type.bits == 8
    if x == 0 and not scale:
        return float(type.decode([1 if y > 0 else high + 1])[0])
    step = int(code) + (1 if (y > x) == (x > 0) else -1)
    value = float(type.decode([step])[0])
    return 0.0 if step == high and not type.signed_zero and not scale else value


def order(type, code, value):
    """The place of a float in IEEE's total order (I9)."""
    code, high = int(code), 1 << (type.bits - 1)
    if type.info.nmant == 0 and type.bits == 8:
        return code
    if not type.signed_zero and value != value:
        return high  # the one NaN of FNUZ formats lies above all
    return code if code < high else -1 - (code - high)


def fold(type, function, init, values, as_written=False):
    """I10: floats in f32 or f64, or in their own type as a window's body is written, each step rounded, one
    rounding at the end."""
    if isinstance(type, Float):
        running = type if as_written or type is F64 else F32
        total = init
        for value in values:
            total = running.round(function(np.float64(total), np.float64(value)))
        return type.round(total)
    step = type.wrap if isinstance(type, Integer) else type.round
    total = init
    for value in values:
        total = step(function(total, value))
    return total
