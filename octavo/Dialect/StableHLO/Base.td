// The StableHLO dialect and its type constraints. Each family of operations has its own file.
#ifndef OCTAVO_DIALECT_STABLEHLO_BASE_TD
#define OCTAVO_DIALECT_STABLEHLO_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::octavo::stablehlo";
  let summary = "StableHLO, as its specification publishes it";
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser& parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter& printer) const override;

  private:
    void registerAttributes();
    void registerTypes();
    // One for each family of operations, defined in the family's file.
    void registerChannels();
    void registerCollectives();
    void registerComplex();
    void registerContraction();
    void registerControlFlow();
    void registerDataMovement();
    void registerDynamic();
    void registerElementwise();
    void registerIndexing();
    void registerLinearAlgebra();
    void registerQuantized();
    void registerRandom();
    void registerReduction();
    void registerSort();
    void registerWindows();
  }];
}

//===-- Element types -----------------------------------------------------------------------------===//

class StableHLO_ElementPredicate<string function>
    : CPred<"::octavo::stablehlo::" # function # "($_self)">;

def StableHLO_IsBoolean : StableHLO_ElementPredicate<"isBoolean">;
def StableHLO_IsInteger : StableHLO_ElementPredicate<"isInteger">;
def StableHLO_IsSignedInteger : StableHLO_ElementPredicate<"isSignedInteger">;
def StableHLO_IsFloat : StableHLO_ElementPredicate<"isFloat">;
def StableHLO_IsComplex : StableHLO_ElementPredicate<"isComplex">;
def StableHLO_IsPart : CPred<"($_self.isF32() || $_self.isF64())">;
def StableHLO_IsIndex : CPred<"$_self.isIndex()">;
def StableHLO_IsQuantized : StableHLO_ElementPredicate<"isQuantizedPerTensor">;
def StableHLO_IsQuantizedPerAxis : StableHLO_ElementPredicate<"isQuantizedPerAxis">;

//===-- Tensors -----------------------------------------------------------------------------------===//

// A ranked tensor. Extents may be unknown or bounded. The C++ type is RankedTensorType.
class StableHLO_TensorOf<list<Pred> predicates, string summary, string function = "isTensor">
    : Type<And<[CPred<"::octavo::stablehlo::" # function # "($_self)">,
                SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                            Or<predicates>>]>,
           "ranked tensor of " # summary, "::mlir::RankedTensorType">;

// The names give the element types. Quantized tensors have a single scale, unless the name has
// PerAxis.
def StableHLO_Tensor
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex,
                          StableHLO_IsQuantized],
                         "boolean, integer, float, complex or quantized type">;
def StableHLO_TensorOrPerAxis
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex,
                          StableHLO_IsQuantized, StableHLO_IsQuantizedPerAxis],
                         "boolean, integer, float, complex, quantized or per-axis quantized type">;
def StableHLO_PlainTensor
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex],
                         "boolean, integer, float or complex type">;
def StableHLO_NumberTensor
    : StableHLO_TensorOf<[StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex, StableHLO_IsQuantized],
                         "integer, float, complex or quantized type">;
def StableHLO_SignedNumberTensor
    : StableHLO_TensorOf<[StableHLO_IsSignedInteger, StableHLO_IsFloat, StableHLO_IsComplex,
                          StableHLO_IsQuantized],
                         "signed integer, float, complex or quantized type">;
def StableHLO_FloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_IsFloat, StableHLO_IsComplex], "float or complex type">;
def StableHLO_FloatComplexOrQuantizedTensor
    : StableHLO_TensorOf<[StableHLO_IsFloat, StableHLO_IsComplex, StableHLO_IsQuantized],
                         "float, complex or quantized type">;
def StableHLO_FloatTensor : StableHLO_TensorOf<[StableHLO_IsFloat], "float type">;
def StableHLO_FloatOrQuantizedTensor
    : StableHLO_TensorOf<[StableHLO_IsFloat, StableHLO_IsQuantized], "float or quantized type">;
def StableHLO_QuantizedTensor
    : StableHLO_TensorOf<[StableHLO_IsQuantized, StableHLO_IsQuantizedPerAxis],
                         "quantized or per-axis quantized type">;
def StableHLO_FloatOrAnyQuantizedTensor
    : StableHLO_TensorOf<[StableHLO_IsFloat, StableHLO_IsQuantized, StableHLO_IsQuantizedPerAxis],
                         "float, quantized or per-axis quantized type">;
def StableHLO_BooleanOrIntTensor
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger], "boolean or integer type">;
def StableHLO_IntTensor : StableHLO_TensorOf<[StableHLO_IsInteger], "integer type">;
def StableHLO_BooleanTensor : StableHLO_TensorOf<[StableHLO_IsBoolean], "boolean type">;

// Results whose extents cannot be inferred, and so must be known.
def StableHLO_StaticNumberTensor
    : StableHLO_TensorOf<[StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex, StableHLO_IsQuantized],
                         "integer, float, complex or quantized type and of known extents",
                         "isStaticTensor">;
def StableHLO_StaticIntOrFloatTensor
    : StableHLO_TensorOf<[StableHLO_IsInteger, StableHLO_IsFloat],
                         "integer or float type and of known extents", "isStaticTensor">;
def StableHLO_StaticTensorOrPerAxis
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex,
                          StableHLO_IsQuantized, StableHLO_IsQuantizedPerAxis],
                         "boolean, integer, float, complex or quantized type and of known extents",
                         "isStaticTensor">;

// Elements of complex parts or of random bits.
def StableHLO_IntOrFloatTensor
    : StableHLO_TensorOf<[StableHLO_IsInteger, StableHLO_IsFloat], "integer or float type">;
def StableHLO_BooleanIntOrFloatTensor
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat],
                         "boolean, integer or float type">;
def StableHLO_PartTensor : StableHLO_TensorOf<[StableHLO_IsPart], "f32 or f64">;
def StableHLO_ComplexTensor : StableHLO_TensorOf<[StableHLO_IsComplex], "complex type">;

// Shapes, sizes and paddings that are operands.
def StableHLO_ShapeTensor : StableHLO_TensorOf<[StableHLO_IsInteger, StableHLO_IsIndex],
                                               "integers or indices, a list of known length",
                                               "isShapeTensor">;

def StableHLO_Scalar
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex,
                          StableHLO_IsQuantized],
                         "boolean, integer, float, complex or quantized type and of rank 0",
                         "isScalarTensor">;
def StableHLO_BooleanScalar
    : StableHLO_TensorOf<[StableHLO_IsBoolean], "boolean type and of rank 0", "isScalarTensor">;
def StableHLO_IntScalar
    : StableHLO_TensorOf<[StableHLO_IsInteger], "integer type and of rank 0", "isScalarTensor">;
def StableHLO_I32Scalar : StableHLO_TensorOf<[CPred<"$_self.isSignlessInteger(32)">],
                                             "i32 and of rank 0", "isScalarTensor">;

def StableHLO_UI32Scalar : StableHLO_TensorOf<[CPred<"$_self.isUnsignedInteger(32)">],
                                              "ui32 and of rank 0", "isScalarTensor">;

def StableHLO_Tuple : Type<CPred<"::llvm::isa<::mlir::TupleType>($_self)">, "tuple", "::mlir::TupleType">;
def StableHLO_Token : Type<CPred<"::llvm::isa<::octavo::stablehlo::TokenType>($_self)">, "token">;

//===-- Attributes --------------------------------------------------------------------------------===//

// A list of axes or indices.
def StableHLO_Indices : OptionalArrayRefParameter<"int64_t">;

class StableHLO_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<StableHLO_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

class StableHLO_EnumAttr<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::octavo::stablehlo";
}


//===-- Operations --------------------------------------------------------------------------------===//

// Verifies scales and zero points of quantized tensors.
def StableHLO_FitQuantization : NativeOpTrait<"FitQuantization"> {
  let cppNamespace = "::octavo::stablehlo";
}
class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<StableHLO_Dialect, mnemonic, [StableHLO_FitQuantization] # traits>;

// Inferred and given types must be compatible, up to scales and zero points.
defvar StableHLO_CompatibleReturnTypes = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange given) {
      return ::llvm::equal(inferred, given, ::octavo::stablehlo::haveOneBaseline);
    }
  }];

// Each element of the result is computed only from the operands' elements at the same index.
def StableHLO_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::octavo::stablehlo";
}

// Operands and result have compatible types. `rule` is the number of the constraint in the
// specification.
def StableHLO_SameType : NativeOpTrait<"SameType"> {
  let cppNamespace = "::octavo::stablehlo";
}
class StableHLO_SameTypeOp<string mnemonic, string rule, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits # [Pure, InferTypeOpAdaptorWithIsCompatible, StableHLO_SameType]> {
  let extraClassDeclaration = "static constexpr ::llvm::StringLiteral kResultRule = \"" # rule # "\";";
  let extraClassDefinition = StableHLO_CompatibleReturnTypes # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext*, ::std::optional<::mlir::Location>,
                                                      Adaptor adaptor,
                                                      ::llvm::SmallVectorImpl<::mlir::Type>& types) {
      return ::octavo::stablehlo::inferSameType(adaptor.getOperands(), types);
    }
  }];
}

// The types of the results are inferred: inferReturnTypes verifies operands and attributes, and the
// given results must be compatible with the inferred types (constraint `rule`). A baseline result
// may have other scales and zero points.
def StableHLO_InfersResults : NativeOpTrait<"InfersResults"> {
  let cppNamespace = "::octavo::stablehlo";
}
class StableHLO_InferredOp<string mnemonic, string rule, list<Trait> traits = [],
                           bit isBaselineResult = false>
    : StableHLO_Op<mnemonic,
                   traits # [Pure, InferTypeOpAdaptorWithIsCompatible, StableHLO_InfersResults]> {
  let extraClassDeclaration = "static constexpr ::llvm::StringLiteral kResultRule = \"" # rule # "\";"
      # "static constexpr bool kIsBaselineResult = " # !if(isBaselineResult, "true", "false") # ";";
  let extraClassDefinition = StableHLO_CompatibleReturnTypes;
}
class StableHLO_BaselineInferredOp<string mnemonic, string rule, list<Trait> traits = []>
    : StableHLO_InferredOp<mnemonic, rule, traits, true>;

#endif // OCTAVO_DIALECT_STABLEHLO_BASE_TD
