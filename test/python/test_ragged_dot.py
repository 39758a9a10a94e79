"""chlo.ragged_dot in its three modes, beside jax.lax.ragged_dot_general on XLA's CPU."""
import numpy as np
import pytest
from accuracy import legalized
from test_chlo_broadcast import text as tensor
from test_reference import integers, run

pytestmark = pytest.mark.mlir

# lhs, rhs, group sizes; axes: batching, contracting (lhs and rhs of each), ragged, group.
CASES = {
    "free": ((11, 5), (3, 5, 7), [4, 0, 5], ([], [], [1], [1], 0, [0])),
    "free past the end": ((11, 5), (3, 5, 7), [4, 5, 9], ([], [], [1], [1], 0, [0])),
    "free, batched": ((2, 6, 5), (3, 2, 5, 4), [[1, 2, 3], [0, 4, 1]], ([0], [1], [2], [2], 1, [0])),
    "free, one run for all": ((2, 6, 5), (3, 2, 5, 4), [1, 2, 2], ([0], [1], [2], [2], 1, [0])),
    "free, a free axis before": ((2, 6, 5), (5, 3, 4), [[1, 2, 3], [3, 0, 3]], ([], [], [2], [0], 1, [1])),
    "contracting": ((5, 11), (11, 4), [3, 0, 7], ([], [], [1], [0], 1, [])),
    "contracting, batched": ((2, 5, 6), (2, 6, 4), [[1, 2, 3], [4, 0, 1]], ([0], [0], [2], [1], 2, [])),
    "contracting, another before": ((2, 5, 6), (4, 6, 2), [[1, 2], [4, 0]], ([], [], [0, 2], [2, 1], 2, [])),
    "batching": ((3, 5, 6), (3, 6, 4), [1, 2], ([0], [0], [2], [1], 0, [])),
}


def evaluated(folder, lhs, rhs, sizes, expected, axes, open_extents=False, form=str):
    lhs_batch, rhs_batch, lhs_contract, rhs_contract, ragged, group = axes
    types = [tensor(a, "?" * a.ndim if open_extents and a is not sizes else None)
             for a in (lhs, rhs, sizes, expected)]
    numbers = (f"lhs_batching_dimensions = {lhs_batch}, rhs_batching_dimensions = {rhs_batch}, "
               f"lhs_contracting_dimensions = {lhs_contract}, rhs_contracting_dimensions = {rhs_contract}, "
               f"lhs_ragged_dimensions = [{ragged}], rhs_group_dimensions = {group}")
    program = f"""func.func @main(%x: {types[0]}, %y: {types[1]}, %s: {types[2]}) -> {types[3]} {{
      %r = "chlo.ragged_dot"(%x, %y, %s) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>}}>
          : ({", ".join(types[:3])}) -> {types[3]}
      return %r : {types[3]} }}"""
    (result,) = run(folder, form(program), lhs, rhs, sizes)
    return result


def expected_of(lhs, rhs, sizes, axes):
    import jax
    lhs_batch, rhs_batch, lhs_contract, rhs_contract, ragged, group = axes
    numbers = jax.lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=((lhs_contract, rhs_contract), (lhs_batch, rhs_batch)),
        lhs_ragged_dimensions=[ragged], rhs_group_dimensions=group)
    return np.asarray(jax.lax.ragged_dot_general(lhs, rhs, sizes, numbers))


@pytest.mark.parametrize("open_extents", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_like_jax(tmp_path, case, open_extents):
    left, right, sizes, axes = CASES[case]
    # Of small integers, so that every order of sums gives one result.
    lhs, rhs = integers(-9, 9, *left).astype(np.float32), integers(-9, 9, *right).astype(np.float32)
    sizes = np.array(sizes, np.int32)
    expected = expected_of(lhs, rhs, sizes, axes)
    assert expected.any()
    np.testing.assert_array_equal(evaluated(tmp_path, lhs, rhs, sizes, expected, axes, open_extents), expected)
    if not open_extents:
        for dtype in (np.int32, np.uint8, np.uint64, np.int64):
            found = evaluated(tmp_path, lhs, rhs, sizes.astype(dtype), expected, axes, form=legalized)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", ["free", "contracting, batched"])
def test_what_is_outside_a_group_does_not_count(tmp_path, case):
    left, right, sizes, axes = CASES[case]
    lhs, rhs = integers(-9, 9, *left).astype(np.float32), integers(-9, 9, *right).astype(np.float32)
    sizes = np.array(sizes, np.int32)
    expected = expected_of(lhs, rhs, sizes, axes)
    if case == "free":
        lhs[9:] = np.inf  # rows of no group
        rhs[1] = np.nan   # a group without rows
    else:
        lhs[1, :, 5] = np.inf  # the second batch has no group for its last index
    for form in (str, legalized):
        np.testing.assert_array_equal(evaluated(tmp_path, lhs, rhs, sizes, expected, axes, form=form), expected)


def test_integers_and_complex_numbers(tmp_path):
    left, right, sizes, axes = CASES["free"]
    sizes = np.array(sizes, np.int32)
    lhs, rhs = integers(-9, 9, *left), integers(-9, 9, *right)
    starts = np.cumsum([0, *sizes])
    for dtype, factor in ((np.int32, 1), (np.complex64, 1 - 2j)):
        x, y = (lhs * factor).astype(dtype), rhs.astype(dtype)
        expected = np.zeros((11, 7), dtype)
        for group, (start, end) in enumerate(zip(starts, starts[1:])):
            expected[start:end] = x[start:end] @ y[group]
        for form in (str, legalized):
            np.testing.assert_array_equal(evaluated(tmp_path, x, y, sizes, expected, axes, form=form), expected)


def test_a_negative_size_is_refused(tmp_path):
    left, right, _, axes = CASES["free"]
    lhs, rhs = np.zeros(left, np.float32), np.zeros(right, np.float32)
    with pytest.raises(AssertionError, match="group sizes must not be negative; that of group 1 is -"):
        evaluated(tmp_path, lhs, rhs, np.array([4, -1, 5], np.int32), np.zeros((11, 7), np.float32), axes)


def test_sizes_beyond_what_is_signed(tmp_path):
    """Past the axis, however large, where a sum of them would not fit."""
    left, right, _, axes = CASES["free"]
    lhs, rhs = integers(-9, 9, *left).astype(np.float32), integers(-9, 9, *right).astype(np.float32)
    sizes = np.array([4, 2**64 - 1, 2**64 - 5], np.uint64)
    expected = np.concatenate([lhs[:4] @ rhs[0], lhs[4:] @ rhs[1]])
    for form in (str, legalized):
        np.testing.assert_array_equal(evaluated(tmp_path, lhs, rhs, sizes, expected, axes, form=form), expected)


def test_legalized_a_negative_size_counts_as_none(tmp_path):
    left, right, _, axes = CASES["free"]
    lhs, rhs = integers(-9, 9, *left).astype(np.float32), integers(-9, 9, *right).astype(np.float32)
    expected = np.concatenate([lhs[:4] @ rhs[0], lhs[4:9] @ rhs[2], np.zeros((2, 7), np.float32)])
    found = evaluated(tmp_path, lhs, rhs, np.array([4, -1, 5], np.int32), expected, axes, form=legalized)
    np.testing.assert_array_equal(found, expected)
