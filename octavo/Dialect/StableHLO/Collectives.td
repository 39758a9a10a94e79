// Collectives family: operations in which the processes of a grid of replicas and partitions take
// part together, and those that give a process its ids.
#ifndef OCTAVO_DIALECT_STABLEHLO_COLLECTIVES_TD
#define OCTAVO_DIALECT_STABLEHLO_COLLECTIVES_TD

include "octavo/Dialect/StableHLO/Attributes.td"

//===-- Groups of processes -----------------------------------------------------------------------===//

// Groups: the rows of a matrix of ids, or derived from axes of a mesh of devices.
def StableHLO_MeshAxisAttr : StableHLO_Attr<"MeshAxis", "mesh_axis"> {
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_MeshAttr : StableHLO_Attr<"Mesh", "mesh"> {
  let parameters = (ins
    "::mlir::ArrayAttr":$axes,
    OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids
  );
  let hasCustomAssemblyFormat = 1;
}

// A sub-axis: the factor `size` of an axis, after the outer factor `pre_size`.
def StableHLO_SubAxisInfoAttr : StableHLO_Attr<"SubAxisInfo", "sub_axis_info"> {
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def StableHLO_AxisRefAttr : StableHLO_Attr<"AxisRef", "axis_ref"> {
  let parameters = (ins
    "::mlir::StringAttr":$name,
    OptionalParameter<"::octavo::stablehlo::SubAxisInfoAttr">:$sub_axis_info
  );
  let assemblyFormat = "`<` struct(params) `>`";
}

// `mesh` is a symbol or a MeshAttr.
def StableHLO_ReplicaGroupMeshAxesAttr
    : StableHLO_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_ReplicaGroups : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxesAttr]>;

//===-- Collectives -------------------------------------------------------------------------------===//

// None of them is pure, because they affect other processes.

def StableHLO_AllGatherOp : StableHLO_Op<"all_gather"> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$operands,
    I64Attr:$all_gather_dim,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids
  );
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extents of the result for this operand; nullopt if an extent does not fit 63 bits.
    std::optional<Extents> resultExtents(::mlir::RankedTensorType operand);
  }];
}

def StableHLO_AllReduceOp
    : StableHLO_Op<"all_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$operands,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids
  );
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_AllToAllOp : StableHLO_Op<"all_to_all"> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$operands,
    I64Attr:$split_dimension,
    I64Attr:$concat_dimension,
    I64Attr:$split_count,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle
  );
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extents of the result for this operand; nullopt if an extent does not fit 63 bits.
    std::optional<Extents> resultExtents(::mlir::RankedTensorType operand);
  }];
}

def StableHLO_CollectiveBroadcastOp : StableHLO_Op<"collective_broadcast"> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$operands,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$has_dynamic_root
  );
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
}

def StableHLO_CollectivePermuteOp : StableHLO_Op<"collective_permute"> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    I64ElementsAttr:$source_target_pairs,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle
  );
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_CollectiveReduceOp
    : StableHLO_Op<"collective_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$operands,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids,
    UnitAttr:$has_dynamic_root
  );
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

// all_reduce by addition over groups of replicas: deprecated.
def StableHLO_CrossReplicaSumOp : StableHLO_Op<"cross-replica-sum"> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ReplicaGroups:$replica_groups);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_ReduceScatterOp
    : StableHLO_Op<"reduce_scatter", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    I64Attr:$scatter_dimension,
    StableHLO_ReplicaGroups:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids
  );
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extents of the result for this operand; nullopt if an extent does not fit 63 bits.
    std::optional<Extents> resultExtents(::mlir::RankedTensorType operand);
  }];
  let hasRegionVerifier = 1;
}

//===-- Who a process is --------------------------------------------------------------------------===//

class StableHLO_ProcessIdOp<string mnemonic> : StableHLO_Op<mnemonic, [Pure]> {
  let results = (outs StableHLO_UI32Scalar:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def StableHLO_PartitionIdOp : StableHLO_ProcessIdOp<"partition_id">;
def StableHLO_ReplicaIdOp : StableHLO_ProcessIdOp<"replica_id">;

//===-- Asynchronous collectives ------------------------------------------------------------------===//

def StableHLO_FutureType : TypeDef<StableHLO_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "the results of an operation that has been started";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
}

def StableHLO_AsyncStartOp
    : StableHLO_Op<"async_start", [IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs StableHLO_FutureType:$result);
  let hasRegionVerifier = 1;
}

def StableHLO_AsyncDoneOp : StableHLO_Op<"async_done"> {
  let arguments = (ins StableHLO_FutureType:$future);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_COLLECTIVES_TD
