// The table of VHLO's operations: one row for each version of an operation.
#include "octavo/Dialect/VHLO/Operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace octavo::vhlo {

namespace {

constexpr Version kNoEnd{1 << 20, 0};

constexpr OperationRow kOperationRows[] = {
    // clang-format off
    //  name, first and last version, attributes in the order of the alphabet, which is that of the file
    {"abs_v1", {0, 9}, kNoEnd, ""},
    {"add_v1", {0, 9}, kNoEnd, ""},
    {"after_all_v1", {0, 9}, kNoEnd, ""},
    {"all_gather_v1", {0, 9}, {1, 4}, "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_gather_v2", {1, 5}, kNoEnd, "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_reduce_v1", {0, 9}, {1, 4}, "channel_id replica_groups use_global_device_ids"},
    {"all_reduce_v2", {1, 5}, kNoEnd, "channel_id replica_groups use_global_device_ids"},
    {"all_to_all_v1", {0, 9}, {1, 4}, "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"all_to_all_v2", {1, 5}, kNoEnd, "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"and_v1", {0, 9}, kNoEnd, ""},
    {"async_done_v1", {1, 15}, kNoEnd, ""},
    {"async_start_v1", {1, 15}, kNoEnd, ""},
    {"atan2_v1", {0, 9}, kNoEnd, ""},
    {"batch_norm_grad_v1", {0, 9}, kNoEnd, "epsilon feature_index"},
    {"batch_norm_inference_v1", {0, 9}, kNoEnd, "epsilon feature_index"},
    {"batch_norm_training_v1", {0, 9}, kNoEnd, "epsilon feature_index"},
    {"bitcast_convert_v1", {0, 9}, kNoEnd, ""},
    {"broadcast_in_dim_v1", {0, 9}, kNoEnd, "broadcast_dimensions"},
    {"broadcast_v1", {0, 9}, kNoEnd, "broadcast_sizes"},
    {"call_v1", {0, 9}, kNoEnd, "callee"},
    {"case_v1", {0, 9}, kNoEnd, ""},
    {"cbrt_v1", {0, 9}, {1, 9}, ""},
    {"cbrt_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"ceil_v1", {0, 9}, kNoEnd, ""},
    {"cholesky_v1", {0, 9}, kNoEnd, "lower"},
    {"clamp_v1", {0, 9}, kNoEnd, ""},
    {"collective_broadcast_v1", {0, 16}, {1, 19}, "channel_id replica_groups"},
    {"collective_broadcast_v2", {1, 20}, kNoEnd, "channel_id has_dynamic_root replica_groups"},
    {"collective_permute_v1", {0, 9}, kNoEnd, "channel_id source_target_pairs"},
    {"collective_reduce_v1", {1, 19}, kNoEnd, "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"compare_v1", {0, 9}, kNoEnd, "compare_type comparison_direction"},
    {"complex_v1", {0, 9}, kNoEnd, ""},
    {"composite_v1", {0, 19}, {1, 13}, "composite_attributes decomposition name version"},
    {"composite_v2", {1, 14}, kNoEnd, "composite_attributes decomposition name version"},
    {"concatenate_v1", {0, 9}, kNoEnd, "dimension"},
    {"constant_v1", {0, 9}, kNoEnd, "value"},
    {"convert_v1", {0, 9}, kNoEnd, ""},
    {"convolution_v1", {0, 9}, kNoEnd, "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides"},
    {"cosine_v1", {0, 9}, {1, 9}, ""},
    {"cosine_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"count_leading_zeros_v1", {0, 9}, kNoEnd, ""},
    {"create_token_v1", {0, 9}, kNoEnd, ""},
    {"cross-replica-sum_v1", {0, 9}, kNoEnd, "replica_groups"},
    {"custom_call_v1", {0, 9}, {1, 17}, "api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts"},
    {"custom_call_v2", {1, 18}, kNoEnd, "api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts result_tilings"},
    {"divide_v1", {0, 9}, kNoEnd, ""},
    {"dot_general_v1", {0, 9}, {1, 5}, "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions rhs_contracting_dimensions"},
    {"dot_general_v2", {1, 6}, kNoEnd, "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type"},
    {"dot_v1", {0, 9}, kNoEnd, "precision_config"},
    {"dynamic_broadcast_in_dim_v1", {0, 9}, kNoEnd, "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"dynamic_conv_v1", {0, 9}, {0, 19}, "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides"},
    {"dynamic_conv_v2", {0, 20}, kNoEnd, "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides"},
    {"dynamic_gather_v1", {0, 9}, {1, 0}, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map"},
    {"dynamic_gather_v2", {1, 1}, kNoEnd, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims start_index_map start_indices_batching_dims"},
    {"dynamic_iota_v1", {0, 9}, kNoEnd, "iota_dimension"},
    {"dynamic_pad_v1", {0, 9}, kNoEnd, ""},
    {"dynamic_reshape_v1", {0, 9}, kNoEnd, ""},
    {"dynamic_slice_v1", {0, 9}, kNoEnd, "slice_sizes"},
    {"dynamic_update_slice_v1", {0, 9}, kNoEnd, ""},
    {"einsum_v1", {0, 9}, kNoEnd, "einsum_config"},
    {"exponential_minus_one_v1", {0, 9}, {1, 9}, ""},
    {"exponential_minus_one_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"exponential_v1", {0, 9}, {1, 8}, ""},
    {"exponential_v2", {1, 9}, kNoEnd, "result_accuracy"},
    {"fft_v1", {0, 9}, kNoEnd, "fft_length fft_type"},
    {"floor_v1", {0, 9}, kNoEnd, ""},
    {"func_v1", {0, 9}, kNoEnd, "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"gather_v1", {0, 9}, {1, 0}, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map"},
    {"gather_v2", {1, 1}, kNoEnd, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes start_index_map start_indices_batching_dims"},
    {"get_dimension_size_v1", {0, 9}, kNoEnd, "dimension"},
    {"get_tuple_element_v1", {0, 9}, kNoEnd, "index"},
    {"if_v1", {0, 9}, kNoEnd, ""},
    {"imag_v1", {0, 9}, kNoEnd, ""},
    {"infeed_v1", {0, 9}, kNoEnd, "infeed_config layout"},
    {"iota_v1", {0, 9}, kNoEnd, "iota_dimension"},
    {"is_finite_v1", {0, 9}, kNoEnd, ""},
    {"log_plus_one_v1", {0, 9}, {1, 9}, ""},
    {"log_plus_one_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"log_v1", {0, 9}, {1, 9}, ""},
    {"log_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"logistic_v1", {0, 9}, {1, 9}, ""},
    {"logistic_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"map_v1", {0, 9}, kNoEnd, "dimensions"},
    {"maximum_v1", {0, 9}, kNoEnd, ""},
    {"minimum_v1", {0, 9}, kNoEnd, ""},
    {"multiply_v1", {0, 9}, kNoEnd, ""},
    {"negate_v1", {0, 9}, kNoEnd, ""},
    {"not_v1", {0, 9}, kNoEnd, ""},
    {"optimization_barrier_v1", {0, 9}, kNoEnd, ""},
    {"or_v1", {0, 9}, kNoEnd, ""},
    {"outfeed_v1", {0, 9}, kNoEnd, "outfeed_config"},
    {"pad_v1", {0, 9}, kNoEnd, "edge_padding_high edge_padding_low interior_padding"},
    {"partition_id_v1", {0, 9}, kNoEnd, ""},
    {"popcnt_v1", {0, 9}, kNoEnd, ""},
    {"power_v1", {0, 9}, kNoEnd, ""},
    {"real_dynamic_slice_v1", {0, 9}, kNoEnd, ""},
    {"real_v1", {0, 9}, kNoEnd, ""},
    {"recv_v1", {0, 9}, {1, 11}, "channel_id channel_type is_host_transfer"},
    {"recv_v2", {1, 12}, kNoEnd, "channel_id channel_type is_host_transfer source_target_pairs"},
    {"reduce_precision_v1", {0, 9}, kNoEnd, "exponent_bits mantissa_bits"},
    {"reduce_scatter_v1", {0, 9}, kNoEnd, "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"reduce_v1", {0, 9}, kNoEnd, "dimensions"},
    {"reduce_window_v1", {0, 9}, kNoEnd, "base_dilations padding window_dilations window_dimensions window_strides"},
    {"remainder_v1", {0, 9}, kNoEnd, ""},
    {"replica_id_v1", {0, 9}, kNoEnd, ""},
    {"reshape_v1", {0, 9}, kNoEnd, ""},
    {"return_v1", {0, 9}, kNoEnd, ""},
    {"reverse_v1", {0, 9}, kNoEnd, "dimensions"},
    {"rng_bit_generator_v1", {0, 9}, kNoEnd, "rng_algorithm"},
    {"rng_v1", {0, 9}, kNoEnd, "rng_distribution"},
    {"round_nearest_afz_v1", {0, 9}, kNoEnd, ""},
    {"round_nearest_even_v1", {0, 9}, kNoEnd, ""},
    {"rsqrt_v1", {0, 9}, {1, 9}, ""},
    {"rsqrt_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"scatter_v1", {0, 9}, {1, 0}, "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices update_window_dims"},
    {"scatter_v2", {1, 1}, kNoEnd, "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices update_window_dims"},
    {"select_and_scatter_v1", {0, 9}, kNoEnd, "padding window_dimensions window_strides"},
    {"select_v1", {0, 9}, kNoEnd, ""},
    {"send_v1", {0, 9}, {1, 11}, "channel_id channel_type is_host_transfer"},
    {"send_v2", {1, 12}, kNoEnd, "channel_id channel_type is_host_transfer source_target_pairs"},
    {"set_dimension_size_v1", {0, 9}, kNoEnd, "dimension"},
    {"shift_left_v1", {0, 9}, kNoEnd, ""},
    {"shift_right_arithmetic_v1", {0, 9}, kNoEnd, ""},
    {"shift_right_logical_v1", {0, 9}, kNoEnd, ""},
    {"sign_v1", {0, 9}, kNoEnd, ""},
    {"sine_v1", {0, 9}, {1, 9}, ""},
    {"sine_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"slice_v1", {0, 9}, kNoEnd, "limit_indices start_indices strides"},
    {"sort_v1", {0, 9}, kNoEnd, "dimension is_stable"},
    {"sqrt_v1", {0, 9}, {1, 9}, ""},
    {"sqrt_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"subtract_v1", {0, 9}, kNoEnd, ""},
    {"tan_v1", {1, 4}, {1, 9}, ""},
    {"tan_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"tanh_v1", {0, 9}, {1, 9}, ""},
    {"tanh_v2", {1, 10}, kNoEnd, "result_accuracy"},
    {"torch_index_select_v1", {0, 9}, kNoEnd, "batch_dims dim"},
    {"transpose_v1", {0, 9}, kNoEnd, "permutation"},
    {"triangular_solve_v1", {0, 9}, kNoEnd, "left_side lower transpose_a unit_diagonal"},
    {"tuple_v1", {0, 9}, kNoEnd, ""},
    {"unary_einsum_v1", {0, 9}, kNoEnd, "einsum_config"},
    {"uniform_dequantize_v1", {0, 9}, kNoEnd, ""},
    {"uniform_quantize_v1", {0, 9}, kNoEnd, ""},
    {"while_v1", {0, 9}, kNoEnd, ""},
    {"xor_v1", {0, 9}, kNoEnd, ""},
    // clang-format on
};

} // namespace

llvm::ArrayRef<OperationRow> operationRows() { return kOperationRows; }

llvm::StringRef OperationRow::stem() const { return name.rsplit("_v").first; }

llvm::SmallVector<llvm::StringRef> OperationRow::attributeNames() const {
  llvm::SmallVector<llvm::StringRef> names;
  attributes.split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return names;
}

const OperationRow* findOperation(llvm::StringRef name) {
  static const llvm::StringMap<const OperationRow*> table = [] {
    llvm::StringMap<const OperationRow*> map;
    for (const OperationRow& row : kOperationRows)
      map[row.name] = &row;
    return map;
  }();
  return table.lookup(name);
}

const OperationRow* findOperation(llvm::StringRef stem, const Version& version) {
  const Version numbered{version.major, version.minor};
  for (const OperationRow& row : kOperationRows)
    if (row.stem() == stem && row.since <= numbered && numbered <= row.until)
      return &row;
  return nullptr;
}

const OperationRow* oldestOperation(llvm::StringRef stem) {
  const OperationRow* oldest = nullptr;
  for (const OperationRow& row : kOperationRows)
    if (row.stem() == stem && (!oldest || row.since < oldest->since))
      oldest = &row;
  return oldest;
}

const OperationRow* newestOperation(llvm::StringRef stem) {
  const OperationRow* newest = nullptr;
  for (const OperationRow& row : kOperationRows)
    if (row.stem() == stem && (!newest || newest->since < row.since))
      newest = &row;
  return newest;
}

} // namespace octavo::vhlo
