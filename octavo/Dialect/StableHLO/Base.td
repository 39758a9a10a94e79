// The StableHLO dialect and its type constraints. Operations lie in one file a family.
#ifndef OCTAVO_DIALECT_STABLEHLO_BASE_TD
#define OCTAVO_DIALECT_STABLEHLO_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::octavo::stablehlo";
  let summary = "StableHLO, as its specification publishes it";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;

  private:
    void registerAttributes();
    void registerTypes();
    // One a family of operations, in the family's file.
    void registerContraction();
    void registerControlFlow();
    void registerDataMovement();
    void registerElementwise();
    void registerIndexing();
    void registerReduction();
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

//===-- Tensors -----------------------------------------------------------------------------------===//

// A ranked tensor whose extents are all known. C++ sees a RankedTensorType.
class StableHLO_TensorOf<list<Pred> predicates, string summary>
    : Type<And<[CPred<"::octavo::stablehlo::isStaticTensor($_self)">,
                SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                            Or<predicates>>]>,
           "statically shaped tensor of " # summary, "::mlir::RankedTensorType">;

def StableHLO_Tensor
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex],
                         "boolean, integer, float or complex type">;
def StableHLO_IntFloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_IsInteger, StableHLO_IsFloat, StableHLO_IsComplex],
                         "integer, float or complex type">;
def StableHLO_SignedIntFloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_IsSignedInteger, StableHLO_IsFloat, StableHLO_IsComplex],
                         "signed integer, float or complex type">;
def StableHLO_FloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_IsFloat, StableHLO_IsComplex], "float or complex type">;
def StableHLO_FloatTensor : StableHLO_TensorOf<[StableHLO_IsFloat], "float type">;
def StableHLO_BooleanOrIntTensor
    : StableHLO_TensorOf<[StableHLO_IsBoolean, StableHLO_IsInteger], "boolean or integer type">;
def StableHLO_IntTensor : StableHLO_TensorOf<[StableHLO_IsInteger], "integer type">;
def StableHLO_BooleanTensor : StableHLO_TensorOf<[StableHLO_IsBoolean], "boolean type">;

def StableHLO_Tuple : Type<CPred<"::llvm::isa<::mlir::TupleType>($_self)">, "tuple", "::mlir::TupleType">;
def StableHLO_Token : Type<CPred<"::llvm::isa<::octavo::stablehlo::TokenType>($_self)">, "token">;

//===-- Attributes --------------------------------------------------------------------------------===//

// A list of axes or indices.
def StableHLO_Indices : OptionalArrayRefParameter<"int64_t">;

class StableHLO_Attr<string name, string mnemonic_> : AttrDef<StableHLO_Dialect, name> {
  let mnemonic = mnemonic_;
}

class StableHLO_EnumAttr<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::octavo::stablehlo";
}


//===-- Operations --------------------------------------------------------------------------------===//

class StableHLO_Op<string mnemonic, list<Trait> traits = []> : Op<StableHLO_Dialect, mnemonic, traits>;

// Operands and result have one type; `rule` is the specification's constraint that says so.
def StableHLO_SameType : NativeOpTrait<"SameType"> {
  let cppNamespace = "::octavo::stablehlo";
}
class StableHLO_SameTypeOp<string mnemonic, string rule, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor, StableHLO_SameType]> {
  let extraClassDeclaration = "static constexpr ::llvm::StringLiteral kResultRule = \"" # rule # "\";";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext*, ::std::optional<::mlir::Location>,
                                                      Adaptor adaptor,
                                                      ::llvm::SmallVectorImpl<::mlir::Type>& types) {
      types.push_back(adaptor.getOperands().front().getType());
      return ::mlir::success();
    }
  }];
}

// The types of the results follow from operands and attributes: inferReturnTypes checks those, and
// the results that are given must be those inferred, which is what constraint `rule` says.
def StableHLO_InfersResults : NativeOpTrait<"InfersResults"> {
  let cppNamespace = "::octavo::stablehlo";
}
class StableHLO_InferredOp<string mnemonic, string rule, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor, StableHLO_InfersResults]> {
  let extraClassDeclaration = "static constexpr ::llvm::StringLiteral kResultRule = \"" # rule # "\";";
}

#endif // OCTAVO_DIALECT_STABLEHLO_BASE_TD
