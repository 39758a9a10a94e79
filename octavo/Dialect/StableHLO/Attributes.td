// Attributes and types that more than one family of StableHLO's operations has. What one family alone
// has stands in its own file.
#ifndef OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD
#define OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD

include "octavo/Dialect/StableHLO/Base.td"

def StableHLO_TokenType : TypeDef<StableHLO_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "a value that orders operations with side effects";
}

// #stablehlo<precision DEFAULT>
def StableHLO_Precision : StableHLO_EnumAttr<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : EnumAttr<StableHLO_Dialect, StableHLO_Precision, "precision">;
def StableHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<StableHLO_PrecisionAttr, "one precision an operand">;

// #stablehlo.bounds<4, ?>: on a tensor type, the largest extent of each axis whose extent is `?`; `?`
// where there is none. The long form #stablehlo.type_extensions<bounds = [4, ?]> is read too.
def StableHLO_BoundsAttr
    : StableHLO_Attr<"Bounds", "bounds", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// What stands within the brackets: `4, ?`.
    static ::mlir::Attribute parseBounds(::mlir::AsmParser& parser,
                                         ::mlir::AsmParser::Delimiter delimiter);
  }];
}

#endif // OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD
