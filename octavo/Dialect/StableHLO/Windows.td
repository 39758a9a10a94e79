// Windows family: convolutions, and reductions over sliding windows.
#ifndef OCTAVO_DIALECT_STABLEHLO_WINDOWS_TD
#define OCTAVO_DIALECT_STABLEHLO_WINDOWS_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [Pure]> {
  let arguments = (ins
    StableHLO_Tensor:$lhs,
    StableHLO_TensorOrPerAxis:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
    I64Attr:$feature_group_count,
    I64Attr:$batch_group_count,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config
  );
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation,
                                              $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ReduceWindowOp
    : StableHLO_Op<"reduce_window", [RecursiveMemoryEffects, SameVariadicOperandSize,
                                     SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$inputs,
    Variadic<StableHLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
    OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
    OptionalAttr<I64ElementsAttr>:$padding
  );
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_SelectAndScatterOp
    : StableHLO_Op<"select_and_scatter", [RecursiveMemoryEffects,
                                          SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    StableHLO_Tensor:$source,
    StableHLO_Scalar:$init_value,
    OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding
  );
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_BatchNormGradOp : StableHLO_BaselineInferredOp<"batch_norm_grad", "C2, C3, C4"> {
  let arguments = (ins
    StableHLO_FloatOrQuantizedTensor:$operand,
    StableHLO_FloatOrQuantizedTensor:$scale,
    StableHLO_FloatOrQuantizedTensor:$mean,
    StableHLO_FloatOrQuantizedTensor:$variance,
    StableHLO_FloatOrQuantizedTensor:$grad_output,
    F32Attr:$epsilon,
    I64Attr:$feature_index
  );
  let results = (outs
    StableHLO_FloatOrQuantizedTensor:$grad_operand,
    StableHLO_FloatOrQuantizedTensor:$grad_scale,
    StableHLO_FloatOrQuantizedTensor:$grad_offset
  );
}

def StableHLO_BatchNormInferenceOp : StableHLO_BaselineInferredOp<"batch_norm_inference", "C2, C7"> {
  let arguments = (ins
    StableHLO_FloatOrQuantizedTensor:$operand,
    StableHLO_FloatOrQuantizedTensor:$scale,
    StableHLO_FloatOrQuantizedTensor:$offset,
    StableHLO_FloatOrQuantizedTensor:$mean,
    StableHLO_FloatOrQuantizedTensor:$variance,
    F32Attr:$epsilon,
    I64Attr:$feature_index
  );
  let results = (outs StableHLO_FloatOrQuantizedTensor:$result);
}

def StableHLO_BatchNormTrainingOp : StableHLO_BaselineInferredOp<"batch_norm_training", "C2, C5, C6, C7"> {
  let arguments = (ins
    StableHLO_FloatOrQuantizedTensor:$operand,
    StableHLO_FloatOrQuantizedTensor:$scale,
    StableHLO_FloatOrQuantizedTensor:$offset,
    F32Attr:$epsilon,
    I64Attr:$feature_index
  );
  let results = (outs
    StableHLO_FloatOrQuantizedTensor:$output,
    StableHLO_FloatOrQuantizedTensor:$batch_mean,
    StableHLO_FloatOrQuantizedTensor:$batch_var
  );
}

#endif // OCTAVO_DIALECT_STABLEHLO_WINDOWS_TD
