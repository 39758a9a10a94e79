// Random family: random bits and numbers.
#ifndef OCTAVO_DIALECT_STABLEHLO_RANDOM_TD
#define OCTAVO_DIALECT_STABLEHLO_RANDOM_TD

include "octavo/Dialect/StableHLO/Attributes.td"
include "mlir/IR/OpAsmInterface.td"

// #stablehlo<rng_algorithm PHILOX>
def StableHLO_RngAlgorithm : StableHLO_EnumAttr<"RngAlgorithm", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def StableHLO_RngAlgorithmAttr : EnumAttr<StableHLO_Dialect, StableHLO_RngAlgorithm, "rng_algorithm">;

def StableHLO_RngBitGeneratorOp
    : StableHLO_Op<"rng_bit_generator", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins StableHLO_RngAlgorithmAttr:$rng_algorithm, StableHLO_IntOrFloatTensor:$initial_state);
  let results = (outs StableHLO_IntOrFloatTensor:$output_state, StableHLO_StaticIntOrFloatTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Enumeration>($rng_algorithm) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

// #stablehlo<rng_distribution NORMAL>
def StableHLO_RngDistribution : StableHLO_EnumAttr<"RngDistribution", [
  I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def StableHLO_RngDistributionAttr
    : EnumAttr<StableHLO_Dialect, StableHLO_RngDistribution, "rng_distribution">;

def StableHLO_RngOp : StableHLO_Op<"rng"> {
  let arguments = (ins
    StableHLO_BooleanIntOrFloatTensor:$a,
    StableHLO_BooleanIntOrFloatTensor:$b,
    StableHLO_ShapeTensor:$shape,
    StableHLO_RngDistributionAttr:$rng_distribution
  );
  let results = (outs StableHLO_BooleanIntOrFloatTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<Enumeration>($rng_distribution) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_RANDOM_TD
