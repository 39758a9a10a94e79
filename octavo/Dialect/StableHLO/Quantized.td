// Quantized family: conversions between numbers and quantized integers.
#ifndef OCTAVO_DIALECT_STABLEHLO_QUANTIZED_TD
#define OCTAVO_DIALECT_STABLEHLO_QUANTIZED_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_UniformDequantizeOp : StableHLO_InferredOp<"uniform_dequantize", "C1, C2"> {
  let arguments = (ins StableHLO_QuantizedTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

def StableHLO_UniformQuantizeOp : StableHLO_Op<"uniform_quantize", [Pure]> {
  let arguments = (ins StableHLO_FloatOrAnyQuantizedTensor:$operand);
  let results = (outs StableHLO_QuantizedTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_QUANTIZED_TD
