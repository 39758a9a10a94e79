"""`octavo formats`: its facts against ml_dtypes and NumPy, and docs/generated/formats.md against the tables."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest
from trial_formats import TRIAL

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
PAGE = pathlib.Path(__file__).parents[2] / "docs/generated/formats.md"


def octavo(*arguments):
    return subprocess.run([OCTAVO, *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def formats():
    return json.loads(octavo("formats", "--json").stdout)


def numpy_type(row):
    name = row["numpy"]
    scalar = name and (getattr(ml_dtypes, name, None) or getattr(np, name, None))
    return np.dtype(scalar) if scalar else None


def test_the_page_is_current():
    lines = octavo("formats", "--markdown").stdout.splitlines(keepends=True)
    page = "".join(line for line in lines if line.removeprefix("| ").split(" ")[0] not in TRIAL)
    assert page == PAGE.read_text(), (
        "docs/generated/formats.md is old; write it anew: octavo formats --markdown > docs/generated/formats.md")


def test_limits_are_those_of_finfo(formats):
    compared = 0
    for row in formats["element_formats"]:
        dtype = numpy_type(row)
        if dtype is None or np.issubdtype(dtype, np.integer):
            continue
        info = ml_dtypes.finfo(dtype)
        assert row["bits"] == info.bits, row["name"]
        assert row["max"] == float(info.max), row["name"]
        assert row["min_normal"] == float(info.smallest_normal), row["name"]
        if row["min_subnormal"] is not None:
            assert row["min_subnormal"] == float(info.smallest_subnormal), row["name"]
        assert row["exponent_bits"] == info.nexp, row["name"]
        assert row["trailing_significand_bits"] == info.nmant, row["name"]
        compared += 1
    assert compared >= 15


def test_codes_are_those_of_the_types(formats):
    for row in formats["element_formats"]:
        dtype = numpy_type(row)
        if dtype is None or np.issubdtype(dtype, np.integer):
            continue

        def value(code):
            return float(np.array([code], f"u{dtype.itemsize}").view(dtype)[0])

        assert value(row["max_code"]) == row["max"], row["name"]
        if row["inf_code"] is not None:
            assert value(row["inf_code"]) == float("inf"), row["name"]
        if row["nan_code"] is not None:
            assert np.isnan(value(row["nan_code"])), row["name"]
        negative_zero = 1 << (row["bits"] - 1)
        zero_is_signed = value(negative_zero) == 0 and np.signbit(value(negative_zero))
        assert row["has_negative_zero"] == bool(zero_is_signed), row["name"]


def test_scaled_formats_of_ocp_mx(formats):
    rows = {row["name"]: row for row in formats["scaled_formats"]}
    # OCP MX 1.0, table 1: element type, block size 32, E8M0; 5.1: (8 + 32 d) / 32 bits a value.
    for name, element, bits in [("mxfp8_e4m3", "e4m3fn", 8.25), ("mxfp8_e5m2", "e5m2", 8.25),
                                ("mxfp6_e3m2", "e3m2fn", 6.25), ("mxfp6_e2m3", "e2m3fn", 6.25),
                                ("mxfp4", "e2m1fn", 4.25), ("mxint8", "int8", 8.25)]:
        row = rows[name]
        assert (row["element"], row["scale"], row["block"]) == (element, "e8m0fnu", [1, 32])
        assert row["bits_per_value"] == bits
        assert row["scale_rule"] == "floor"  # 6.3


def test_the_text_names_every_format(formats):
    text = octavo("formats").stdout
    for row in formats["element_formats"] + formats["scaled_formats"]:
        assert row["name"] in text


def test_json_and_markdown_exclude_each_other():
    refused = octavo("formats", "--json", "--markdown")
    assert refused.returncode == 2
    assert "--json" in refused.stderr and "--markdown" in refused.stderr
