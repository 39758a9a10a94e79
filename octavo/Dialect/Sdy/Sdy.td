// Sdy: Shardy's operations: meshes of devices, shardings of tensors, and computations that are
// written per device.
#ifndef OCTAVO_DIALECT_SDY_SDY
#define OCTAVO_DIALECT_SDY_SDY

include "octavo/Dialect/Sdy/Collectives.td"

def Sdy_MeshOp : Sdy_Op<"mesh", [HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "A mesh with a name";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` custom<Plain>($mesh) attr-dict";
}

class Sdy_ConstraintOp<string mnemonic>
    : Sdy_Op<mnemonic, [Pure, AllTypesMatch<["input", "result"]>, Sdy_NamesMesh]> {
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input custom<Plain>($sharding) attr-dict `:` type($result)";
}

def Sdy_ShardingConstraintOp : Sdy_ConstraintOp<"sharding_constraint"> {
  let summary = "Its operand, which is to lie as the sharding says";
}

def Sdy_ReshardOp : Sdy_ConstraintOp<"reshard"> {
  let summary = "Its operand, moved to where the sharding says";
}

def Sdy_PropagationBarrierOp
    : Sdy_Op<"propagation_barrier", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Its operand; shardings pass in one direction alone";
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
      "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Puts its operand with all of one number, which lie alike";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator, ParentOneOf<["ManualComputationOp", "NamedComputationOp"]>]> {
  let summary = "Ends a computation and gives its results";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp
    : Sdy_Op<"manual_computation", [IsolatedFromAbove, RecursiveMemoryEffects, Sdy_NamesMesh]> {
  let summary = "A program that is written for one device";
  let description = [{
    Every device of the mesh runs the body on its part of the operands, cut along `manual_axes` as
    `in_shardings` say; the results are put together as `out_shardings` say.

    ```mlir
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {} ]>] out_shardings=[<@mesh, [{"a"}, {} ]>] manual_axes={"a"} (%part: tensor<4x6xf32>) {
      sdy.return %part : tensor<4x6xf32>
    } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    ```

    Constraints, beside those of shardings:
    - (M1) all shardings have one mesh, but for those on a mesh without axes.
    - (M2) the manual axes are the mesh's, and not those of a manual computation around it.
    - (M3) in a dimension manual axes come before others.
    - (M4) arguments of the body, and what it returns, are the parts of operands and results.
  }];
  let arguments = (ins Variadic<AnyType>:$tensors,
                       Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The mesh of all shardings; null if there is none.
    MeshAttr mesh();
    bool isManual(::llvm::StringRef axis);
    /// The number of parts into which a dimension is cut.
    int64_t parts(MeshAttr mesh, DimensionShardingAttr dimension);
    /// The type of a device's local part of a tensor, and the type of the whole tensor for a local
    /// part. Unknown extents stay unknown. A value that is not a tensor is whole on each device.
    ::mlir::Type partOf(::mlir::Type whole, TensorShardingAttr sharding);
    ::mlir::Type wholeOf(::mlir::Type part, TensorShardingAttr sharding);
  }];
}

def Sdy_NamedComputationOp
    : Sdy_Op<"named_computation", [IsolatedFromAbove, RecursiveMemoryEffects, Sdy_NamesMesh]> {
  let summary = "A computation with a name; otherwise as if its body stood in its place";
  let description = [{
    ```mlir
    %0 = sdy.named_computation<"f">(%x) in_shardings=[<@mesh, [{"a"} ]>] (%arg: tensor<8xf32>) {
      sdy.return %arg : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```

    Constraints, beside those of shardings:
    - (N1) the body takes the operands and ends with sdy.return of the results.
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$tensors,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, AllTypesMatch<["value", "output"]>]> {
  let summary = "A tensor that the program says, and that is not merged with its like";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StaticShapeTensorOf<[AnyType]>:$output);
  let assemblyFormat = "attr-dict $value";
}

def Sdy_DataFlowEdgeOp
    : Sdy_Op<"data_flow_edge", [AllTypesMatch<["input", "result"]>, Sdy_NamesMesh]> {
  let summary = "Its operand, where the operands and results that it stands for lie alike";
  let description = [{
    Constraints, beside those of shardings:
    - (E1) nothing else uses the operand.
    - (E2) no operation of Shardy makes the operand but a named computation.
  }];
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sharding` `` `=` `` custom<Plain>($sharding)^)? attr-dict `:` type($result)
  }];
}

def Sdy_FuncDataFlowEdgeOp
    : Sdy_Op<"func_data_flow_edge", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "Its operand, an argument of a function or a result of a call";
  let description = [{
    Constraints:
    - (E1) nothing else uses the operand.
    - (E2) it is an argument of a function or a result of a call.
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_SDY_SDY
