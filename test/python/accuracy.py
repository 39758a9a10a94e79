"""How far the functions of the interpreter are from mpmath, in units in the last place."""

import math
import subprocess
import zlib
from dataclasses import dataclass

import mpmath
import numpy as np
from test_reference import OCTAVO, run

TYPES = {"f32": np.float32, "f64": np.float64}
# Functions of real numbers, and of the components of complex ones.
BOUND, COMPLEX_BOUND = 1.0, 3.0
# Of what CHLO's functions are legalized to: of most, and of those that are sums of many powers.
LEGALIZED_BOUND, LEGALIZED_SUM_BOUND = 4.0, 8.0
SUMS = {"chlo.polygamma", "chlo.zeta"}


def spread(random, low, high, count):
    """Numbers of either sign and every size between two magnitudes, given as logarithms."""
    return random.choice([-1.0, 1.0], count) * np.exp(random.uniform(low, high, count))


def strata(random, dtype, count):
    """Subnormal, small, ordinary and huge numbers, and those near 1 and near multiples of pi / 2."""
    info = np.finfo(dtype)
    subnormal, tiny, largest = (math.log(float(x)) for x in (info.smallest_subnormal, info.tiny, info.max))
    near = random.choice([-1.0, 1.0], count) * (1 + spread(random, math.log(float(info.eps)), -1, count))
    turns = random.integers(-50, 50, count) * (math.pi / 2)
    return np.concatenate([spread(random, subnormal, tiny, count // 2), spread(random, tiny, -3, count),
                           spread(random, -3, 3, 2 * count), spread(random, 3, 8, count),
                           spread(random, 8, largest, count), near, turns]).astype(dtype)


def inside(low, high):
    return lambda x: x[(x > low) & (x < high)]


def digamma_arguments(x):
    # Near its negative zeros digamma is the difference of two large numbers.
    return x[x > 0]


def lgamma_arguments(x):
    return x[(x > -50) & ((x > 0) | (x != np.rint(x)))]


def lgamma(x):
    return mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.loggamma(x)


def zeta(x, q):
    with mpmath.workdps(450):  # its precision is absolute
        return mpmath.zeta(x, q)


def polygamma(n, x):
    return (-1) ** (int(n) + 1) * mpmath.factorial(n) * zeta(n + 1, x)


def erf_inv(x):
    """By Newton's steps from f64's, which mpmath's own does not do near 1."""
    y = mpmath.erfinv(x) if abs(x) < 0.999 else mpmath.sign(x) * mpmath.sqrt(-mpmath.log(1 - abs(x)))
    for _ in range(40):
        step = (mpmath.erf(y) - x) / (2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y))
        y -= step
        if abs(step) < abs(y) * mpmath.mpf(2) ** -100:
            break
    return y


@dataclass(frozen=True)
class Function:
    exact: object
    domain: object = staticmethod(lambda x: x)
    pairs: object = None  # how arguments of two are drawn


def of_powers(random, dtype, count):
    base = np.abs(strata(random, dtype, count))
    with np.errstate(divide="ignore"):
        limit = math.log(float(np.finfo(dtype).max)) / np.maximum(np.abs(np.log(base.astype(np.float64))), 1e-3)
    return base, (random.uniform(-1, 1, base.size) * limit).astype(dtype)


def any_two(random, dtype, count):
    x = strata(random, dtype, count)
    return x, random.permutation(x)


def of_zeta(random, dtype, count):
    x = 1 + np.exp(random.uniform(-10, 4, count))
    return x.astype(dtype), np.exp(random.uniform(-6, 12, x.size)).astype(dtype)


def of_polygamma(random, dtype, count):
    n = random.integers(1, 12, count)
    return n.astype(dtype), np.exp(random.uniform(-4, 9, n.size)).astype(dtype)


def cbrt(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


REAL = {
    "stablehlo.atan2": Function(mpmath.atan2, pairs=any_two),
    "stablehlo.cbrt": Function(cbrt),
    "stablehlo.cosine": Function(mpmath.cos),
    "stablehlo.exponential": Function(mpmath.exp),
    "stablehlo.exponential_minus_one": Function(mpmath.expm1),
    "stablehlo.log": Function(mpmath.log, inside(0, math.inf)),
    "stablehlo.log_plus_one": Function(mpmath.log1p, inside(-1, math.inf)),
    "stablehlo.logistic": Function(lambda x: 1 / (1 + mpmath.exp(-x))),
    "stablehlo.power": Function(mpmath.power, pairs=of_powers),
    "stablehlo.rsqrt": Function(lambda x: 1 / mpmath.sqrt(x), inside(0, math.inf)),
    "stablehlo.sine": Function(mpmath.sin),
    "stablehlo.sqrt": Function(mpmath.sqrt, inside(0, math.inf)),
    "stablehlo.tan": Function(mpmath.tan),
    "stablehlo.tanh": Function(mpmath.tanh),
    "chlo.acos": Function(mpmath.acos, inside(-1, 1)),
    "chlo.acosh": Function(mpmath.acosh, inside(1, math.inf)),
    "chlo.asin": Function(mpmath.asin, inside(-1, 1)),
    "chlo.asinh": Function(mpmath.asinh),
    "chlo.atan": Function(mpmath.atan),
    "chlo.atanh": Function(mpmath.atanh, inside(-1, 1)),
    "chlo.bessel_i1e": Function(lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x), inside(-1e4, 1e4)),
    "chlo.cosh": Function(mpmath.cosh),
    "chlo.digamma": Function(mpmath.digamma, digamma_arguments),
    "chlo.erf": Function(mpmath.erf),
    "chlo.erf_inv": Function(erf_inv, inside(-1, 1)),
    "chlo.erfc": Function(mpmath.erfc, inside(-math.inf, 30)),
    "chlo.lgamma": Function(lgamma, lgamma_arguments),
    "chlo.polygamma": Function(polygamma, pairs=of_polygamma),
    "chlo.sinh": Function(mpmath.sinh),
    "chlo.zeta": Function(zeta, pairs=of_zeta),
}


def atan2(y, x):
    return -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y))


COMPLEX = {
    "stablehlo.abs": mpmath.fabs,
    "stablehlo.atan2": atan2,
    "stablehlo.cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3),
    "stablehlo.cosine": mpmath.cos,
    "stablehlo.exponential": mpmath.exp,
    "stablehlo.exponential_minus_one": lambda z: mpmath.exp(z) - 1,
    "stablehlo.log": mpmath.log,
    "stablehlo.log_plus_one": lambda z: mpmath.log(1 + z),
    "stablehlo.logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
    "stablehlo.power": lambda x, y: mpmath.exp(y * mpmath.log(x)),
    "stablehlo.rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "stablehlo.sine": mpmath.sin,
    "stablehlo.sqrt": mpmath.sqrt,
    "stablehlo.tan": mpmath.tan,
    "stablehlo.tanh": mpmath.tanh,
    "chlo.acos": mpmath.acos,
    "chlo.acosh": mpmath.acosh,
    "chlo.asin": mpmath.asin,
    "chlo.asinh": mpmath.asinh,
    "chlo.atan": mpmath.atan,
    "chlo.atanh": mpmath.atanh,
    "chlo.cosh": mpmath.cosh,
    "chlo.sinh": mpmath.sinh,
    "chlo.square": lambda z: z * z,
}
TWO = {"stablehlo.atan2", "stablehlo.power"}
# The angle y log x of a power may be hundreds of turns: a part that is small beside the other is as
# exact as the other.
BY_MODULUS = ("stablehlo.power", "complex")


OFF_AXIS = -6000  # the exponent of what stands for a zero of a complex number


def ulps(found, exact, dtype, size):
    """The distance of a float from an exact number in units in the last place of `size`; 0 where both
    are beyond the largest float."""
    info = np.finfo(dtype)
    if abs(exact) >= mpmath.mpf(float(info.max)) * (1 + mpmath.mpf(2) ** -(info.nmant + 2)):
        return 0.0 if found == math.copysign(math.inf, exact) else math.inf
    if not math.isfinite(found):
        return math.inf
    _, exponent = mpmath.frexp(size) if size else (0, -10**6)
    unit = mpmath.mpf(2) ** (max(exponent - 1, info.minexp) - info.nmant)
    return float(abs(mpmath.mpf(float(found)) - exact) / unit)


@dataclass(frozen=True)
class Worst:
    """Of a function on one type: the largest distance, where it was found, among how many."""

    function: str
    type: str
    ulps: float
    arguments: tuple
    samples: int


def arguments(function, dtype, count):
    random = np.random.default_rng(zlib.crc32(function.encode()))
    entry = REAL[function]
    if entry.pairs:
        return entry.pairs(random, dtype, count)
    return (entry.domain(strata(random, dtype, count)),)


def complex_arguments(function, dtype, count):
    """Components of every size; one of them 0 of either sign, on the axes, where the cuts are."""
    random = np.random.default_rng(zlib.crc32(function.encode()) + 1)
    small, large = ((-87, 5) if dtype is np.float32 else (-200, 5))

    def numbers(size):
        near = 1 + spread(random, -12, -1, size)
        return np.where(random.uniform(size=size) < 0.15, near, spread(random, random.choice([small, -4.0]), large, size))
    size = 3 * count

    def draw():
        parts = np.stack([numbers(size), numbers(size)])
        axis = random.integers(0, 8, size)
        zero = random.choice([0.0, -0.0], size)
        parts[0] = np.where(axis == 0, zero, parts[0])
        parts[1] = np.where(axis == 1, zero, parts[1])
        return parts.astype(dtype)
    if function not in TWO:
        return (draw(),)
    first, second = draw(), np.clip(draw(), -20, 20)
    if function == "stablehlo.atan2":
        second[second == 0] = 1  # on both axes the sign of a zero of x^2 + y^2 would decide
        return first, second
    # Where y log x is large, so is its error in extended precision.
    x, y = (np.abs(parts[0] + 1j * parts[1]) for parts in (first.astype(np.float64), second.astype(np.float64)))
    return first, (second * np.minimum(1, 500 / (y * (np.abs(np.log(x)) + 2)))).astype(dtype)


def program(functions, counts, kinds):
    """A function for all, whose operands are arguments and whose results are in order."""
    parameters, results, lines = [], [], []
    for i, (function, operands) in enumerate(functions):
        kind, size = kinds[i], counts[i]
        names = []
        is_complex = kind.startswith("complex")
        part = kind[8:-1] if is_complex else kind
        for k in range(operands):
            if is_complex:
                parameters += [f"%a{i}_{k}_{half}: tensor<{size}x{part}>" for half in (0, 1)]
                lines.append(f"%z{i}_{k} = stablehlo.complex %a{i}_{k}_0, %a{i}_{k}_1 : tensor<{size}x{kind}>")
                names.append(f"%z{i}_{k}")
            else:
                parameters.append(f"%a{i}_{k}: tensor<{size}x{kind}>")
                names.append(f"%a{i}_{k}")
        given = ", ".join([f"tensor<{size}x{kind}>"] * operands)
        result = part if function == "stablehlo.abs" else kind
        lines.append(f'%r{i} = "{function}"({", ".join(names)}) : ({given}) -> tensor<{size}x{result}>')
        if result != part:
            for half in ("real", "imag"):
                lines.append(f"%r{i}_{half} = stablehlo.{half} %r{i} : (tensor<{size}x{kind}>) -> tensor<{size}x{part}>")
                results.append((f"%r{i}_{half}", f"tensor<{size}x{part}>"))
        else:
            results.append((f"%r{i}", f"tensor<{size}x{part}>"))
    names, types = zip(*results)
    body = "\n  ".join(lines)
    return (f"func.func @main({', '.join(parameters)}) -> ({', '.join(types)}) {{\n  {body}\n"
            f"  return {', '.join(names)} : {', '.join(types)}\n}}\n")


def off_axis(x):
    """A component of a complex number; a zero is moved off its axis to the side of its sign."""
    return mpmath.mpf(float(x)) if x != 0 else math.copysign(1, x) * mpmath.mpf(2) ** OFF_AXIS


def is_beyond(worst, is_legalized):
    if is_legalized:
        return worst.ulps > (LEGALIZED_SUM_BOUND if worst.function in SUMS else LEGALIZED_BOUND)
    return worst.ulps > (COMPLEX_BOUND if worst.type.startswith("complex") else BOUND)


def worst_of(function, kind, columns, found, exact, dtype):
    worst = Worst(function, kind, 0.0, (), len(columns))
    for place, (operands, numbers) in enumerate(zip(columns, exact, strict=True)):
        for value, number in zip(found, numbers, strict=True):
            size = max(map(abs, numbers)) if (function, kind[:7]) == BY_MODULUS else number
            distance = ulps(float(value[place]), number, dtype, size)
            if distance > worst.ulps:
                worst = Worst(function, kind, distance, operands, len(columns))
    return worst


def legalized(program):
    """The program with the operations of CHLO as StableHLO's."""
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-legalize-chlo", "-"], input=program,
                           capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert "chlo." not in ended.stdout
    return ended.stdout


def measure(folder, count):
    """The worst of each function on each type, over some 7 * count arguments of real numbers and 3 * count
    of complex ones: of the operation, and of CHLO's once it is legalized, else nothing."""
    calls, kinds, inputs = [], [], []
    for kind, dtype in TYPES.items():
        for function in REAL:
            calls.append((function, 2 if REAL[function].pairs else 1))
            kinds.append(kind)
            inputs.append(arguments(function, dtype, count))
        for function in COMPLEX:
            calls.append((function, 2 if function in TWO else 1))
            kinds.append(f"complex<{kind}>")
            inputs.append(complex_arguments(function, dtype, count))
    arrays = [np.ascontiguousarray(half) for given in inputs for x in given for half in (x if x.ndim == 2 else [x])]
    text = program(calls, [given[0].shape[-1] for given in inputs], kinds)
    runs = [iter(run(folder, one, *arrays, backend="reference")) for one in (text, legalized(text))]
    for (function, operands), kind, given in zip(calls, kinds, inputs):
        dtype = TYPES[kind.removeprefix("complex<").removesuffix(">")]
        is_complex = kind.startswith("complex")
        found = [[next(results) for _ in range(2 if is_complex and function != "stablehlo.abs" else 1)]
                 for results in runs]
        columns = list(zip(*([tuple(pair) for pair in x.T] if is_complex else x for x in given)))
        exact = [(exact_complex if is_complex else exact_real)(function, operands) for operands in columns]
        direct, after = (worst_of(function, kind, columns, one, exact, dtype) for one in found)
        if function == "chlo.lgamma":
            # Near its zeros at negative arguments it is the difference of larger numbers.
            places = [i for i, (x,) in enumerate(columns) if x > 0]
            after = worst_of(function, kind, [columns[i] for i in places], [part[places] for part in found[1]],
                             [exact[i] for i in places], dtype)
        yield direct, after if function.startswith("chlo.") else None


def exact_real(function, operands):
    with mpmath.workprec(160):
        return (REAL[function].exact(*(mpmath.mpf(float(v)) for v in operands)),)


def exact_complex(function, operands):
    # So many bits that 1 + z keeps z; on the axes, that what should be 0 is less than any float.
    smallest = min(math.frexp(x)[1] if x else -1200 for pair in operands for x in pair)
    with mpmath.workprec(300 + 2 * max(0, -smallest)):
        exact = COMPLEX[function](*(mpmath.mpc(off_axis(re), off_axis(im)) for re, im in operands))
        return (exact.real,) if function == "stablehlo.abs" else (exact.real, exact.imag)


def tables():
    """Those of the page: title, functions, types, whether they are legalized."""
    def of_chlo(functions):
        return [name for name in functions if name.startswith("chlo.")]
    complex_types = [f"complex<{kind}>" for kind in TYPES]
    yield "Real numbers", list(REAL), list(TYPES), False
    yield "Parts of complex numbers", list(COMPLEX), complex_types, False
    yield "Real numbers, legalized", of_chlo(REAL), list(TYPES), True
    yield "Parts of complex numbers, legalized", of_chlo(COMPLEX), complex_types, True
