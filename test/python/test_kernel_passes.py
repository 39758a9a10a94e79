"""The passes of kernels that are octavo's own. Divisions of a row by one number, which compiled programs do without
dividing (InvariantDivision.h), have the bits of IEEE 754's division; memory is asked for ahead (RowFetch.h); a place
in a loop is a base and one index (InvariantBases.h)."""
import os
import re
import subprocess

import numpy as np
import pytest
from test_compiled import OCTAVO, outputs

pytestmark = pytest.mark.mlir

EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")
COLUMNS = 128  # the fewest of a row whose divisions become products


def program(rows, columns):
    """Each row of x over its number of s, and the largest of each row of quotients."""
    wide, narrow = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    return f"""func.func @main(%x: {wide}, %s: {narrow}) -> ({wide}, {narrow}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %all = stablehlo.broadcast_in_dim %s, dims = [0] : ({narrow}) -> {wide}
  %q = stablehlo.divide %x, %all : {wide}
  %largest = stablehlo.reduce(%q init: %zero) applies stablehlo.maximum across dimensions = [1] : ({wide}, tensor<f32>) -> {narrow}
  return %q, %largest : {wide}, {narrow}
}}
"""


def quotients(x, s, folder):
    (folder / "quotients.mlir").write_text(program(*x.shape))
    return outputs(folder / "quotients.mlir", [x, s], folder, "compiled")


def code_of(text, folder):
    """What LLVM makes of a program's only kernel."""
    (folder / "p.mlir").write_text(text)
    subprocess.run([OCTAVO, "run", folder / "p.mlir", "--explain-compile", "--dump", folder / "stages"], check=True,
                   stdout=subprocess.DEVNULL)
    (code,) = (folder / "stages/3-kernels").glob("*-optimized.ll")
    return code.read_text()


@pytest.mark.parametrize("columns, by_products", [(COLUMNS - 1, False), (COLUMNS, True), (1 << 16, True), ((1 << 16) + 1, False)])
def test_rows_that_are_divided_by_products(columns, by_products, tmp_path):
    """Both loops are there where one is: the one that divides is for rows that have other numbers."""
    code = code_of(program(40, columns), tmp_path)
    assert ("@llvm.fma" in code) == by_products and "fdiv <" in code


def test_rows_that_are_asked_for_ahead(tmp_path):
    """Softmax reads a row to find its largest, computes functions, and writes the quotients: what reads and writes is
    asked for by what computes, the next row to be read, this row to be written. One loop asks for nothing."""
    wide, narrow = "tensor<64x1536xf32>", "tensor<64xf32>"
    spread = f"dims = [0] : ({narrow}) -> {wide}"
    softmax = f"""func.func @main(%x: {wide}) -> {wide} {{
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : ({wide}, tensor<f32>) -> {narrow}
  %ms = stablehlo.broadcast_in_dim %m, {spread}
  %d = stablehlo.subtract %x, %ms : {wide}
  %e = stablehlo.exponential %d : {wide}
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : ({wide}, tensor<f32>) -> {narrow}
  %ss = stablehlo.broadcast_in_dim %s, {spread}
  %q = stablehlo.divide %e, %ss : {wide}
  return %q : {wide}
}}
"""
    asked = re.findall(r"call void @llvm.prefetch.*i32 (\d), i32 3, i32 1\)", code_of(softmax, tmp_path))
    assert set(asked) == {"0", "1"}
    one = f"func.func @main(%x: {wide}) -> {wide} {{\n  %e = stablehlo.exponential %x : {wide}\n  return %e : {wide}\n}}\n"
    assert "@llvm.prefetch" not in code_of(one, tmp_path)


def assert_divides(x, s, folder):
    found, largest = quotients(x, s, folder)
    with np.errstate(all="ignore"):
        wanted = x / s[:, None]
    isnan = np.isnan(wanted)
    assert np.array_equal(isnan, np.isnan(found))
    wrong = np.argwhere((found.view(np.uint32) != wanted.view(np.uint32)) & ~isnan)
    assert len(wrong) == 0, [(x[tuple(at)].item().hex(), s[at[0]].item().hex()) for at in wrong[:4]]
    zero = np.zeros(len(x), np.float32)
    assert np.array_equal(largest, np.maximum(zero, wanted.max(1)), equal_nan=True)


def hard_cases(significands):
    """For divisors of these 24 bits, a row each: the dividends of 24 bits whose quotients are so close to a tie that
    the bound in InvariantDivision.h leaves them in doubt, and 0 in the rest of the row.

    A quotient X / S below 1 has ties (2 n + 1) / 2^25 around it: X 2^25 = S (2 n + 1) + d with |d| < 7; one above 1
    ties (2 n + 1) / 2^24. With S = 2^k S', S' odd, X 2^(25 - k) is d / 2^k modulo S', which halving solves for X."""
    s = significands.astype(np.int64)
    twos = np.log2((s & -s).astype(np.float64)).astype(np.int64)
    odd = s >> twos
    columns = []
    for shift in (24, 25):
        for distance in (-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6):
            x = (distance >> np.minimum(twos, 3)) % odd
            for step in range(shift):
                x = np.where(step < shift - twos, np.where(x % 2 == 0, x, x + odd) // 2, x)
            x += -(-(2**23 - x) // odd) * odd  # the first from 2^23 on
            divides = distance % (s & -s) == 0
            while (fits := divides & (x < 2**24)).any():
                is_tie = ((x << shift) - distance) // s % 2 == 1
                columns.append(np.where(fits & is_tie & ((x < s) == (shift == 25)), x, 0))
                x += odd
    return -np.sort(-np.stack(columns, 1))[:, :COLUMNS]


def test_hard_cases_are_close_to_ties():
    s = np.random.default_rng(0).integers(2**23, 2**24, 1000)
    x = hard_cases(s)
    assert np.count_nonzero(x) > 4000 and (x[:, -1] == 0).all()
    rest = (x << np.where(x < s[:, None], 24, 23)) % s[:, None]  # what is left of a unit: a tie is half of s
    assert (np.abs(2 * rest - s[:, None])[x != 0] <= 6).all()


@pytest.mark.parametrize("part", range(64 if EXHAUSTIVE else 1))
def test_quotients_next_to_ties(part, tmp_path):
    """The hard cases of 2^15 divisors, or of all 2^23."""
    s = np.arange(2**17) + part * 2**17 if EXHAUSTIVE else np.random.default_rng(1).integers(0, 2**23, 2**15)
    x = hard_cases(s + 2**23)
    x = np.pad(x, ((0, 0), (0, COLUMNS - x.shape[1])))
    assert_divides((x * 2.0**-23).astype(np.float32), ((s + 2**23) * 2.0**-23).astype(np.float32), tmp_path)


@pytest.mark.parametrize("divisors", [16 if EXHAUSTIVE else 1])
def test_all_significands_over_some_divisors(divisors, tmp_path):
    x = (np.arange(2**23, 2**24) * 2.0**-23).astype(np.float32).reshape(-1, 2**12)
    for s in np.random.default_rng(2).uniform(1, 2, divisors).astype(np.float32):
        assert_divides(x, np.full(len(x), s), tmp_path)


def test_random_rows_of_every_size(tmp_path):
    """Numbers of all exponents, over divisors of all: rows within the bounds, at them, and beyond."""
    numbers = np.random.default_rng(3)
    for least, most, least_s, most_s in ((-100, 100, -24, 24), (-103, -98, -24, -22), (97, 103, 22, 26),
                                         (-126, 127, -126, 127), (-149, -120, -30, 30)):
        x = np.ldexp(numbers.uniform(1, 2, (4096, 192)), numbers.integers(least, most + 1, (4096, 192)))
        s = np.ldexp(numbers.uniform(1, 2, 4096), numbers.integers(least_s, most_s + 1, 4096))
        signs = numbers.choice([-1, 1], x.shape)
        assert_divides((x * signs).astype(np.float32), s.astype(np.float32), tmp_path)


def test_rows_with_special_numbers(tmp_path):
    """Zeros of both signs keep them; infinities, NaN, subnormals; divisors of either sign, 0, infinite, NaN."""
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.2e-38, 3.4e38, 2.0**-100, -2.0**-100,
                        np.nextafter(np.float32(2.0**-100), np.float32(0)), 2.0**100,
                        np.nextafter(np.float32(2.0**100), np.float32(np.inf))], np.float32)
    divisors = np.array([3, -3, 0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, 2.0**-24, 2.0**24,
                         np.nextafter(np.float32(2.0**-24), np.float32(0)),
                         np.nextafter(np.float32(2.0**24), np.float32(np.inf))], np.float32)
    numbers = np.random.default_rng(4)
    rows = numbers.uniform(-4, 4, (len(divisors), len(special), 200)).astype(np.float32)
    rows[:, range(len(special)), 77] = special
    rows[:, 0] = 0  # a row of zeros alone
    rows[:, 1] = -0.0
    assert_divides(rows.reshape(-1, 200), np.repeat(divisors, len(special)), tmp_path)


def test_places_are_bases_and_one_index(tmp_path):
    """Nine places of a window, of which rows and columns are in range or not: loops add no indices to others."""
    window = """func.func @main(%x: tensor<2x64x64x32xf32>) -> tensor<2x64x64x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x64x64x32xf32>, tensor<f32>) -> tensor<2x64x64x32xf32>
  return %y : tensor<2x64x64x32xf32>
}
"""
    (loop,) = re.findall(r"^vector\.body:.*?br ", code_of(window, tmp_path), re.DOTALL | re.MULTILINE)
    assert loop.count("= load <") == 9 and loop.count("= add ") == 1
