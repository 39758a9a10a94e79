// Sdy: the dialect and its attributes, in the text form of Shardy's: `"a"=2`, `"a":(1)2`, `{"a", ?}p1`.
#ifndef OCTAVO_DIALECT_SDY_ATTRIBUTES
#define OCTAVO_DIALECT_SDY_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::octavo::sdy";
  let summary = "How tensors lie on meshes of devices";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerBytecode();
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

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
    /// `devices`, or empty if they are row-major, which is the default.
    static ::llvm::ArrayRef<int64_t> deviceIds(::llvm::ArrayRef<MeshAxisAttr> axes,
                                               ::llvm::ArrayRef<int64_t> devices);
    /// The product of the axes' sizes.
    int64_t devices() const;
    /// The size of the axis named `axis`; 0 if there is none.
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

    Constraints on the shardings of a value, where one stands:
    - (S1) there are as many as values. What has no results may have one, without dimensions and axes.
    - (S2) the mesh is the program's.
    - (S3) it has as many dimensions as the tensor; none, and no axes, for what is no tensor. On one
      device that the mesh names there are neither.
    - (S4) its axes are the mesh's. A part of an axis divides it, and is neither 1 nor all of it.
    - (S5) no axis, or part of one, comes twice; parts that follow one another and are one are
      written as one.
    - (S6) the replicated axes, and the unreduced ones, are in the mesh's order.
    - (S7) a dimension with a priority is open or has axes.
    - (S8) no axis is manual in a computation around it.
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

def Sdy_AxisRefList : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "Axes: `{\"a\", \"b\":(1)2}`";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$value);
}

def Sdy_ListOfAxisRefLists : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "Axes for each dimension: `[{\"a\"}, {} ]`";
  let parameters = (ins ArrayRefParameter<"AxisRefListAttr">:$value);
}

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "Axes that go from one dimension to another: `{\"a\"}: 0->1`";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$src_dim,
                        "int64_t":$tgt_dim);
}

def Sdy_AllToAllParamList : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "Several of these: `[{\"a\"}: 0->1, {\"b\"}: 2->3]`";
  let parameters = (ins ArrayRefParameter<"AllToAllParamAttr">:$value);
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

    Constraints on the rule of an operation:
    - (R1) it has a mapping for each operand and result, of as many dimensions; these are tensors of
      known extents.
    - (R2) a dimension has a factor, each in one place of a tensor; one of size 1 stands alone.
    - (R3) each factor has a size and is in a mapping.
    - (R4) the factors of a kind ascend; no factor is reduction, need_replication and permutation at
      once, and none of results is reduction.
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

#endif // OCTAVO_DIALECT_SDY_ATTRIBUTES
