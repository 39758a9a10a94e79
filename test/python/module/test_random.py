"""Stochastic rounding from key=, against Philox 4x32-10 and rule N5 in NumPy."""
import numpy as np
import pytest

import octavo


def philox(n, seed, stream=0):
    """N11 of docs/semantics.md, from the paper (Salmon and others, SC 2011)."""
    index = np.arange(-(-n // 4), dtype=np.uint64)
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    words = [index & low, index >> high, np.full_like(index, stream & 0xFFFFFFFF),
             np.full_like(index, stream >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [(b >> high) ^ words[1] ^ np.uint64(key[0]), b & low,
                 (a >> high) ^ words[3] ^ np.uint64(key[1]), a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(words, -1).ravel()[:n].astype(np.uint32)


def test_philox_is_the_papers():  # the known answers published with Random123, counter and key 0
    assert [hex(word) for word in philox(4, 0)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c",
                                                    "0x9b00dbd8"]


@pytest.mark.parametrize("key, seed, stream", [(0, 0, 0), (2 ** 40 + 3, 2 ** 40 + 3, 0),
                                               ((7, 2 ** 33 + 1), 7, 2 ** 33 + 1)])
def test_an_element_takes_its_number_of_the_stream(key, seed, stream):
    # Between 1 and 1.5 of e2m1fn: away from zero if r < 2^32 d (N5)
    d = np.random.default_rng(0).integers(0, 1 << 22, 5003).astype(np.float64) / (1 << 22)
    x = (1 + d / 2).astype(np.float32)
    up = philox(x.size, seed, stream) < d * 2 ** 32
    found = octavo.convert(x, "e2m1fn", rounding="stochastic", key=key).astype(np.float32)
    np.testing.assert_array_equal(found, np.where(up, 1.5, 1))
    # 4 in each block fixes the scale at 1
    x[::32] = 4
    tensor = octavo.quantize(x, "mxfp4", rounding="stochastic", key=key)
    np.testing.assert_array_equal(tensor.dequantize(), np.where(x == 4, 4, np.where(up, 1.5, 1)))


def test_its_mean_is_the_value():
    x = np.full(1 << 16, 1.1, np.float32)
    mean = octavo.convert(x, "e4m3fn", rounding="stochastic", key=1).astype(np.float64).mean()
    assert abs(mean - 1.1) < 4 * 0.0625 / 256  # four deviations of the mean


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_change_no_bit(threads):
    x = np.random.default_rng(0).normal(size=100_003).astype(np.float32)
    expected = octavo.quantize(x, "mxfp4", rounding="stochastic", key=5)
    try:
        octavo.set_threads(threads)
        assert octavo.quantize(x, "mxfp4", rounding="stochastic", key=5) == expected
    finally:
        octavo.set_threads(0)
    assert octavo.quantize(x, "mxfp4", rounding="stochastic", key=6) != expected


@pytest.mark.parametrize("arguments, error", [
    ({"rounding": "stochastic"}, octavo.FormatError), ({"key": 1}, octavo.FormatError),
    ({"rounding": "stochastic", "key": -1}, octavo.DtypeError),
    ({"rounding": "stochastic", "key": 2 ** 64}, octavo.DtypeError),
    ({"rounding": "stochastic", "key": "a"}, octavo.DtypeError),
    ({"rounding": "stochastic", "key": (1, 2, 3)}, octavo.DtypeError),
    ({"rounding": "stochastic", "key": 0.5}, octavo.DtypeError),
])
def test_bad_keys(arguments, error):
    x = np.ones(32, np.float32)
    with pytest.raises(error, match="key"):
        octavo.quantize(x, "mxfp4", **arguments)
    with pytest.raises(error, match="key"):
        octavo.convert(x, "e4m3fn", **arguments)
