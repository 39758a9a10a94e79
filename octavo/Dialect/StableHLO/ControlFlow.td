// Control flow family: calls, branches, loops, tuples, and tokens that order operations.
#ifndef OCTAVO_DIALECT_STABLEHLO_CONTROLFLOW_TD
#define OCTAVO_DIALECT_STABLEHLO_CONTROLFLOW_TD

include "octavo/Dialect/StableHLO/Attributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def StableHLO_OutputOperandAliasAttr : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "a result of a custom call that shares the memory of an operand";
  let parameters = (ins
    StableHLO_Indices:$outputTupleIndices,
    "int64_t":$operandIndex,
    StableHLO_Indices:$operandTupleIndices
  );
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_CustomCallApiVersion : I32EnumAttr<"CustomCallApiVersion", "", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>,
  I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::octavo::stablehlo";
}

def StableHLO_CallValue : AnyTypeOf<[StableHLO_TensorOrPerAxis, StableHLO_Token, StableHLO_Tuple]>;
def StableHLO_BarrierValue : AnyTypeOf<[StableHLO_Tensor, StableHLO_Token]>;

def StableHLO_CompositeOp
    : StableHLO_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins
    Variadic<StableHLO_CallValue>:$inputs,
    StrAttr:$name,
    DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
    FlatSymbolRefAttr:$decomposition,
    DefaultValuedOptionalAttr<I32Attr, "0">:$version
  );
  let results = (outs Variadic<StableHLO_CallValue>:$results);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_CustomCallOp
    : StableHLO_Op<"custom_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins
    Variadic<StableHLO_CallValue>:$inputs,
    StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersion,
        "::octavo::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "functions of the program">,
                              "{}">:$called_computations,
    OptionalAttr<ArrayAttr>:$operand_layouts,
    OptionalAttr<ArrayAttr>:$result_layouts,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<StableHLO_OutputOperandAliasAttr, "aliases">,
                              "{}">:$output_operand_aliases
  );
  let results = (outs Variadic<StableHLO_CallValue>:$results);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_GetTupleElementOp : StableHLO_InferredOp<"get_tuple_element", "C2"> {
  let arguments = (ins StableHLO_Tuple:$operand, I32Attr:$index);
  let results = (outs StableHLO_CallValue:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_OptimizationBarrierOp : StableHLO_InferredOp<"optimization_barrier", "C1"> {
  let arguments = (ins Variadic<StableHLO_BarrierValue>:$operand);
  let results = (outs Variadic<StableHLO_BarrierValue>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<TypesOrFunction>(type($operand), type($result))) : (`(` `)`)?
  }];
}

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<StableHLO_CallValue>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_TupleOp : StableHLO_InferredOp<"tuple", "C1"> {
  let arguments = (ins Variadic<StableHLO_CallValue>:$val);
  let results = (outs StableHLO_Tuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleTypes>(type($val), type($result))";
}

def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure]> {
  let arguments = (ins Variadic<StableHLO_Token>:$inputs);
  let results = (outs StableHLO_Token:$result);
  let assemblyFormat = "$inputs attr-dict `:` custom<TokenTypes>(ref($inputs), type($inputs), type($result))";
}

def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure]> {
  let results = (outs StableHLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_IfOp
    : StableHLO_Op<"if", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins StableHLO_BooleanScalar:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<StableHLO_CallValue>:$results);
  let hasRegionVerifier = 1;
}

def StableHLO_CaseOp
    : StableHLO_Op<"case", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins StableHLO_I32Scalar:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<StableHLO_CallValue>:$results);
  let hasRegionVerifier = 1;
}

def StableHLO_WhileOp
    : StableHLO_Op<"while", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">,
                             DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<StableHLO_CallValue>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_CallValue>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_CONTROLFLOW_TD
