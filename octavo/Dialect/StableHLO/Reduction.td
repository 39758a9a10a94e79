// Reduction family: reduces many elements to one by a function of the program.
#ifndef OCTAVO_DIALECT_STABLEHLO_REDUCTION_TD
#define OCTAVO_DIALECT_STABLEHLO_REDUCTION_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_ReduceOp
    : StableHLO_Op<"reduce", [RecursiveMemoryEffects, SameVariadicOperandSize,
                              SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$inputs,
    Variadic<StableHLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$dimensions
  );
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_REDUCTION_TD
