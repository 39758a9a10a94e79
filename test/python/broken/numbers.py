"""Scales that are missing, extra, of the wrong kind or value; codes that should not be there."""
import ml_dtypes
import numpy as np

import checkpoints as cp
from broken.cases import breaks
from checkpoints import L1, UP

# Scales that are missing, extra, of the wrong kind.

@breaks(cp.autofp8, "missing-scale", UP)
def scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_scale"]


@breaks(cp.deepseek, "missing-scale", UP)
def block_scales_are_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_scale_inv"]


@breaks(cp.compressed_nvfp4, "missing-scale", UP)
def nvfp4_scales_are_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_scale"]


@breaks(cp.compressed_nvfp4, "missing-outer-scale", UP)
def global_scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_global_scale"]


@breaks(cp.autofp8, "missing-input-scale", UP)
def input_scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".input_scale"]


@breaks(cp.autofp8, "orphan-scale", UP)
def weight_of_a_scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight"]


@breaks(cp.deepseek, "configuration-mismatch", UP, "fp8_block")
def block_scales_are_too_few(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = np.full((1, 1), 1e-3, np.float32)


@breaks(cp.deepseek, "scale-shape", UP, "[3, 2]")
def block_scales_are_too_many(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = np.full((3, 2), 1e-3, np.float32)


@breaks(cp.compressed_fp8, "scale-shape", UP)
def row_scales_are_empty(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.zeros((0, 1), cp.BF16)


@breaks(cp.compressed_fp8, "scale-shape", UP)
def row_scales_are_too_few(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"][:100]


@breaks(cp.compressed_fp8, "scale-shape", UP, "[128, 1]", "BF16 [1, 128]", "another axis")
def row_scales_lie_across(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"].reshape(1, -1)


@breaks(cp.deepseek, "scale-shape", UP, "F32 [1, 2]", "another axis")
def block_scales_are_transposed(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = checkpoint.tensors[UP + ".weight_scale_inv"].reshape(1, 2)


@breaks(lambda: cp.autofp8(kv=False), "unscaled-codes", UP + ".bias", "F8_E4M3 [128]")
def a_bias_is_cast_to_fp8(checkpoint):
    checkpoint.tensors[UP + ".bias"] = np.ones(128, cp.E4M3)


@breaks(cp.autofp8, "scale-dtype", UP, "I32")
def scale_is_an_integer(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.array(1, np.int32)


@breaks(cp.compressed_nvfp4, "scale-dtype", UP)
def nvfp4_scales_are_signed_bytes(checkpoint):
    name = UP + ".weight_scale"
    checkpoint.tensors[name] = checkpoint.tensors[name].view(np.int8)


@breaks(cp.compressed_mxfp8, "scale-dtype", UP)
def mx_scales_are_integers(checkpoint):
    name = UP + ".weight_scale"
    checkpoint.tensors[name] = checkpoint.tensors[name].astype(np.int32)


# Scales of a wrong value.

def set_scale(checkpoint, name, value):
    old = checkpoint.tensors[name]
    scale = old.copy().reshape(-1)
    scale[-1] = np.array(value).astype(old.dtype)
    checkpoint.tensors[name] = scale.reshape(old.shape)


VALUES = {"zero-scale": (0.0, "0"), "nan-scale": (np.nan, "NaN"), "inf-scale": (np.inf, "infinite"),
          "negative-scale": (-0.01, "negative"), "subnormal-scale": (1e-40, "subnormal")}
BASES = {"autofp8": (cp.autofp8, UP + ".weight_scale"),
         "deepseek": (cp.deepseek, UP + ".weight_scale_inv"),
         "rows": (cp.compressed_fp8, UP + ".weight_scale"),
         "outer": (cp.compressed_nvfp4, UP + ".weight_global_scale"),
         "input": (cp.autofp8, UP + ".input_scale"),
         "cache": (cp.autofp8, L1 + "self_attn.v_scale")}
for base, (make_base, scale_name) in BASES.items():
    for rule, (value, word) in VALUES.items():
        def change(checkpoint, name=scale_name, value=value):
            set_scale(checkpoint, name, value)
        change.__name__ = f"{base}_{rule}"
        breaks(make_base, rule, scale_name, word)(change)


@breaks(cp.compressed_nvfp4, "nan-scale", UP, "1 of 512", "[127, 3]")
def nvfp4_block_scale_is_nan(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale", np.nan)


@breaks(cp.compressed_nvfp4, "zero-scale", UP, "1 of these blocks holds codes that are not 0")
def nvfp4_block_scale_is_zero(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale", 0.0)


@breaks(cp.compressed_nvfp4, "zero-scale-of-zeros", UP, "over blocks of zeros")
def nvfp4_zero_scale_of_a_block_of_zeros(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale", 0.0)
    codes = checkpoint.tensors[UP + ".weight_packed"].copy()
    codes[-1, -8:] = 0
    checkpoint.tensors[UP + ".weight_packed"] = codes


@breaks(cp.compressed_mxfp8, "nan-scale", UP)
def mx_scale_is_nan(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"] | 0xFF


@breaks(cp.autofp8, "inverted-scale", UP, "divided by")
def scale_is_the_reciprocal(checkpoint):
    for name in [n for n in checkpoint.tensors if n.endswith("weight_scale")]:
        checkpoint.tensors[name] = 1 / checkpoint.tensors[name]


@breaks(cp.deepseek, "inverted-scale", UP + ".weight_scale_inv", "multiplied by", "divided by")
def scale_inv_divides(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = 1 / checkpoint.tensors[UP + ".weight_scale_inv"]


@breaks(cp.compressed_nvfp4, "inverted-scale", UP + ".weight_global_scale", "divided by")
def global_scale_multiplies(checkpoint):
    name = UP + ".weight_global_scale"
    checkpoint.tensors[name] = 1 / checkpoint.tensors[name]


@breaks(cp.autofp8, "implausible-scale", UP, "whichever way")
def scale_is_the_default(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(1).reshape(())


@breaks(cp.autofp8, "implausible-scale", UP)
def scale_is_tiny(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(1e-20).reshape(())


@breaks(cp.modelopt_nvfp4, "input-scale-implausible", UP + ".input_scale", "multiplied by", "1.344e+06")
def input_scale_is_the_reciprocal(checkpoint):
    """500 for 0.002: inputs of up to 500 * 6 * 448."""
    checkpoint.tensors[UP + ".input_scale"] = np.float32(500).reshape(())


@breaks(cp.autofp8, "input-scale-implausible", UP + ".input_scale", "4.48e-18")
def input_scale_is_tiny(checkpoint):
    checkpoint.tensors[UP + ".input_scale"] = np.float32(1e-20).reshape(())


# Codes.

def set_codes(checkpoint, name, codes):
    checkpoint.tensors[name] = np.asarray(codes, np.uint8).view(cp.E4M3)


@breaks(cp.autofp8, "nan-code", UP + ".weight", "1 of 8192 codes is NaN")
def a_code_is_nan(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[5, 5] = 0xFF
    set_codes(checkpoint, UP + ".weight", codes)


@breaks(cp.autofp8, "inf-code", UP + ".weight", "1 of 8192 codes is infinite (e5m2)")
def a_code_is_infinite(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].astype(np.float32).astype(ml_dtypes.float8_e5m2)
    codes[5, 5] = np.inf
    checkpoint.tensors[UP + ".weight"] = codes


@breaks(cp.autofp8, "negative-zero", UP + ".weight", "2 of 8192")
def codes_are_negative_zero(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[codes == 0x80] = 0
    codes[3, :2] = 0x80
    set_codes(checkpoint, UP + ".weight", codes)


@breaks(cp.autofp8, "zero-weight", UP + ".weight", "8192")
def codes_are_all_zero(checkpoint):
    set_codes(checkpoint, UP + ".weight", np.zeros((128, 64)))


@breaks(cp.autofp8, "clipped-range", UP + ".weight", "448", "%")
def codes_are_clipped(checkpoint):
    wide = checkpoint.tensors[UP + ".weight"].astype(np.float32) * 4
    checkpoint.tensors[UP + ".weight"] = np.clip(wide, -448, 448).astype(cp.E4M3)


@breaks(cp.autofp8, "wasted-range", UP + ".weight", "448")
def codes_use_a_part_of_the_range(checkpoint):
    narrow = checkpoint.tensors[UP + ".weight"].astype(np.float32) / 64
    checkpoint.tensors[UP + ".weight"] = narrow.astype(cp.E4M3)


@breaks(cp.compressed_nvfp4, "wasted-range", UP, "6")
def nvfp4_codes_use_a_part_of_the_range(checkpoint):
    name = UP + ".weight_packed"
    checkpoint.tensors[name] = checkpoint.tensors[name] & 0x99  # 0 and 0.5


# Finite codes under finite scales, of a product beyond f32.

@breaks(cp.compressed_mxfp8, "infinite-value", "beyond f32", "the first at [3, ", "e+40")
def a_row_is_beyond_f32(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"].copy()
    checkpoint.tensors[UP + ".weight_scale"][3] = 254
