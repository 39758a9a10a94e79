"""What the libraries that presets are named after make of a tensor, by their own code, as their exports
have it: the outer scale (or its inverse, or None), the scales (codes; f32 scales as values) and the
codes of the elements. `x` is a matrix of torch."""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import torch

NUMPY = {torch.float32: np.float32, torch.bfloat16: ml_dtypes.bfloat16, torch.float16: np.float16}


def bytes_of(tensor):
    return tensor.contiguous().view(torch.uint8).numpy()


def fp4_codes(packed):
    packed = bytes_of(packed)
    return np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)


def fp6_codes(packed):
    triples = bytes_of(packed).reshape(packed.shape[0], -1, 3).astype(np.uint32)
    word = triples[..., 0] | triples[..., 1] << 8 | triples[..., 2] << 16
    return np.stack([word >> shift & 63 for shift in (0, 6, 12, 18)], -1).reshape(packed.shape[0], -1).astype(np.uint8)


def compressed_tensors(x, format):
    import compressed_tensors.quantization as ct
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization.utils import (calculate_qparams, generate_gparam,
                                                       maybe_pad_tensor_for_block_quant)
    scheme, compressor = {
        "mxfp4": ("MXFP4A16", "mxfp4-pack-quantized"), "mxfp6_e2m3": ("MXFP6A16", "mxfp6-pack-quantized"),
        "mxfp8_e4m3": ("MXFP8A16", "mxfp8-quantized"), "nvfp4": ("NVFP4A16", "nvfp4-pack-quantized"),
        "fp8_tensor": ("FP8", "float-quantized"), "fp8_row": ("FP8_DYNAMIC", "float-quantized"),
        "fp8_block": ("FP8_BLOCK", "float-quantized"), "fp8_group": (None, "float-quantized")}[format]
    if scheme:
        scheme = ct.preset_name_to_scheme(scheme, ["Linear"])
        scheme.input_activations = None
    else:
        scheme = ct.QuantizationScheme(targets=["Linear"], weights=ct.QuantizationArgs(
            num_bits=8, type="float", strategy="group", group_size=128))
    arguments = scheme.weights
    if arguments.strategy == "block":
        height, width = arguments.block_structure
        padded = maybe_pad_tensor_for_block_quant(x, (height, width))
        groups = padded.reshape(padded.shape[0] // height, height, padded.shape[1] // width, width)
        groups = groups.transpose(1, 2).flatten(2)
    else:
        groups = x.reshape({"tensor": (1, 1, -1), "channel": (len(x), 1, -1)}.get(
            arguments.strategy, (len(x), -1, arguments.group_size or 1)))
    divisor = generate_gparam(x.amin(), x.amax()) if format == "nvfp4" else None
    scale, _ = calculate_qparams(groups.amin(-1), groups.amax(-1), arguments, global_scale=divisor)
    state = {"weight": x.clone(), "weight_scale": scale.to(x.dtype)}  # as its modules hold it
    if divisor is not None:
        state["weight_global_scale"] = divisor
    written = BaseCompressor.get_value_from_registry(compressor).compress(state, scheme)
    scale, codes = written["weight_scale"], written.get("weight_packed", written.get("weight"))
    if format.startswith("fp8"):
        assert scale.dtype == x.dtype
        return None, scale.float().numpy(), bytes_of(codes)
    unpack = {"mxfp8_e4m3": bytes_of, "mxfp6_e2m3": fp6_codes}.get(format, fp4_codes)
    return None if divisor is None else divisor.item(), bytes_of(scale), unpack(codes)


def modelopt(x, format):
    from modelopt.torch.export import quant_utils
    from modelopt.torch.quantization.config import QuantizerAttributeConfig
    from modelopt.torch.quantization.nn import TensorQuantizer
    from modelopt.torch.quantization.qtensor import MXFP4QTensor, MXFP8QTensor, NVFP4QTensor
    from modelopt.torch.quantization.utils import reduce_block_amax, reduce_block_padding
    if format == "nvfp4":
        tensor, scale, outer = NVFP4QTensor.quantize(x.clone(), 16)
        return outer.item(), bytes_of(scale), fp4_codes(tensor._quantized_data)
    if format == "mxfp4":
        tensor, scale = MXFP4QTensor.quantize(x, 32)
        return None, bytes_of(scale), fp4_codes(tensor._quantized_data)
    if format == "mxfp8_e4m3":
        tensor, scale = MXFP8QTensor.quantize(x)
        return None, bytes_of(scale), bytes_of(tensor._quantized_data)
    if format == "fp8_block":
        sizes = {-1: 128, -2: 128}
        quantizer = TensorQuantizer(QuantizerAttributeConfig(num_bits=(4, 3)))
        quantizer.amax = reduce_block_amax(reduce_block_padding(x, sizes), sizes)
        scale = quant_utils.get_scaling_factor(quantizer).squeeze()
        codes = quant_utils.to_quantized_weight(x, scale, quant_utils.QUANTIZATION_FP8_PB_WO, block_size=128)
        return None, scale.numpy(), bytes_of(codes)
    axis = 0 if format == "fp8_row" else None
    quantizer = TensorQuantizer(QuantizerAttributeConfig(num_bits=(4, 3), axis=axis))
    quantizer.enable_calib()
    quantizer.disable_quant()
    quantizer(x)
    quantizer.load_calib_amax()
    if format == "fp8_row":
        scale = quant_utils.get_scaling_factor(quantizer)
        kind = quant_utils.QUANTIZATION_FP8_PC_PT
    else:  # _export_quantized_weight of unified_export_hf.py
        scale = torch.tensor(quantizer.amax.to(torch.float32).item() / quantizer.maxbound)
        kind = quant_utils.QUANTIZATION_FP8
    return None, scale.numpy(), bytes_of(quant_utils.to_quantized_weight(x, scale, kind))


def quark(x, format, mode="even", group=32):
    import quark.torch.kernel
    from quark.torch.export.nn.modules.realquantizer import StaticScaledRealQuantizer
    from quark.torch.quantization.config import config
    from quark.torch.quantization.config.type import Dtype
    if format.startswith("mx"):
        kind = {"mxfp4": config.OCP_MXFP4Spec, "mxfp6_e2m3": config.OCP_MXFP6E2M3Spec,
                "mxfp6_e3m2": config.OCP_MXFP6E3M2Spec, "mxfp8_e4m3": config.OCP_MXFP8E4M3Spec,
                "mxfp8_e5m2": config.OCP_MXFP8E5M2Spec}[format]
        spec = kind(ch_axis=-1, is_dynamic=False, scale_calculation_mode=mode).to_quantization_spec()
        spec.group_size = group
    else:
        spec = (config.FP8E4M3PerChannelSpec(ch_axis=0) if format.endswith("row")
                else config.FP8E4M3PerTensorSpec()).to_quantization_spec()
        if "e5m2" in format:
            spec.dtype = Dtype.fp8_e5m2
    observer = spec.observer_cls(spec)
    observer(x)

    class Observed:
        scale = observer._calculate_qparams()[0]

    quantizer = StaticScaledRealQuantizer(spec, Observed, True, True, x.dtype, torch.device("cpu"))
    if format.startswith("mxfp8"):  # which it only emulates: its values over its scales
        values = quark.torch.kernel.scaled_fake_quantize(
            spec.dtype.value, x.float(), Observed.scale, torch.zeros_like(Observed.scale), -1, group,
            quantizer.quant_min, quantizer.quant_max, 8, "per_group", None)
        elements = values.reshape(*Observed.scale.shape, group) / Observed.scale.float()[..., None]
        codes = bytes_of(elements.reshape(x.shape).to(
            torch.float8_e5m2 if "e5m2" in format else torch.float8_e4m3fn))
    else:
        unpack = fp4_codes if format == "mxfp4" else fp6_codes if format.startswith("mxfp6") else bytes_of
        codes = unpack(quantizer.to_real_quantize_params(x))
    quantizer.maybe_convert_and_transpose_scale()
    if format.startswith("mx"):
        return None, quantizer.scale.numpy(), codes
    assert quantizer.scale.dtype == x.dtype
    return None, quantizer.scale.float().numpy(), codes


def torchao(x, format, mode, block=32):
    from torchao.prototype.mx_formats.constants import DTYPE_FP6_E2M3, DTYPE_FP6_E3M2
    from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
    if format == "nvfp4":
        outer = per_tensor_amax_to_scale(x.abs().max()) if mode == "two-level" else None
        scale, packed = nvfp4_quantize(x, 16, outer)
        return 1.0 if outer is None else outer.item(), bytes_of(scale), fp4_codes(packed)
    element = {"mxfp8_e4m3": torch.float8_e4m3fn, "mxfp8_e5m2": torch.float8_e5m2, "mxfp6_e2m3": DTYPE_FP6_E2M3,
               "mxfp6_e3m2": DTYPE_FP6_E3M2, "mxfp4": torch.float4_e2m1fn_x2}[format]
    scale, codes = to_mx(x, element, block, ScaleCalculationMode[mode.upper()])
    return None, bytes_of(scale), fp4_codes(codes) if format == "mxfp4" else bytes_of(codes)


def jax_nn(x, format, levels=2, jit=True):
    from jax._src.cudnn.scaled_matmul_stablehlo import quantize
    values = x.float().numpy().astype(NUMPY[x.dtype])
    if format == "nvfp4":
        outer = np.float32(np.abs(x.float().numpy()).max()) / np.float32(2688) if levels == 2 else np.float32(1)
        config = jax.nn.get_scaled_dot_general_config("nvfp4", jnp.asarray([outer]))
    else:
        outer, config = None, jax.nn.get_scaled_dot_general_config("mxfp8")

    def run(values):
        return quantize(values, config)

    codes, scale = (jax.jit(run) if jit else run)(jnp.asarray(values))
    return outer, np.asarray(scale).view(np.uint8), np.asarray(codes).view(np.uint8)


def torch_cast(x, format):
    element, largest = {"mxfp8_e4m3": (torch.float8_e4m3fn, 448), "mxfp8_e5m2": (torch.float8_e5m2, 57344)}[format]
    blocks = x.float().reshape(len(x), -1, 32)
    scale = (blocks.abs().amax(-1) / largest).to(torch.float8_e8m0fnu)
    codes = (blocks / scale.float()[..., None]).clamp(-largest, largest).to(element)
    return None, bytes_of(scale), bytes_of(codes).reshape(x.shape)
