// Complex family: complex numbers from their parts and back, Fourier transforms.
#ifndef OCTAVO_DIALECT_STABLEHLO_COMPLEX_TD
#define OCTAVO_DIALECT_STABLEHLO_COMPLEX_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_ComplexOp : StableHLO_InferredOp<"complex", "C2, C3", [StableHLO_Elementwise]> {
  let arguments = (ins StableHLO_PartTensor:$lhs, StableHLO_PartTensor:$rhs);
  let results = (outs StableHLO_ComplexTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<ComplexTypes>(type($lhs), type($rhs), type($result))
  }];
}

class StableHLO_PartOp<string mnemonic> : StableHLO_InferredOp<mnemonic, "C1, C2", [StableHLO_Elementwise]> {
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}
def StableHLO_ImagOp : StableHLO_PartOp<"imag">;
def StableHLO_RealOp : StableHLO_PartOp<"real">;

// #stablehlo<fft_type RFFT>
def StableHLO_FftType : StableHLO_EnumAttr<"FftType", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>,
  I32EnumAttrCase<"IRFFT", 3>]>;
def StableHLO_FftTypeAttr : EnumAttr<StableHLO_Dialect, StableHLO_FftType, "fft_type">;

def StableHLO_FftOp : StableHLO_InferredOp<"fft", "C5"> {
  let arguments = (ins
    StableHLO_FloatOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type, DenseI64ArrayAttr:$fft_length);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<Enumeration>($fft_type) `,` `length` `=` $fft_length attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // OCTAVO_DIALECT_STABLEHLO_COMPLEX_TD
