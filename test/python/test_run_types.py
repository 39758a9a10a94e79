"""Every element type of the dialect goes into a program from a file and out to one: NumPy and
ml_dtypes write the inputs and read the outputs."""

import json

import ml_dtypes  # numpy.load knows the names of its types from here on
import numpy as np
import pytest
import safetensors

from test_run import OCTAVO, assert_has, octavo, write  # noqa: F401

pytestmark = pytest.mark.mlir

REVERSE = """
func.func @main(%x: tensor<{n}x{type}> {{octavo.name = "x"}}) -> (tensor<{n}x{type}> {{octavo.name = "x"}}) {{
  %0 = stablehlo.reverse %x, dims = [0] : tensor<{n}x{type}>
  return %0 : tensor<{n}x{type}>
}}
"""
# MLIR's name, NumPy's or ml_dtypes' name, safetensors' dtype.
TYPES = [
    ("i1", "bool", "BOOL"), ("i2", "int2", None), ("ui2", "uint2", None), ("i4", "int4", None),
    ("ui4", "uint4", None), ("i8", "int8", "I8"), ("ui8", "uint8", "U8"), ("i16", "int16", "I16"),
    ("ui16", "uint16", "U16"), ("i32", "int32", "I32"), ("ui32", "uint32", "U32"),
    ("i64", "int64", "I64"), ("ui64", "uint64", "U64"), ("complex<f32>", "complex64", "C64"),
    ("complex<f64>", "complex128", None), ("f4E2M1FN", "float4_e2m1fn", "F4"),
    ("f6E2M3FN", "float6_e2m3fn", "F6_E2M3"), ("f6E3M2FN", "float6_e3m2fn", "F6_E3M2"),
    ("f8E3M4", "float8_e3m4", None), ("f8E4M3", "float8_e4m3", None),
    ("f8E4M3FN", "float8_e4m3fn", "F8_E4M3"), ("f8E5M2", "float8_e5m2", "F8_E5M2"),
    ("f8E4M3FNUZ", "float8_e4m3fnuz", "F8_E4M3FNUZ"), ("f8E5M2FNUZ", "float8_e5m2fnuz", "F8_E5M2FNUZ"),
    ("f8E4M3B11FNUZ", "float8_e4m3b11fnuz", None), ("f8E8M0FNU", "float8_e8m0fnu", "F8_E8M0"),
    ("bf16", "bfloat16", "BF16"), ("f16", "float16", "F16"), ("f32", "float32", "F32"),
    ("f64", "float64", "F64"),
]  # fmt: skip
OF_ML_DTYPES = [row for row in TYPES if hasattr(ml_dtypes, row[1])]


def sample(name, n):
    """n elements with many codes; of a boolean both."""
    dtype = np.dtype(name)
    if name == "bool" or dtype.kind == "c":
        return (np.arange(n) % 2 * 1.5 + (1j * np.arange(n) if dtype.kind == "c" else 0)).astype(dtype)
    width = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6,
             "float6_e3m2fn": 6}.get(name, 8)  # fmt: skip
    codes = np.arange(n * dtype.itemsize) * 37 % (1 << width)
    return codes.astype(np.uint8).view(dtype)


def write_by_name(path, array):
    """An .npy file whose header has the name that ml_dtypes gives the type."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": array.dtype.name, "fortran_order": False, "shape": array.shape})
        file.write(array.tobytes())
    return path


def test_every_element_format_is_here():
    rows = json.loads(octavo("formats", "--json"))["element_formats"]
    assert {row["mlir"] for row in rows if row["mlir"]} - {"i8"} <= {row[0] for row in TYPES}


@pytest.mark.parametrize("mlir, name, dtype", TYPES, ids=[row[0] for row in TYPES])
def test_numpy_writes_it_and_reads_it(tmp_path, mlir, name, dtype):
    x = sample(name, 7)
    program = write(tmp_path / "p.mlir", REVERSE.format(n=7, type=mlir))
    sources = [write_by_name(tmp_path / "named.npy", x)]
    if hasattr(ml_dtypes, name):
        for source, array in ((f"raw.{name}.npy", x), (f"codes.{mlir}.npy", x.view(f"u{x.itemsize}"))):
            np.save(tmp_path / source, array)
            sources.append(tmp_path / source)
    else:
        np.save(tmp_path / "x.npy", x)
        sources = [tmp_path / "x.npy"]
    for source in sources:
        octavo("run", program, "--input", source, "--output", tmp_path / "y.npy")
        y = np.load(tmp_path / "y.npy")
        assert y.dtype == x.dtype
        assert y.tobytes() == x[::-1].tobytes(), source


@pytest.mark.parametrize("mlir, name, dtype", TYPES, ids=[row[0] for row in TYPES])
def test_safetensors_hold_it_or_the_error_says_what_does(tmp_path, mlir, name, dtype):
    x = sample(name, 8)
    program = write(tmp_path / "p.mlir", REVERSE.format(n=8, type=mlir))
    source = tmp_path / f"x.{name}.npy"
    np.save(source, x)
    arguments = ["run", program, "--input", source, "--output", tmp_path / "y.safetensors"]
    if dtype is None:
        assert_has(octavo(*arguments, code=3), "safetensors has no dtype", mlir, "write a .npy file")
        return
    octavo(*arguments)
    with safetensors.safe_open(tmp_path / "y.safetensors", "np") as opened:
        assert opened.get_slice("x").get_dtype() == dtype
    octavo("run", program, "--input", tmp_path / "y.safetensors", "--output", tmp_path / "z.npy")
    assert np.load(tmp_path / "z.npy").tobytes() == x.tobytes()


@pytest.mark.parametrize("mlir, name", [("f6E2M3FN", "float6_e2m3fn"), ("f4E2M1FN", "float4_e2m1fn")])
def test_codes_that_do_not_fill_bytes(tmp_path, mlir, name):
    np.save(tmp_path / f"x.{name}.npy", sample(name, 7))
    program = write(tmp_path / "p.mlir", REVERSE.format(n=7, type=mlir))
    error = octavo("run", program, "--input", tmp_path / f"x.{name}.npy", "--output",
                   tmp_path / "y.safetensors", code=3)
    assert_has(error, "whole bytes only", "found 7", "write a .npy file")


def test_quantized_types_are_their_storage(tmp_path):
    mlir = "!quant.uniform<i8<-100:100>:f32, 0.5:1>"
    program = write(tmp_path / "p.mlir", REVERSE.format(n=3, type=mlir))
    for values in ([-100, 7, 100], [-101, 7, 100]):
        np.save(tmp_path / "x.npy", np.int8(values))
        run = ["run", program, "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npy"]
        if values[0] == -100:
            octavo(*run)
            y = np.load(tmp_path / "y.npy")
            assert y.dtype == np.int8 and y.tolist() == values[::-1]
        else:
            assert_has(octavo(*run, code=3), "element [0] is -101", "from -100 to 100")
    np.save(tmp_path / "x.npy", np.float32(values))
    assert_has(octavo(*run, code=3), "wrong element type", "!quant.uniform")
