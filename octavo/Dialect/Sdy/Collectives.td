// Sdy: the collectives that partitioners insert where a tensor's sharding changes. On whole tensors
// each returns its operand.
#ifndef OCTAVO_DIALECT_SDY_COLLECTIVES
#define OCTAVO_DIALECT_SDY_COLLECTIVES

include "octavo/Dialect/Sdy/Attributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

// Its verifier looks up meshes in the program.
def Sdy_NamesMesh : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

/// Constraints of all collectives, beside those of the result's sharding:
/// - (C1) the operand has a sharding. If the operation makes the operand smaller or sums it, a
///   missing sharding counts as one without axes.
/// - (C2) both shardings are on one mesh; collective_permute allows another order of devices.
class Sdy_CollectiveOp<string mnemonic, dag attributes, string axes>
    : Sdy_Op<mnemonic, [Pure, AllTypesMatch<["tensor", "result"]>, Sdy_NamesMesh]> {
  let arguments = !con((ins AnyRankedTensor:$tensor), attributes,
                       (ins Sdy_TensorSharding:$out_sharding));
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
      axes # "$tensor `out_sharding` `` `=` `` custom<Plain>($out_sharding) attr-dict `:` type($result)";
}

/// - (C3) there is a list of axes for each dimension, valid in a sharding.
/// - (C4) the axes and the operand's sharding give the result's sharding.
class Sdy_AxesOfDimensions<string mnemonic, string name>
    : Sdy_CollectiveOp<mnemonic, !dag(ins, [Sdy_ListOfAxisRefLists], [name]),
                       "custom<Plain>($" # name # ") ">;

def Sdy_AllGatherOp : Sdy_AxesOfDimensions<"all_gather", "gathering_axes"> {
  let summary = "Puts together what lies along the axes at the end of each dimension";
}

def Sdy_AllSliceOp : Sdy_AxesOfDimensions<"all_slice", "slicing_axes"> {
  let summary = "Cuts each dimension along more axes";
}

def Sdy_ReduceScatterOp : Sdy_AxesOfDimensions<"reduce_scatter", "reduce_scatter_axes"> {
  let summary = "Sums along axes, and cuts each dimension along them";
}

def Sdy_ShardedToUnreducedOp : Sdy_AxesOfDimensions<"sharded_to_unreduced", "axes"> {
  let summary = "Makes the axes at the end of each dimension such that a sum is left to do";
  let description = [{
    - (C6) the axes become unreduced, beside those that are.
  }];
}

def Sdy_AllToAllOp
    : Sdy_CollectiveOp<"all_to_all", (ins Sdy_AllToAllParamList:$params), "custom<Plain>($params) "> {
  let summary = "Takes axes from the end of one dimension to that of another";
  let description = [{
    - (C3) there is an entry; its dimensions are the tensor's, each in one place, the sources
      ascending; its axes are as a sharding would have them.
    - (C4) they and the operand's sharding give that of the result.
  }];
}

def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute", (ins), ""> {
  let summary = "Lays the parts of a tensor on other devices";
  let description = [{
    - (C4) each dimension stays cut into as many parts.
  }];
}

/// - (C3) the axes are valid in a sharding, in the mesh's order.
/// - (C4) the dimensions are sharded as the operand's.
class Sdy_AxesOp<string mnemonic, string name>
    : Sdy_CollectiveOp<mnemonic, !dag(ins, [Sdy_AxisRefList], [name]), "custom<Plain>($" # name # ") ">;

def Sdy_AllReduceOp : Sdy_AxesOp<"all_reduce", "reduction_axes"> {
  let summary = "Sums along axes";
  let description = [{
    - (C5) no axis shards a dimension of the operand, is replicated there, or is left unreduced by
      the result.
  }];
}

def Sdy_ReplicatedToUnreducedOp : Sdy_AxesOp<"replicated_to_unreduced", "axes"> {
  let summary = "Makes axes along which a tensor is the same such that a sum is left to do";
  let description = [{
    - (C5) there are axes, and none of the operand's dimensions and unreduced axes.
    - (C6) the axes become unreduced, beside those that are.
  }];
}

#endif // OCTAVO_DIALECT_SDY_COLLECTIVES
