// Sort family: the operation sort.
#ifndef OCTAVO_DIALECT_STABLEHLO_SORT_TD
#define OCTAVO_DIALECT_STABLEHLO_SORT_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_SortOp
    : StableHLO_Op<"sort", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$inputs,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable
  );
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_SORT_TD
