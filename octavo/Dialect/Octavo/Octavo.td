// The octavo dialect: scaled tensors (narrow elements and their scales as one value), and the
// operations that make, take apart and multiply them.
#ifndef OCTAVO_DIALECT_OCTAVO_OCTAVO
#define OCTAVO_DIALECT_OCTAVO_OCTAVO

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Octavo_Dialect : Dialect {
  let name = "octavo";
  let cppNamespace = "::octavo::ir";
  let summary = "Scaled tensors";
  let description = [{
    A scaled tensor is elements on a grid of scales: `value[i] = element[i] * scale[i / block]`,
    times one outer scale where there is one. Here it is one value of one type, so that no pass has
    to find out again which scales belong to which elements, and the layout of both stays open.

    Attributes of function arguments and results:

    - `octavo.name = "encoder.layer.0.query.weight"`: the name that a checkpoint or a command line
      gives the argument.
    - `octavo.parameter`: the argument is a weight, the same at every call.
    - `octavo.quantize = #octavo.quantization<preset = "ocp">`: on an argument of a scaled type, how
      the wide tensor that is bound to it is quantized, once, when it is bound.
    - `octavo.exponents = {axis = 0 : i64, exponents = array<i8: 0, 3, -1>}`: beside it, the powers of
      two that the values along an axis are multiplied by first (S19).
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the attributes of arguments and results.
    static constexpr ::llvm::StringLiteral kName = "octavo.name";
    static constexpr ::llvm::StringLiteral kParameter = "octavo.parameter";
    static constexpr ::llvm::StringLiteral kQuantize = "octavo.quantize";
  }];
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

def Octavo_FormatParameter
    : AttrOrTypeParameter<"const ::octavo::format::ElementFormat *", "a row of the format table">;

def Octavo_Scaled : TypeDef<Octavo_Dialect, "Scaled"> {
  let mnemonic = "scaled";
  let summary = "A tensor of narrow elements with its scales";
  let description = [{
    The shape and the element format, the scale format, the block shape, and `outer f32` where one
    f32 multiplies the whole tensor. At most 2^56 elements; extents may be unknown.

    ```mlir
    !octavo.scaled<256x384xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>             // MXFP8
    !octavo.scaled<256x384xi8, scale f8E8M0FNU, block [1, 32]>                   // MXINT8
    !octavo.scaled<256x384xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>   // NVFP4
    !octavo.scaled<256x384xf8E4M3FN, scale f32, block [128, 128]>                // blocks of 128
    !octavo.scaled<256x384xf8E4M3FN, scale f32, block [256, 384]>                // per tensor
    !octavo.scaled<?x384xf8E4M3FN, scale f32, block [?, 384]>                    // of unknown rows
    ```

    - Element: a format of at most 8 bits that has a zero, spelled as its MLIR type, or with
      octavo's name where it has none. `i8` is INT8 of the MX standard: units of 2^-6.
    - Scale: E8M0, a narrow float with NaN, or f32, f16, bf16. Below an outer scale, a narrow one.
    - Block: one extent an axis, at least 1 and at most the axis (1 for an axis of extent 0). The
      last block of an axis may be short: 100 elements in blocks of 32 have 4 scales, the last for
      4 elements. On an axis of unknown extent `?` is a block that spans it, and any other block is
      cut down to the axis where that is shorter.

    The scales form a tensor of shape `ceil(shape / block)`.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    Octavo_FormatParameter:$element,
    Octavo_FormatParameter:$scale,
    ArrayRefParameter<"int64_t">:$block,
    "bool":$hasOuterScale
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let cppClassName = "ScaledType";
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                     "const ::octavo::numerics::ScaledType &":$kind)>
  ];
  let extraClassDeclaration = [{
    /// The most elements that a type may have. Their bits and those of the scales then fit 64 bits.
    static constexpr int64_t kMostElements = int64_t{1} << 56;

    /// The block of a format on a tensor of which dots contract the axis `contracted`; `?` if the
    /// block spans an axis of unknown extent.
    static ::llvm::SmallVector<int64_t> blockOf(const ::octavo::format::ScaledFormat &format,
                                                ::llvm::ArrayRef<int64_t> shape,
                                                int64_t contracted);

    /// The type with the shape `shape` and otherwise as this type; blocks that span an axis follow
    /// its extent. The shape must fit the blocks.
    ScaledType withShape(::llvm::ArrayRef<int64_t> shape) const;

    bool hasStaticShape() const;
    int64_t getRank() const { return static_cast<int64_t>(getShape().size()); }
    /// The shape must be static, as for getStoredBits.
    int64_t getNumElements() const;

    /// The shape of the grid of scales.
    ::llvm::SmallVector<int64_t> getScaleShape() const;

    /// The type without its shape, as octavo/Numerics takes it.
    ::octavo::numerics::ScaledType getKind() const;

    /// The types of the tensors that unpack gives. A format without an MLIR type gives codes in
    /// ui8.
    ::mlir::RankedTensorType getElementsType() const;
    ::mlir::RankedTensorType getScalesType() const;
    ::mlir::RankedTensorType getOuterType() const;
    /// The types of the tensors that exist, in this order.
    ::llvm::SmallVector<::mlir::Type> getPartTypes() const;

    /// The bits of all elements and scales with packed codes.
    int64_t getStoredBits() const;
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Octavo_Choice<string type, string what> : AttrOrTypeParameter<type, what>;

def Octavo_Quantization : AttrDef<Octavo_Dialect, "Quantization"> {
  let mnemonic = "quantization";
  let summary = "How a tensor is quantized";
  let description = [{
    `#octavo.quantization<preset = "torchao-rceil">`: the settings of a preset for the format of the
    scaled tensor (docs/scale-rules.md), which makes the bytes of the library that it is named for.

    `#octavo.quantization<rule = floor, rounding = ties-to-even, ...>`: the settings one by one. The
    rule is always written; a setting that has its default is not. docs/semantics.md S3 to S16 say
    what each does.

    - `rule`: how a scale is chosen from the amax of its block: `floor` (OCP MX 6.3), `ceil`,
      `even`, `round-up`, `nearest`. Scales that are not E8M0 have `nearest` only: amax divided by
      the largest element, rounded to the scale format.
    - `rounding` of the elements, default `ties-to-even`: `ties-to-even`, `ties-to-away`,
      `ties-toward-zero`, `toward-zero`, `toward-positive`, `toward-negative`, `stochastic` (takes
      random bits).
    - `overflow` of elements beyond the largest under their scale, default `saturate`: `saturate`,
      `special` (Inf where the format has one, else NaN, else the largest).
    - `non_finite`, what NaN and Inf in the input do, default `error`: `error` (the quantization is
      refused, naming the first), `propagate` (the block becomes NaN), `saturate` (Inf becomes the
      largest value; NaN propagates), `skip-nan` (as `saturate`, but a NaN does not count for its
      block's scale).
    - `int8`, default `symmetric`: `symmetric` (-127..127), `full` (-128..127).
    - Scales where no rule gives one (S12), values of the scale format: `zero_block`, `nan_block`,
      `inf_block`, `past_range`, `underflow`; `least_scale` is the least of the rule;
      `input_epsilon` stands for the first and the last but one.
    - `even_bits`, `least_amax`, `scale_values` (`all`, `powers-of-two`): S13.
    - `amax` stands for that of the tensor (S18): a static scale.
    - `exponent`, where that of a power of two is read: `bits`, `log2`.
    - `ratio_in_input_type`, `outer_in_input_type`, `quotient_in_input_type`: arithmetic rounded to
      the type of the input, which is the operand's.
    - `ratio`, the arithmetic from amax to the scale (S14): `standard`, `quotient`,
      `joint-quotient`, `outer-first`, `inverse-last`, `inverse-first`, `inverted`.
    - `outer`, how the outer scale is formed (S15): `quotient`, `inverse`, `inverse-of-reciprocal`, `one`.
    - `quotient`, the arithmetic from value to element (S16): `divided`, `divided-by-quotient`,
      `successive`, `times-inverse`, `times-quotient`, `times-inverted`; `zero_sign` of a quotient
      of 0: `kept`, `positive`, `negative`, `positive-rounded`.
  }];
  let parameters = (ins
    StringRefParameter<"name of a preset, or empty">:$preset,
    AttrParameter<"::octavo::ir::QuantizationSettings", "used where there is no preset">:$settings
  );
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "const ::octavo::numerics::QuantizeOptions &":$options)>,
                  AttrBuilder<(ins "::llvm::StringRef":$preset)>];
  let extraClassDeclaration = [{
    /// The settings for quantizing values of format `input` to that type, which verifyFor must
    /// accept.
    ::octavo::numerics::QuantizeOptions getOptions(ScaledType type,
                                                   const ::octavo::format::ElementFormat &input) const;

    /// Verifies that a tensor can be quantized to `type` with these settings.
    ::mlir::LogicalResult
    verifyFor(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
              ScaledType type) const;
  }];
}

def Octavo_Conversion : AttrDef<Octavo_Dialect, "Conversion"> {
  let mnemonic = "conversion";
  let summary = "How values are converted to an element format";
  let description = [{
    `#octavo.conversion<rounding = toward-zero, overflow = saturate>`; what has its default is not
    written.

    - `rounding`, default `ties-to-even`: as in `#octavo.quantization`.
    - `overflow`, default `special`: `special` (Inf where the format has one, else NaN, else the
      largest value), `saturate` (the largest value; Inf too).
    - `nan`, what NaN becomes in a format without NaN, default `negative-zero`: `negative-zero` (the
      code of -0 for a positive NaN, of +0 for a negative one), `maximum` (the largest value).
  }];
  let parameters = (ins
    Octavo_Choice<"::octavo::numerics::Rounding", "rounding">:$rounding,
    Octavo_Choice<"::octavo::numerics::Overflow", "overflow">:$overflow,
    Octavo_Choice<"::octavo::numerics::NanCode", "NaN in a format without NaN">:$nan
  );
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "const ::octavo::numerics::Conversion &":$conversion)>];
  let extraClassDeclaration = [{
    ::octavo::numerics::Conversion getConversion() const;
  }];
}

def Octavo_DotDimensionNumbers
    : Attr<CPred<"::llvm::isa<::octavo::stablehlo::DotDimensionNumbersAttr>($_self)">,
           "dot dimension numbers of StableHLO"> {
  let storageType = "::octavo::stablehlo::DotDimensionNumbersAttr";
  let returnType = "::octavo::stablehlo::DotDimensionNumbersAttr";
  let convertFromStorage = "$_self";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Octavo_Op<string mnemonic, list<Trait> traits = []> : Op<Octavo_Dialect, mnemonic, traits>;

def Octavo_QuantizedFloat : RankedTensorOf<[F32, BF16, F16]>;
def Octavo_RandomBits : RankedTensorOf<[UI32]>;
def Octavo_TensorOrScaled
    : Type<Or<[AnyRankedTensor.predicate, Octavo_Scaled.predicate]>, "tensor or scaled tensor",
           "::mlir::Type">;

def Octavo_QuantizeOp : Octavo_Op<"quantize", [Pure]> {
  let summary = "A tensor quantized to elements and scales";
  let description = [{
    For each block of the result's type: a scale from the block's amax by the rule, then each
    element divided by it and rounded once. With an outer scale, that is chosen first, from the amax
    of the tensor. docs/semantics.md has every corner: zero blocks, subnormal amax, NaN, Inf.

    What `#octavo.quantization` holds follows the operand: a preset, or a rule and other settings.

    ```mlir
    %w = octavo.quantize %x, rule = floor
        : tensor<256x384xf32> -> !octavo.scaled<256x384xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
    %v = octavo.quantize %x random(%bits : tensor<4x64xui32>), rule = even, rounding = stochastic
        : tensor<4x64xf32> -> !octavo.scaled<4x64xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>
    %t = octavo.quantize %x, preset = "torchao-rceil"
        : tensor<4x64xf32> -> !octavo.scaled<4x64xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>
    ```

    Constraints:
    - (Q1) the shape of the result is the operand's, as far as both are known.
    - (Q2) a scale format other than E8M0 has the rule `nearest`, unless its scales are limited to
      powers of two. Under the rounding `stochastic`, scales of at most 8 bits may have the rule
      `round-up`: they are rounded up, so that no element saturates.
    - (Q3) random bits, of the operand's shape, are there exactly if the rounding is `stochastic`.
    - (Q4) the preset has settings for a scaled format of the result's type.
    - (Q5) the preset's owner does not refuse a short last block where the result has one, or may have one.
    - (Q6) only scales of f32 can be limited to powers of two.
    - (Q7) given scales are values of the scale format, or NaN.
    - (Q8) an amax is given only where one scale is of the whole tensor: an outer one, or that of the
      only block.
  }];
  let arguments = (ins Octavo_QuantizedFloat:$operand, Optional<Octavo_RandomBits>:$random_bits,
                       Octavo_Quantization:$quantization);
  let results = (outs Octavo_Scaled:$result);
  let assemblyFormat = [{
    $operand (`random` `(` $random_bits^ `:` type($random_bits) `)`)?
    `` custom<Quantization>($quantization) attr-dict
    `:` type($operand) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Octavo_DequantizeOp : Octavo_Op<"dequantize", [Pure]> {
  let summary = "The values of a scaled tensor, in f32";
  let description = [{
    `element * scale * outer`, rounded once to f32. A NaN scale makes its block NaN.

    ```mlir
    %x = octavo.dequantize %w
        : !octavo.scaled<256x384xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> -> tensor<256x384xf32>
    ```

    Constraints:
    - (D1) the shape of the result is the operand's.
  }];
  let arguments = (ins Octavo_Scaled:$operand);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($operand)) `->` type($result)";
  let hasVerifier = 1;
}

def Octavo_PackOp : Octavo_Op<"pack", [Pure]> {
  let summary = "A scaled tensor from its elements and scales";
  let description = [{
    The codes are taken as they are. Elements of INT8 are a tensor of i8, those of a format that MLIR
    has no type of (CFloat8) a tensor of codes in ui8.

    ```mlir
    %w = octavo.pack %elements, %scales : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
        -> !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
    %v = octavo.pack %elements, %scales, %outer
        : (tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, tensor<f32>)
        -> !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
    ```

    Constraints:
    - (P1) elements have the shape and the element format of the result.
    - (P2) scales have the shape `ceil(shape / block)` and the scale format of the result.
    - (P3) an outer scale, a `tensor<f32>`, is there exactly if the result has one.
  }];
  let arguments = (ins AnyRankedTensor:$elements, AnyRankedTensor:$scales,
                       Optional<0DTensorOf<[F32]>>:$outer);
  let results = (outs Octavo_Scaled:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Octavo_UnpackOp : Octavo_Op<"unpack", [Pure]> {
  let summary = "The elements and scales of a scaled tensor";
  let description = [{
    The inverse of `octavo.pack`; its constraints hold with results in the place of operands.

    ```mlir
    %elements, %scales = octavo.unpack %w
        : (!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)
        -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
    ```
  }];
  let arguments = (ins Octavo_Scaled:$operand);
  let results = (outs AnyRankedTensor:$elements, AnyRankedTensor:$scales,
                      Optional<0DTensorOf<[F32]>>:$outer);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$scaled), [{
      build($_builder, $_state, ::llvm::cast<ScaledType>(scaled.getType()).getPartTypes(), scaled);
    }]>
  ];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Octavo_DotGeneralOp : Octavo_Op<"dot_general", [Pure]> {
  let summary = "The product of two tensors of which at least one is scaled";
  let description = [{
    The dimension numbers are those of `stablehlo.dot_general`; the result has the batch axes, the
    free axes of the left side, the free axes of the right side.

    - Both sides scaled: the general dot of OCP MX 6.2. The contracted index is cut where the block
      of either side changes; each piece is the exact sum of products of elements times both
      scales, rounded to the accumulation type, f32; pieces are added in it in order, and multiplied
      by the outer scales at the end.
    - One side a plain tensor of f32, bf16 or f16: the scaled side is dequantized and the product is
      that of two f32 tensors.

    The result is rounded once from the accumulation type to its own: f32, bf16 or f16.

    ```mlir
    %y = octavo.dot_general %x, %w, contracting_dims = [1] x [1]
        : (tensor<8x384xf32>, !octavo.scaled<256x384xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>)
        -> tensor<8x256xf32>
    %z = octavo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1],
        accumulation = f32
        : (!octavo.scaled<2x4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>,
           !octavo.scaled<2x64x8xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>) -> tensor<2x4x8xbf16>
    ```

    Constraints:
    - (G1) at least one side is scaled; a plain side is of f32, bf16 or f16.
    - (G2) the dimension numbers are those of a dot: as many of each kind on both sides, each axis
      in range and named once, and paired axes of equal extent.
    - (G3) the result's shape follows from them.
    - (G4) the accumulation type is f32, which need not be written.
  }];
  let arguments = (ins Octavo_TensorOrScaled:$lhs, Octavo_TensorOrScaled:$rhs,
                       Octavo_DotDimensionNumbers:$dot_dimension_numbers,
                       OptionalAttr<TypeAttr>:$accumulation);
  let results = (outs RankedTensorOf<[F32, BF16, F16]>:$result);
  let extraClassDeclaration = [{
    /// The result's type, inferred from the operands and the dimension numbers.
    ::mlir::RankedTensorType inferredResult();
  }];
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<ScaledDot>($dot_dimension_numbers, $accumulation) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Octavo_ConvertOp : Octavo_Op<"convert", [Pure]> {
  let summary = "Values converted to another element format, with the rounding and overflow named";
  let description = [{
    Each value is rounded once to the result's element format. What `#octavo.conversion` has may
    follow the operand; with all defaults this is `stablehlo.convert`.

    ```mlir
    %y = octavo.convert %x, overflow = saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
    %z = octavo.convert %x random(%bits : tensor<4xui32>), rounding = stochastic
        : tensor<4xf32> -> tensor<4xbf16>
    ```

    Constraints:
    - (C1) operand and result have one shape.
    - (C2) random bits, of that shape, are there exactly if the rounding is `stochastic`.
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat]>:$operand, Optional<Octavo_RandomBits>:$random_bits,
                       Octavo_Conversion:$conversion);
  let results = (outs RankedTensorOf<[AnyFloat]>:$result);
  let assemblyFormat = [{
    $operand (`random` `(` $random_bits^ `:` type($random_bits) `)`)?
    `` custom<Conversion>($conversion) attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Octavo_FusedDotOp
    : Octavo_Op<"fused_dot", [IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "A product of scaled tensors and what follows it, as one operation";
  let description = [{
    The body is evaluated on the inputs as if it stood in the operation's place: a product, and on
    its result the epilogue (scales, bias, activation, conversion, amax). What the body yields are
    the results.

    ```mlir
    %y, %amax = octavo.fused_dot %x, %w, %b
        : (!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>,
           !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, tensor<4x8xf32>)
        -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    ^bb0(%lhs: !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>,
         %rhs: !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>,
         %bias: tensor<4x8xf32>):
      %product = octavo.dot_general %lhs, %rhs, contracting_dims = [1] x [1] : ...
      %sum = stablehlo.add %product, %bias : tensor<4x8xf32>
      %abs = stablehlo.abs %sum : tensor<4x8xf32>
      octavo.yield %sum, %abs : tensor<4x8xf32>, tensor<4x8xf32>
    }
    ```

    Constraints:
    - (U1) the body takes the inputs.
    - (U2) the body ends with `octavo.yield` of the results.
    - (U3) the body has one product: an `octavo.dot_general`, or a `stablehlo.dot_general` whose
      sides are of narrow floats.
    - (U4) no operation of the body has side effects.
  }];
  let arguments = (ins Variadic<Octavo_TensorOrScaled>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $results) $body";
  let hasRegionVerifier = 1;
}

def Octavo_YieldOp : Octavo_Op<"yield", [Pure, Terminator, HasParent<"FusedDotOp">]> {
  let summary = "What the body of an octavo.fused_dot gives";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // OCTAVO_DIALECT_OCTAVO_OCTAVO
