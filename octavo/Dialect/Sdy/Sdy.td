// Sdy: Shardy's dialect, as far as JAX writes it: meshes of devices, how tensors lie on them, and
// programs that are written for each device.
#ifndef OCTAVO_DIALECT_SDY_SDY
#define OCTAVO_DIALECT_SDY_SDY

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::octavo::sdy";
  let summary = "How tensors lie on meshes of devices";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerBytecode();
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

//===-- Attributes --------------------------------------------------------------------------------===//

// Forms in the text are Shardy's: `"a"=2`, `"a":(1)2`, `{"a", ?}p1`.
class Sdy_Attr<string className, string mnemonicText> : AttrDef<Sdy_Dialect, className> {
  let mnemonic = mnemonicText;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "A named axis of a mesh";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Devices in a grid with named axes";
  let description = [{
    `#sdy.mesh<["a"=2, "b"=2]>`: the devices are numbered row-major, or are `device_ids` in that
    order. A mesh without axes is one device, or as many as there are.
  }];
  let parameters = (ins ArrayRefParameter<"MeshAxisAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$device_ids);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The product of the axes' sizes.
    int64_t devices() const;
    /// The size of the axis of a name; 0 where there is none.
    int64_t sizeOf(::llvm::StringRef axis) const;
  }];
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "A part of an axis: `size` behind the first `pre_size`";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis, or a part of it";
  let parameters = (ins StringRefParameter<>:$name,
                        OptionalParameter<"::octavo::sdy::SubAxisInfoAttr">:$sub_axis_info);
}

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "The axes, the outermost first, that a dimension lies along";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "bool":$is_closed,
                        "std::optional<int64_t>":$priority);
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "How a tensor lies on a mesh";
  let description = [{
    `#sdy.sharding<@mesh, [{"a"}, {} ], replicated={"b"}>`: a mesh, by name or itself, and the axes
    of each dimension.
  }];
  let parameters = (ins "::mlir::Attribute":$mesh_or_ref,
                        ArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
                        ArrayRefParameter<"AxisRefAttr">:$replicated_axes,
                        ArrayRefParameter<"AxisRefAttr">:$unreduced_axes);
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "A sharding for each of several values";
  let parameters = (ins ArrayRefParameter<"TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "Axes that a program is written for each place along";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$value);
}

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "The factors of a dimension, the outermost first";
  let parameters = (ins ArrayRefParameter<"int64_t">:$factor_indices);
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "The factors of each dimension";
  let parameters = (ins ArrayRefParameter<"DimMappingAttr">:$dim_mappings);
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "Which dimensions of operands and results go together";
  let description = [{
    `#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=4, k=2} reduction={k}>`: factors are
    `i` to `z`, then `z_1`, `z_2`, ...; their sizes follow.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$factor_sizes,
                        ArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
                        ArrayRefParameter<"TensorMappingAttr">:$result_mappings,
                        ArrayRefParameter<"int64_t">:$reduction_factors,
                        ArrayRefParameter<"int64_t">:$need_replication_factors,
                        ArrayRefParameter<"int64_t">:$permutation_factors,
                        ArrayRefParameter<"int64_t">:$blocked_propagation_factors,
                        "bool":$is_custom_rule);
}

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection", "a direction", [
  I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>, I32EnumAttrCase<"BACKWARD", 2>,
  I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::octavo::sdy";
}

//===-- Operations --------------------------------------------------------------------------------===//

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol]> {
  let summary = "A mesh with a name";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` custom<Plain>($mesh) attr-dict";
}

class Sdy_ConstraintOp<string mnemonic> : Sdy_Op<mnemonic, [Pure, AllTypesMatch<["input", "result"]>]> {
  let arguments = (ins AnyRankedTensor:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyRankedTensor:$result);
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
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Puts its operand with all of one number, which lie alike";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator, ParentOneOf<["ManualComputationOp"]>]> {
  let summary = "Ends a computation and gives its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp
    : Sdy_Op<"manual_computation", [IsolatedFromAbove, RecursiveMemoryEffects,
                                    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A program that is written for one device";
  let description = [{
    Every device of the mesh runs the body on its part of the operands, cut along `manual_axes` as
    `in_shardings` say; the results are put together as `out_shardings` say.

    ```mlir
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {} ]>] out_shardings=[<@mesh, [{"a"}, {} ]>] manual_axes={"a"} (%part: tensor<4x6xf32>) {
      sdy.return %part : tensor<4x6xf32>
    } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    ```

    Constraints:
    - (M1) there is a sharding for each operand and for each result, of its rank.
    - (M2) all name one mesh, which the program has.
    - (M3) the manual axes and those of the shardings are the mesh's, each once in a sharding.
    - (M4) arguments of the body, and what it returns, are the parts of operands and results.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$tensors,
                       Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The mesh of all shardings: null where there is none, or the program lacks it.
    MeshAttr mesh();
    bool isManual(AxisRefAttr axis);
    /// Into how many parts a dimension is cut.
    int64_t parts(MeshAttr mesh, DimensionShardingAttr dimension);
    /// What one device has of a tensor, and the tensor of which it has that; extents that are not
    /// known stay so.
    ::mlir::RankedTensorType partOf(::mlir::RankedTensorType whole, TensorShardingAttr sharding);
    ::mlir::RankedTensorType wholeOf(::mlir::RankedTensorType part, TensorShardingAttr sharding);
  }];
}

#endif // OCTAVO_DIALECT_SDY_SDY
