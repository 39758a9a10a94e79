// What octavo finds wrong with checkpoints: one row a rule, with why it matters and what to do
// about it. Rules of opening a folder, of reading a layout and of lint are one list, and no finding
// can name a rule that is not in it: that does not compile.
#pragma once

#include "octavo/Checkpoint/Finding.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

enum class RuleFamily : std::uint8_t {
  Files,         ///< shards, index
  Configuration, ///< config.json against the tensors
  Scales,
  Codes,
  Range,
  Fused, ///< projections that readers put together
  KvCache,
  Readers, ///< what the programs that load checkpoints do with some of them: only with --for
};
std::string_view familyName(RuleFamily family);

enum class Reader : std::uint8_t { Vllm, Transformers, Sglang, TensorRtLlm };

/// A set of readers.
class ReaderSet {
public:
  template <typename... Each> consteval ReaderSet(Each... each) : bits((0u | ... | bit(each))) {}
  constexpr bool has(Reader reader) const { return (bits & bit(reader)) != 0; }

private:
  static constexpr unsigned bit(Reader reader) { return 1u << static_cast<unsigned>(reader); }
  unsigned bits;
};

struct FindingRule {
  std::string_view name; ///< stable, kebab case: "missing-scale", "zero-scale", ...
  RuleFamily family;
  Severity severity;
  std::string_view why; ///< why it matters; of readers, what they do
  std::string_view fix;
  ReaderSet readers = {};
  std::string_view source = {}; ///< of readers: version, file or report that it was seen in
};

namespace rules {

using enum RuleFamily;
using enum Severity;
using enum Reader;

// clang-format off
/// All rules, a family after the other.
inline constexpr auto kAll = std::to_array<FindingRule>({
    {"missing-shard", Files, Error,
     "its tensors are not there",
     "copy or download it again"},
    {"torn-shard", Files, Error,
     "its tensors cannot be read: the file was cut short or is not a safetensors file",
     "copy or download it again"},
    {"unfinished-job", Files, Error,
     "shards, the index or the configuration may not be there yet",
     "run the command of octavo that was writing here again, to its end"},
    {"extra-shard", Files, Warning,
     "some readers load every safetensors file of a folder, others the index's alone",
     "move it elsewhere, or add it to the index"},
    {"bad-index", Files, Error,
     "the index says where each tensor lies",
     "copy or download it again"},
    {"outside-folder", Files, Error,
     "a checkpoint from elsewhere could have any file of this machine read or published",
     "mend the index; do not use it if you do not trust its origin"},
    {"missing-tensor", Files, Error,
     "a reader will refuse it or leave the weight as it was made",
     "copy or download its shard again"},
    {"misplaced-tensor", Files, Error,
     "readers that go by the index do not find it",
     "mend the index"},
    {"unlisted-tensor", Files, Warning,
     "readers that go by the index do not load it",
     "add it to the index, or remove it"},
    {"duplicate-tensor", Files, Error,
     "readers disagree on which counts",
     "remove one"},
    {"unreadable-config", Files, Error,
     "readers go by the configuration",
     "mend the JSON, or copy the file again"},
    {"unprintable-name", Files, Warning,
     "tools cut a name at its zero byte, or print control characters: two names may look like one",
     "write the tensor under a name of printable characters"},
    {"many-axes", Files, Note,
     "NumPy before 2.0 supports at most 32 axes, NumPy 2 and PyTorch 64",
     "store it with fewer axes"},
    {"odd-packed-row", Files, Warning,
     "its rows end within a byte: safetensors refuses it for PyTorch, and rows cannot be read one by one",
     "fill the rows up to whole bytes, or store the codes one per byte in U8"},
    {"index-total-size", Files, Note,
     "tools that plan memory by metadata.total_size plan for another size",
     "write the index anew"},

    {"other-spelling", Configuration, Warning,
     "readers of this layout look for the scale under another name, and some load without it",
     "rename the tensors with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, the layout that it has"},
    {"element-shape", Configuration, Error,
     "elements that do not fill rows of the weight cannot be placed",
     "export the layer again"},
    {"ambiguous-format", Configuration, Error,
     "names, dtypes and shapes fit two formats that read the same bytes as different values",
     "name the format in the configuration"},
    {"unsupported-format", Configuration, Error,
     "octavo has no such format, so it can neither check nor convert the layer",
     "convert the layer with the tool that wrote it"},
    {"unapplied-tensor", Configuration, Warning,
     "the layer computes something else than codes times scales; readers that do not know the tensor are wrong in silence",
     "use a reader that applies it; octavo reads no values of such a layer, and converts it with none"},
    {"runtime-transform", Configuration, Warning,
     "the weights are for inputs or outputs that the reader transforms; without that they are another model's",
     "use a reader that applies it; octavo converts no such checkpoint"},
    {"configuration-mismatch", Configuration, Error,
     "readers follow the configuration: they refuse this layer or read it as another format",
     "correct the configuration, or write it anew with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, the layout that it has"},
    {"unquantized-layer", Configuration, Warning,
     "readers build a quantized layer here and look for scales that are not there",
     "add the module to the ignore list of the configuration"},
    {"ignored-layer-quantized", Configuration, Error,
     "readers take the codes of an ignored module for its values",
     "remove the module from the ignore list of the configuration"},
    {"ignore-matches-nothing", Configuration, Warning,
     "an ignore entry that matches no module is misspelt, or meant for another model",
     "correct or remove the entry"},
    {"bad-pattern", Configuration, Warning,
     "octavo cannot tell which modules the entry names, so it takes it to name none",
     "correct the pattern: expressions are Python's"},
    {"bad-configuration", Configuration, Error,
     "readers refuse a configuration that they cannot read, or go by its defaults",
     "correct the configuration, or write it anew with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, the layout that it has"},
    {"unsupported-layout", Configuration, Error,
     "octavo does not know where such a layout keeps its scales",
     "convert the checkpoint with the tool that wrote it, or say which layout its tensors have: `octavo checkpoint convert DIR -o OUT --from LAYOUT --layout LAYOUT`"},
    {"ambiguous-layout", Configuration, Warning,
     "readers go by the configuration, and this one does not settle the layout",
     "write the configuration anew with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, the layout that it has"},
    {"interleaved-gate-up", Configuration, Note,
     "rows of gate and up alternate; octavo keeps that order",
     "nothing to do, unless the reader wants two halves"},
    {"no-configuration", Configuration, Warning,
     "readers take the codes for the weights themselves, or refuse them: nothing says that they are quantized",
     "write config.json with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, the layout that it has, or copy it from where the shards are from"},
    {"nothing-quantized", Configuration, Error,
     "readers build quantized layers and look for scales that are not there",
     "remove quantization_config, or get the shards that go with it"},
    {"unknown-configuration-key", Configuration, Warning,
     "compressed-tensors refuses keys that it does not know, and the load with them",
     "remove the key, or move it out of quantization_config"},

    {"missing-scale", Scales, Error,
     "without its scale the weight is codes, not values; readers that go on load garbage",
     "export the checkpoint again, or put the scale back with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"missing-outer-scale", Scales, Error,
     "block scales are relative to the outer scale; without it every value is off by one factor",
     "export the checkpoint again, or put the scale back with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"missing-input-scale", Scales, Warning,
     "the configuration promises static activation scales; readers take 1.0 or fail",
     "calibrate again, or say that activations are dynamic in the configuration"},
    {"unscaled-codes", Scales, Warning,
     "readers cast it to the dtype of the model: what was rounded so coarsely stays so, and what was scaled first is wrong",
     "store it in the dtype of the model; octavo copies it as it is"},
    {"orphan-scale", Scales, Error,
     "a scale that belongs to no weight shows that a tensor was renamed, lost or left unquantized",
     "find the weight that it belonged to, or remove it"},
    {"scale-shape", Scales, Error,
     "a scale of another shape is spread over the wrong elements, or the reader refuses it",
     "export the layer again"},
    {"scale-dtype", Scales, Error,
     "scales of another dtype are read as other numbers",
     "export the layer again; E8M0 scales are U8 or F8_E8M0, E4M3 scales F8_E4M3, the others F32, BF16 or F16"},
    {"zero-scale", Scales, Error,
     "every value under it is 0, whatever its code",
     "quantize the layer again"},
    {"zero-scale-of-zeros", Scales, Note,
     "the block's codes are 0 as well, so no value is lost (Transformer Engine writes such blocks)",
     "nothing to do, unless a reader divides by the scale"},
    {"nan-scale", Scales, Error,
     "every value under it is NaN, and so is every sum that it enters",
     "quantize the layer again from a source without NaN"},
    {"inf-scale", Scales, Error,
     "every value under it is infinite, or NaN where the code is 0",
     "quantize the layer again from a source without infinities"},
    {"negative-scale", Scales, Error,
     "scales are magnitudes: kernels that take them so flip or drop the sign",
     "negate the scale and the codes under it, or quantize the layer again"},
    {"subnormal-scale", Scales, Note,
     "hardware and readers that flush subnormals read 0; byte 0 of E8M0 is 2^-127, a subnormal of f32",
     "quantize the layer again if the values under it matter"},
    {"inverted-scale", Scales, Error,
     "read as the layout has it, the weights are far too large; the other way round they are as weights are",
     "store the reciprocal, or name the tensor as the layout that divides does"},
    {"implausible-scale", Scales, Warning,
     "no trained layer has weights of this size, whichever way the scale is read",
     "compare with the model before quantization (`octavo checkpoint diff`)"},
    {"input-scale-implausible", Scales, Warning,
     "no layer has inputs of this size: they are cut off, or lost in the smallest codes",
     "calibrate again; see whether the reciprocal was stored"},

    {"nan-code", Codes, Error,
     "a NaN in a weight makes every output of its row NaN",
     "quantize the layer again from a source without NaN"},
    {"inf-code", Codes, Error,
     "an infinite weight makes outputs infinite or NaN",
     "quantize the layer again, saturating"},
    {"negative-zero", Codes, Note,
     "where the bytes are taken for FNUZ (MI300), the code of -0 is NaN",
     "nothing to do for readers that map 0x80 to 0 there, as vLLM does; others have to learn it"},
    {"zero-weight", Codes, Warning,
     "every code of the weight is 0: the layer does nothing",
     "see whether the layer was ever filled (`octavo checkpoint diff` with the source)"},

    {"clipped-range", Range, Warning,
     "more codes are at the largest value than a scale from the maximum gives: larger weights were cut off",
     "quantize the layer again with a scale from its maximum, or see what cut it off"},
    {"wasted-range", Range, Warning,
     "the scale is too large: the largest codes stay unused and small weights lose their bits",
     "quantize the layer again with a scale from its maximum"},

    {"fused-outer-scales-differ", Fused, Warning,
     "readers run these projections as one and have room for one outer scale: they take one of them for all",
     "quantize the projections again with a shared outer scale: `octavo checkpoint dequantize DIR -o PLAIN && octavo checkpoint quantize PLAIN -o OUT --layout compressed-tensors --format nvfp4`"},
    {"fused-tensor-scales-differ", Fused, Note,
     "readers that run these projections as one quantize them again to the largest scale, with a second rounding",
     "nothing to do, or repeat the scale for each row, which needs no second rounding: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors --format fp8_row`"},
    {"fused-input-scales-differ", Fused, Warning,
     "the projections have one input, and a reader that runs them as one takes one of the scales for all",
     "give them the largest: `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"fused-formats-differ", Fused, Error,
     "readers run these projections as one and refuse parts of different formats",
     "quantize all of them alike, or none"},

    {"kv-scale-dtype", KvCache, Error,
     "the scale of a key-value cache is one float number, or one a head",
     "write it as F32"},
    {"kv-scales-disagree", KvCache, Error,
     "two names of one scale, and which of the two values counts depends on the reader",
     "find out which one was calibrated and remove the other, or put a new one in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-missing", KvCache, Warning,
     "readers fall back to 1.0: small keys and values lose their bits",
     "calibrate, and put the scales in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-partial", KvCache, Error,
     "one of the pair falls back to 1.0, or the load stops",
     "put the other in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-outweighed", KvCache, Warning,
     "old readers take it for keys and values both, others take k_scale and v_scale: the cache depends on the reader",
     "remove it, or put the one that is meant in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scheme-missing", KvCache, Warning,
     "readers that go by the configuration keep the cache wide and leave the scales unused",
     "write the configuration anew with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, or ask the reader for an FP8 cache"},
    {"kv-side-file-unusable", KvCache, Warning,
     "a reader of this file takes other scales than the checkpoint has, or none",
     "remove it: readers then take the checkpoint's own scales"},
    {"kv-scale-deprecated-name", KvCache, Warning,
     "kv_scale is the name of old vLLM: one scale for keys and values both; newer readers drop the name",
     "write k_scale and v_scale: `octavo checkpoint scales extract DIR -o FILE && octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-implausible", KvCache, Warning,
     "times the format's maximum, it is not a plausible magnitude for keys or values",
     "calibrate again; see whether the reciprocal was stored"},

    {"kv-scales-default-to-one", Readers, Warning,
     "a scale of the cache that is not there is 1.0, with a line in the log",
     "calibrate, and put the scales in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`",
     {Vllm}, "vLLM, quantization/kv_cache.py"},
    {"kv-value-scale-alone", Readers, Error,
     "an assertion ends the load of a checkpoint with v_scale and no k_scale",
     "put k_scale in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`",
     {Vllm}, "vLLM issue 46264"},
    {"kv-one-scale-for-both", Readers, Warning,
     "kv_scale is taken for k_scale and copied to v_scale",
     "write k_scale and v_scale: `octavo checkpoint scales extract DIR -o FILE && octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`",
     {Vllm}, "vLLM, model_loader/weight_utils.py"},
    {"kv-side-file-unread", Readers, Warning,
     "--quantization-param-path is gone: versions since then do not read the file, and every scale is 1.0",
     "`octavo checkpoint scales apply DIR --scales DIR/kv_cache_scales.json --into-checkpoint`",
     {Vllm}, "vLLM, quantization/schema.py of the versions that had it"},
    {"kv-scale-clamped-to-one", Readers, Note,
     "ModelOpt's own export for TensorRT-LLM has at least 1.0 here; its Hugging Face export, as this one, has amax/448",
     "compare outputs with an engine built from the other export",
     {TensorRtLlm}, "ModelOpt, export/quant_utils.py:get_kv_cache_scaling_factor"},
    {"e8m0-bytes-shifted", Readers, Error,
     "silently wrong: a scale byte is shifted into a bf16, so byte 0 is 0.0 (not 2^-127), which takes the block's values with it, and byte 255 +Inf (not NaN)",
     "quantize the blocks again, with the amax bounded from below",
     {Vllm}, "vLLM, utils/mxfp8_utils.py:_cast_mxfp8_scales_to_bf16"},
    {"fused-weights-requantized", Readers, Warning,
     "silently changed: weights of fused projections are quantized again to the largest of their scales",
     "repeat the scale for each row, which readers keep: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors --format fp8_row`",
     {Vllm}, "vLLM, utils/w8a8_utils.py:requantize_with_max_scale"},
    {"blocks-want-dynamic", Readers, Error,
     "weight_block_size with static activations is refused",
     "set activation_scheme to dynamic",
     {Vllm}, "vLLM, quantization/fp8.py"},
    {"quark-export-missing", Readers, Error,
     "a Quark configuration without export is refused",
     "write the configuration anew with `octavo checkpoint convert DIR -o OUT --layout quark`",
     {Vllm}, "vLLM, quantization/quark/quark.py"},
    {"modelopt-algorithm-unknown", Readers, Error,
     "loading fails: the algorithm is not on the reader's list",
     "where octavo knows it, `octavo checkpoint convert DIR -o OUT --layout modelopt` writes one of: FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, NVFP4, W4A16_NVFP4, MXFP8, MIXED_PRECISION",
     {Vllm}, "vLLM, quantization/modelopt.py"},
    {"modelopt-inverse-name", Readers, Error,
     "the name is mapped to another parameter or to none, and the load breaks",
     "`octavo checkpoint convert DIR -o OUT --layout modelopt` calls it weight_scale",
     {Vllm, Sglang}, "vLLM issue 54126; sglang PR 30234"},
    {"modelopt-input-scale-unset", Readers, Error,
     "silently wrong: activations are divided by the lowest f32, which is in place of the scale that is not there",
     "put the scale in with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`, or have them quantized as the model runs: `octavo checkpoint convert DIR -o OUT --layout fp8`",
     {Vllm}, "vLLM, quantization/modelopt.py:ModelOptFp8LinearMethod"},
    {"modelopt-excluded-by-substring", Readers, Error,
     "an entry that is any part of a module's name excludes the module: it is built without quantization, and its scales have no place",
     "write whole names, or wildcards over whole names, in exclude_modules (ignore in config.json)",
     {Vllm}, "vLLM, quantization/modelopt.py:is_layer_excluded"},
    {"modelopt-ragged-blocks", Readers, Error,
     "weights whose sides are not multiples of 128 are refused",
     "`octavo checkpoint convert DIR -o OUT --layout modelopt --requantize --format fp8_row`",
     {Vllm}, "vLLM, quantization/modelopt.py:ModelOptFp8PbWoLinearMethod"},
    {"quantized-router", Readers, Warning,
     "most models build routers and gates of shared experts without quantization: their scales stop the load, or are left out and the codes become the weights",
     "quantize the plain model again, which leaves routers plain",
     {Vllm}, "vLLM, models/qwen2_moe.py, models/mixtral.py"},
    {"no-scheme-for-format", Readers, Error,
     "the load stops: it has no scheme for weights of this format in this layout",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or another format that it has: fp8_block, mxfp4, nvfp4",
     {Vllm}, "vLLM, quantization/compressed_tensors/compressed_tensors.py, quantization/quark/quark.py"},
    {"quark-weights-alone", Readers, Error,
     "the load stops: FP8 weights want FP8 activations beside them",
     "compressed-tensors, of which it takes FP8 weights alone: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors`; or quantize without --weight-only",
     {Vllm}, "vLLM, quantization/quark/quark.py:_is_fp8_w8a8"},
    {"octavo-method-unknown", Readers, Error,
     "loading fails: the method is not on the reader's list",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or quark",
     {Vllm, Sglang}, "vLLM, config/model.py; sglang, configs/model_config.py"},
    {"fnuz-doubled-scale", Readers, Warning,
     "on FNUZ hardware (MI300) scales are doubled, and this one becomes infinite",
     "quantize the layer again",
     {Vllm, Sglang}, "sglang PR 40243; vLLM, utils/w8a8_utils.py"},
    {"fnuz-nan-codes", Readers, Error,
     "silently wrong: on FNUZ hardware the bytes 0x7F and 0xFF are read as 240 and -240, not NaN",
     "quantize the layer again",
     {Vllm}, "vLLM, utils/w8a8_utils.py:normalize_e4m3fn_to_e4m3fnuz"},
    {"dtype-without-torch", Readers, Error,
     "safetensors has no torch type for F6 dtypes: the load stops",
     "quark keeps them in U8: `octavo checkpoint convert DIR -o OUT --layout quark`",
     {Vllm, Transformers, Sglang}, "safetensors 0.8"},
    {"f4-odd-row", Readers, Error,
     "safetensors refuses F4 tensors with an odd last extent for torch",
     "export it again with rows of whole bytes",
     {Vllm, Transformers, Sglang}, "safetensors 0.8"},
    {"dtype-since-0.6", Readers, Note,
     "safetensors before 0.6.0 does not know the dtype",
     "safetensors 0.6 or newer, or U8 in their place: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors`",
     {Vllm, Transformers, Sglang}, "safetensors, tensor.rs"},
    {"dtype-since-0.8", Readers, Warning,
     "safetensors before 0.8.0 does not know the dtype",
     "safetensors 0.8 or newer",
     {Vllm, Transformers, Sglang}, "safetensors, tensor.rs"},
    {"ragged-blocks-misread", Readers, Error,
     "silently wrong: the block height is taken as rows / rows of scales (120 where it is 128), so scales slide; columns alike",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"ragged-blocks-refused", Readers, Error,
     "the load stops: the rows are not a multiple of the scale rows, or the columns not a multiple of the scale columns",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"ragged-activations-stop", Readers, Error,
     "the weights load, and the first product stops: activations go in groups of 128 columns",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or quantize the plain model with --weight-only",
     {Transformers}, "compressed-tensors 0.20, run on CPU"},
    {"ragged-groups-refused", Readers, Error,
     "the load stops: compressed-tensors wants rows of whole groups",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "compressed-tensors 0.20, quantization/lifecycle/forward_helpers.py:_process_group, run on CPU"},
    {"raw-codes-loaded", Readers, Error,
     "silently wrong: the codes are loaded as the weights, without their scales",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"stacked-experts-unread", Readers, Error,
     "silently wrong: tensors of stacked experts have no place in the model, whose experts keep random values",
     "quantize the plain model again, which leaves the stacks plain; or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"matrices-as-blocks-unread", Readers, Error,
     "silently wrong: blocks and scales are looked for in experts.gate_up_proj and experts.down_proj alone, and other layers keep random values",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or `octavo checkpoint convert DIR -o OUT --layout quark`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"quark-groups-stop", Readers, Error,
     "the weights load, and the first product stops: Quark runs FP8 by tensor and by row alone",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format mxfp8_e4m3`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23 with Quark 0.13, run on CPU"},
    {"packed-rows-refused", Readers, Error,
     "the load stops: packed rows do not have the model's shape",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"experts-outer-scales-dropped", Readers, Error,
     "silently wrong: experts that are modules one by one are decompressed without weight_global_scale, and their weights are hundreds of times too large, or more",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format mxfp4`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, integrations/compressed_tensors.py:CompressedTensorsDequantize, run on CPU"},
    {"experts-blocks-stop", Readers, Error,
     "the load stops: codes of experts that are modules one by one are multiplied by their scales as these are stored, which fits one scale, or one a row",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, integrations/compressed_tensors.py:CompressedTensorsDequantize, run on CPU"},
    {"quark-experts-unread", Readers, Error,
     "scales of experts that are modules one by one have no place: FP8 codes are loaded as the weights, silently wrong, and packed ones stop the load",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23 with Quark 0.13, run on CPU"},
    {"llama4-stacks-unread", Readers, Error,
     "silently wrong: beside compressed-tensors the experts of Llama 4 are modules one by one, so stacks have no place, and experts keep random values",
     "quantize the plain model again with --layout quark or deepseek, beside which the stacks stay stacks",
     {Transformers}, "transformers 5.23, quantizers/base.py:MODULES_TO_PATCH_FOR_QUANTIZATION, run on CPU"},
});
// clang-format on

} // namespace rules

/// The name of a rule; an unknown one does not compile.
class RuleName {
public:
  consteval RuleName(const char* name) : row(nullptr) {
    for (const FindingRule& rule : rules::kAll)
      if (rule.name == name)
        row = &rule;
    if (!row)
      throw "no such rule";
  }
  constexpr const FindingRule& rule() const { return *row; }
  friend bool operator==(const std::string& text, RuleName name) { return text == name.row->name; }

private:
  const FindingRule* row;
};

/// A finding of `rule`, with what the table says of it.
Finding finding(RuleName rule, std::string file, std::string tensor, std::string what);

/// The rule of that name; null if there is none.
const FindingRule* findRule(std::string_view name);

std::string_view severityName(Severity severity); ///< "note", "warning", "error"

} // namespace octavo::checkpoint
