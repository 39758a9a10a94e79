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
     "its tensors are missing",
     "copy or download it again"},
    {"torn-shard", Files, Error,
     "its tensors cannot be read: the file was cut short or is not a safetensors file",
     "copy or download it again"},
    {"unfinished-job", Files, Error,
     "shards, the index or the configuration may still be missing",
     "run again the octavo command that was writing here, and let it finish"},
    {"extra-shard", Files, Warning,
     "some readers load every safetensors file of a folder, others only those in the index",
     "move it elsewhere, or add it to the index"},
    {"bad-index", Files, Error,
     "the index says where each tensor is",
     "copy or download it again"},
    {"outside-folder", Files, Error,
     "a checkpoint from elsewhere could have any file on this machine read or published",
     "fix the index; do not use it if you do not trust its origin"},
    {"missing-tensor", Files, Error,
     "a reader refuses the checkpoint, or leaves the weight at its initial value",
     "copy or download its shard again"},
    {"misplaced-tensor", Files, Error,
     "readers that rely on the index do not find it",
     "fix the index"},
    {"unlisted-tensor", Files, Warning,
     "readers that rely on the index do not load it",
     "add it to the index, or remove it"},
    {"duplicate-tensor", Files, Error,
     "readers disagree on which counts",
     "remove one"},
    {"unreadable-config", Files, Error,
     "readers go by the configuration",
     "fix the JSON, or copy the file again"},
    {"unprintable-name", Files, Warning,
     "some tools cut a name at a zero byte or print its control characters, so two names may look the same",
     "rename the tensor, using only printable characters"},
    {"many-axes", Files, Note,
     "NumPy before 2.0 supports at most 32 axes, NumPy 2 and PyTorch 64",
     "store it with fewer axes"},
    {"odd-packed-row", Files, Warning,
     "its rows end in the middle of a byte: safetensors refuses it for PyTorch, and rows cannot be read one by one",
     "pad the rows to whole bytes, or store the codes one per byte in U8"},
    {"index-total-size", Files, Note,
     "tools that plan memory by metadata.total_size get the wrong size",
     "rewrite the index"},

    {"other-spelling", Configuration, Warning,
     "readers of this layout look for the scale under another name, and some load without it",
     "rename the tensors with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, with the layout it already has"},
    {"element-shape", Configuration, Error,
     "elements that do not fill whole rows of the weight cannot be placed",
     "export the layer again"},
    {"ambiguous-format", Configuration, Error,
     "names, dtypes and shapes fit two formats that read the same bytes as different values",
     "name the format in the configuration"},
    {"unsupported-format", Configuration, Error,
     "octavo has no such format, so it can neither check nor convert the layer",
     "convert the layer with the tool that wrote it"},
    {"unapplied-tensor", Configuration, Warning,
     "the layer computes something other than codes times scales; readers that do not know the tensor are silently wrong",
     "use a reader that applies it; octavo neither reads nor converts the values of such a layer"},
    {"runtime-transform", Configuration, Warning,
     "the weights expect inputs or outputs that the reader transforms; without that they are a different model",
     "use a reader that applies it; octavo does not convert such a checkpoint"},
    {"configuration-mismatch", Configuration, Error,
     "readers follow the configuration: they refuse this layer or read it as another format",
     "correct the configuration, or rewrite it with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, with the layout it already has"},
    {"unquantized-layer", Configuration, Warning,
     "readers build a quantized layer here and look for scales that are not there",
     "add the module to the ignore list of the configuration"},
    {"ignored-layer-quantized", Configuration, Error,
     "readers take the codes of an ignored module for its values",
     "remove the module from the ignore list of the configuration"},
    {"ignore-matches-nothing", Configuration, Warning,
     "an ignore entry that matches no module is misspelled or meant for another model",
     "correct or remove the entry"},
    {"bad-pattern", Configuration, Warning,
     "octavo cannot tell which modules the entry names, and treats it as matching none",
     "correct the pattern; it is a Python regular expression"},
    {"bad-configuration", Configuration, Error,
     "readers refuse a configuration that they cannot read, or fall back to defaults",
     "correct the configuration, or rewrite it with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, with the layout it already has"},
    {"unsupported-layout", Configuration, Error,
     "octavo does not know where such a layout keeps its scales",
     "convert the checkpoint with the tool that wrote it, or say which layout its tensors have: `octavo checkpoint convert DIR -o OUT --from LAYOUT --layout LAYOUT`"},
    {"ambiguous-layout", Configuration, Warning,
     "readers rely on the configuration, and this one does not determine the layout",
     "rewrite the configuration with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, with the layout it already has"},
    {"interleaved-gate-up", Configuration, Note,
     "rows of gate and up alternate; octavo keeps that order",
     "nothing to do, unless the reader wants two halves"},
    {"no-configuration", Configuration, Warning,
     "readers take the codes for the weights themselves, or refuse them: nothing says that they are quantized",
     "write config.json with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, with the layout it already has, or copy it from the shards' source"},
    {"nothing-quantized", Configuration, Error,
     "readers build quantized layers and look for scales that are not there",
     "remove quantization_config, or get the shards that go with it"},
    {"unknown-configuration-key", Configuration, Warning,
     "compressed-tensors refuses to load a configuration with unknown keys",
     "remove the key, or move it out of quantization_config"},

    {"missing-scale", Scales, Error,
     "without its scale the weight is only codes; readers that go on load garbage",
     "export the checkpoint again, or put the scale back with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"missing-outer-scale", Scales, Error,
     "block scales are relative to the outer scale; without it every value is off by the same factor",
     "export the checkpoint again, or put the scale back with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"missing-input-scale", Scales, Warning,
     "the configuration promises static activation scales; readers use 1.0 or fail",
     "calibrate again, or declare the activations dynamic in the configuration"},
    {"unscaled-codes", Scales, Warning,
     "readers cast it to the dtype of the model: the coarse rounding stays, and values that were scaled first are wrong",
     "store it in the dtype of the model; octavo copies it as it is"},
    {"orphan-scale", Scales, Error,
     "a scale that belongs to no weight shows that a tensor was renamed, lost or left unquantized",
     "find the weight that it belonged to, or remove it"},
    {"scale-shape", Scales, Error,
     "a scale of another shape is applied to the wrong elements, or the reader refuses it",
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
     "scales are magnitudes: kernels that assume so flip or drop the sign",
     "negate the scale and the codes under it, or quantize the layer again"},
    {"subnormal-scale", Scales, Note,
     "hardware and readers that flush subnormals read 0; byte 0 of E8M0 is 2^-127, a subnormal of f32",
     "quantize the layer again if the values under it matter"},
    {"inverted-scale", Scales, Error,
     "read as the layout says, the weights are far too large; inverted, they are of normal size",
     "store the reciprocal, or use the name of a layout that divides"},
    {"implausible-scale", Scales, Warning,
     "no trained layer has weights of this size, whichever way the scale is read",
     "compare with the model before quantization (`octavo checkpoint diff`)"},
    {"input-scale-implausible", Scales, Warning,
     "no layer has inputs of this size: they are clipped, or lost in the smallest codes",
     "calibrate again; check whether the reciprocal was stored"},

    {"nan-code", Codes, Error,
     "a NaN in a weight makes every output of its row NaN",
     "quantize the layer again from a source without NaN"},
    {"inf-code", Codes, Error,
     "an infinite weight makes outputs infinite or NaN",
     "quantize the layer again, saturating"},
    {"negative-zero", Codes, Note,
     "where the bytes are read as FNUZ (MI300), the code of -0 is NaN",
     "nothing to do for readers that map 0x80 to 0 there, as vLLM does; other readers must do the same"},
    {"zero-weight", Codes, Warning,
     "every code of the weight is 0: the layer does nothing",
     "check whether the layer was ever initialized (`octavo checkpoint diff` with the source)"},

    {"clipped-range", Range, Warning,
     "more codes are at the largest value than a scale from the maximum would give: larger weights were clipped",
     "quantize the layer again with a scale from its maximum, or find out what clipped it"},
    {"wasted-range", Range, Warning,
     "the scale is too large: the largest codes stay unused and small weights lose precision",
     "quantize the layer again with a scale from its maximum"},

    {"fused-outer-scales-differ", Fused, Warning,
     "readers run these projections as one, with a single outer scale: they use one of them for all",
     "quantize the projections again with a shared outer scale: `octavo checkpoint dequantize DIR -o PLAIN && octavo checkpoint quantize PLAIN -o OUT --layout compressed-tensors --format nvfp4`"},
    {"fused-tensor-scales-differ", Fused, Note,
     "readers that run these projections as one requantize them to the largest scale, with a second rounding",
     "nothing to do, or repeat the scale for each row, which needs no second rounding: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors --format fp8_row`"},
    {"fused-input-scales-differ", Fused, Warning,
     "the projections share one input, and a reader that runs them as one uses one of the scales for all",
     "give them the largest: `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"fused-formats-differ", Fused, Error,
     "readers run these projections as one and refuse parts of different formats",
     "quantize all of them alike, or none"},

    {"kv-scale-dtype", KvCache, Error,
     "the scale of a key-value cache is one float, or one per head",
     "write it as F32"},
    {"kv-scales-disagree", KvCache, Error,
     "one scale has two names with different values, and which one counts depends on the reader",
     "find out which one was calibrated and remove the other, or store a new one with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-missing", KvCache, Warning,
     "readers fall back to 1.0: small keys and values lose precision",
     "calibrate, and store the scales with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-partial", KvCache, Error,
     "one of the pair falls back to 1.0, or loading fails",
     "add the other with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-outweighed", KvCache, Warning,
     "old readers use it for both keys and values, others use k_scale and v_scale: the cache depends on the reader",
     "remove it, or store the right one with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scheme-missing", KvCache, Warning,
     "readers that rely on the configuration keep the cache wide and do not use the scales",
     "rewrite the configuration with `octavo checkpoint convert DIR -o OUT --layout LAYOUT`, or ask the reader for an FP8 cache"},
    {"kv-side-file-unusable", KvCache, Warning,
     "a reader of this file uses scales other than the checkpoint's, or none",
     "remove it: readers then use the checkpoint's own scales"},
    {"kv-scale-deprecated-name", KvCache, Warning,
     "kv_scale is old vLLM's name of one scale for both keys and values; newer readers are dropping it",
     "write k_scale and v_scale: `octavo checkpoint scales extract DIR -o FILE && octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`"},
    {"kv-scale-implausible", KvCache, Warning,
     "times the format's maximum, it is not a plausible magnitude for keys or values",
     "calibrate again; check whether the reciprocal was stored"},

    {"kv-scales-default-to-one", Readers, Warning,
     "a missing cache scale defaults to 1.0, with a line in the log",
     "calibrate, and store the scales with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`",
     {Vllm}, "vLLM, quantization/kv_cache.py"},
    {"kv-value-scale-alone", Readers, Error,
     "loading a checkpoint with v_scale but no k_scale fails an assertion",
     "add k_scale with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`",
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
     "ModelOpt's own export for TensorRT-LLM has at least 1.0 here; its Hugging Face export, like this one, has amax/448",
     "compare outputs with an engine built from the other export",
     {TensorRtLlm}, "ModelOpt, export/quant_utils.py:get_kv_cache_scaling_factor"},
    {"e8m0-bytes-shifted", Readers, Error,
     "silently wrong: a scale byte is shifted into a bf16, so byte 0 becomes 0.0 (not 2^-127), which zeroes the block, and byte 255 becomes +Inf (not NaN)",
     "quantize the blocks again, with the amax bounded from below",
     {Vllm}, "vLLM, utils/mxfp8_utils.py:_cast_mxfp8_scales_to_bf16"},
    {"fused-weights-requantized", Readers, Warning,
     "silently changed: weights of fused projections are requantized to the largest of their scales",
     "repeat the scale for each row, which readers keep: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors --format fp8_row`",
     {Vllm}, "vLLM, utils/w8a8_utils.py:requantize_with_max_scale"},
    {"blocks-want-dynamic", Readers, Error,
     "weight_block_size with static activations is refused",
     "set activation_scheme to dynamic",
     {Vllm}, "vLLM, quantization/fp8.py"},
    {"quark-export-missing", Readers, Error,
     "a Quark configuration without export is refused",
     "rewrite the configuration with `octavo checkpoint convert DIR -o OUT --layout quark`",
     {Vllm}, "vLLM, quantization/quark/quark.py"},
    {"modelopt-algorithm-unknown", Readers, Error,
     "loading fails: the algorithm is not on the reader's list",
     "where octavo knows it, `octavo checkpoint convert DIR -o OUT --layout modelopt` writes one of: FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, NVFP4, W4A16_NVFP4, MXFP8, MIXED_PRECISION",
     {Vllm}, "vLLM, quantization/modelopt.py"},
    {"modelopt-inverse-name", Readers, Error,
     "the name is mapped to another parameter or to none, and loading fails",
     "`octavo checkpoint convert DIR -o OUT --layout modelopt` calls it weight_scale",
     {Vllm, Sglang}, "vLLM issue 54126; sglang PR 30234"},
    {"modelopt-input-scale-unset", Readers, Error,
     "silently wrong: activations are divided by the lowest f32, which stands in for the missing scale",
     "add the scale with `octavo checkpoint scales apply DIR --scales FILE --into-checkpoint`, or have them quantized as the model runs: `octavo checkpoint convert DIR -o OUT --layout fp8`",
     {Vllm}, "vLLM, quantization/modelopt.py:ModelOptFp8LinearMethod"},
    {"modelopt-excluded-by-substring", Readers, Error,
     "an entry that matches any part of a module's name excludes the module: it is built without quantization, with no place for its scales",
     "write whole names, or wildcards over whole names, in exclude_modules (ignore in config.json)",
     {Vllm}, "vLLM, quantization/modelopt.py:is_layer_excluded"},
    {"modelopt-ragged-blocks", Readers, Error,
     "weights whose sides are not multiples of 128 are refused",
     "`octavo checkpoint convert DIR -o OUT --layout modelopt --requantize --format fp8_row`",
     {Vllm}, "vLLM, quantization/modelopt.py:ModelOptFp8PbWoLinearMethod"},
    {"quantized-router", Readers, Warning,
     "most models build routers and gates of shared experts without quantization: their scales make loading fail, or are left out and the codes become the weights",
     "quantize the plain model again: `octavo checkpoint quantize` leaves routers plain",
     {Vllm}, "vLLM, models/qwen2_moe.py, models/mixtral.py"},
    {"no-scheme-for-format", Readers, Error,
     "loading fails: there is no scheme for weights of this format in this layout",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or with another supported format: fp8_block, mxfp4, nvfp4",
     {Vllm}, "vLLM, quantization/compressed_tensors/compressed_tensors.py, quantization/quark/quark.py"},
    {"quark-weights-alone", Readers, Error,
     "loading fails: FP8 weights need FP8 activations",
     "compressed-tensors works with wide activations: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors`; or quantize without --weight-only",
     {Vllm}, "vLLM, quantization/quark/quark.py:_is_fp8_w8a8"},
    {"octavo-method-unknown", Readers, Error,
     "loading fails: the method is not on the reader's list",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or with --layout quark",
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
     "safetensors has no torch type for F6 dtypes: loading fails",
     "layout quark stores them as U8: `octavo checkpoint convert DIR -o OUT --layout quark`",
     {Vllm, Transformers, Sglang}, "safetensors 0.8"},
    {"f4-odd-row", Readers, Error,
     "safetensors refuses to load F4 tensors with an odd last extent into torch",
     "export it again with rows of whole bytes",
     {Vllm, Transformers, Sglang}, "safetensors 0.8"},
    {"dtype-since-0.6", Readers, Note,
     "safetensors before 0.6.0 does not know the dtype",
     "use safetensors 0.6 or newer, or store the codes as U8: `octavo checkpoint convert DIR -o OUT --layout compressed-tensors`",
     {Vllm, Transformers, Sglang}, "safetensors, tensor.rs"},
    {"dtype-since-0.8", Readers, Warning,
     "safetensors before 0.8.0 does not know the dtype",
     "use safetensors 0.8 or newer",
     {Vllm, Transformers, Sglang}, "safetensors, tensor.rs"},
    {"ragged-blocks-misread", Readers, Error,
     "silently wrong: the block height is computed as rows / scale rows (120 instead of 128), so scales shift; likewise for columns",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"ragged-blocks-refused", Readers, Error,
     "loading fails: the rows are not a multiple of the scale rows, or the columns not a multiple of the scale columns",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"ragged-activations-stop", Readers, Error,
     "the weights load, but the first product fails: activations are quantized in groups of 128 columns",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or quantize the plain model with --weight-only",
     {Transformers}, "compressed-tensors 0.20, run on CPU"},
    {"ragged-groups-refused", Readers, Error,
     "loading fails: compressed-tensors needs whole groups in each row",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "compressed-tensors 0.20, quantization/lifecycle/forward_helpers.py:_process_group, run on CPU"},
    {"raw-codes-loaded", Readers, Error,
     "silently wrong: the codes are loaded as the weights, without their scales",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"stacked-experts-unread", Readers, Error,
     "silently wrong: the model has no place for stacked experts, and its experts keep random values",
     "quantize the plain model again, leaving the stacks plain; or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"matrices-as-blocks-unread", Readers, Error,
     "silently wrong: only experts.gate_up_proj and experts.down_proj are searched for blocks and scales; other layers keep random values",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or `octavo checkpoint convert DIR -o OUT --layout quark`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"quark-groups-stop", Readers, Error,
     "the weights load, but the first product fails: Quark runs FP8 only per tensor and per row",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format mxfp8_e4m3`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23 with Quark 0.13, run on CPU"},
    {"packed-rows-refused", Readers, Error,
     "loading fails: packed rows do not have the model's shape",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, run on CPU"},
    {"experts-outer-scales-dropped", Readers, Error,
     "silently wrong: experts that are separate modules are decompressed without weight_global_scale, and their weights are hundreds of times too large, or more",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format mxfp4`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, integrations/compressed_tensors.py:CompressedTensorsDequantize, run on CPU"},
    {"experts-blocks-stop", Readers, Error,
     "loading fails: codes of experts that are separate modules are multiplied by their scales as stored, which works only with one scale per tensor or per row",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23, integrations/compressed_tensors.py:CompressedTensorsDequantize, run on CPU"},
    {"quark-experts-unread", Readers, Error,
     "there is no place for scales of experts that are separate modules: FP8 codes are loaded as the weights, silently wrong, and packed ones make loading fail",
     "`octavo checkpoint convert DIR -o OUT --layout compressed-tensors --requantize --format fp8_row`, or `octavo checkpoint dequantize DIR -o OUT`",
     {Transformers}, "transformers 5.23 with Quark 0.13, run on CPU"},
    {"llama4-stacks-unread", Readers, Error,
     "silently wrong: with compressed-tensors the experts of Llama 4 are separate modules, so there is no place for stacks, and experts keep random values",
     "quantize the plain model again with --layout quark or deepseek, where the stacks stay stacks",
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
