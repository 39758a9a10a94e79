"""Writes program.onnx, what torch.onnx exports of a program; kind "int8" has its products quantized dynamically:
weights of signed 8 bits, a scale a column, activations of unsigned 8 bits."""
import torch

from peers import torch_compile


def export(program, kind, folder):
    inputs = tuple(torch_compile.tensor(a) for a in program.inputs.values())
    with torch.no_grad():
        torch.onnx.export(torch_compile.Module(program).eval(), inputs, folder / "program.onnx", dynamo=True,
                          external_data=True, verbose=False)
    if kind == "int8":
        from onnxruntime.quantization import QuantType, quantize_dynamic
        from onnxruntime.quantization.shape_inference import quant_pre_process

        quant_pre_process(folder / "program.onnx", folder / "prepared.onnx", skip_symbolic_shape=True,
                          save_as_external_data=True)
        quantize_dynamic(folder / "prepared.onnx", folder / "program.onnx", op_types_to_quantize=["MatMul", "Gemm"],
                         per_channel=True, weight_type=QuantType.QInt8, use_external_data_format=True)
