#include "octavo/Checkpoint/Lint/LintRules.h"

#include "octavo/Checkpoint/Layouts/ReadingRules.h"
#include "octavo/Checkpoint/Lint/LintReaders.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <vector>

namespace octavo::checkpoint {

namespace {

using enum LintFamily;
using enum Severity;

// clang-format off
constexpr auto kRules = std::to_array<LintRule>({
    {"missing-shard", Files, Error, "its tensors are not there", "copy or download it again"},
    {"torn-shard", Files, Error, "its tensors cannot be read: the file was cut short or is not a safetensors file",
     "copy or download it again"},
    {"unfinished-job", Files, Error, "shards, the index or the configuration may not be there yet",
     "run the command of octavo that was writing here again, to its end"},
    {"extra-shard", Files, Warning, "some readers load every safetensors file of a folder, others the index's alone",
     "move it elsewhere, or add it to the index"},
    {"bad-index", Files, Error, "the index says where each tensor lies", "copy or download it again"},
    {"outside-folder", Files, Error, "a checkpoint from elsewhere could have any file of this machine read",
     "mend the index; do not use it if you do not trust its origin"},
    {"missing-tensor", Files, Error, "a reader will refuse it or leave the weight as it was made",
     "copy or download its shard again"},
    {"misplaced-tensor", Files, Error, "readers that go by the index do not find it", "mend the index"},
    {"unlisted-tensor", Files, Warning, "readers that go by the index do not load it",
     "add it to the index, or remove it"},
    {"duplicate-tensor", Files, Error, "readers disagree on which counts", "remove one"},
    {"unreadable-config", Files, Error, "readers go by the configuration", "mend the JSON, or copy the file again"},
    {"index-total-size", Files, Note, "tools that plan memory by metadata.total_size plan for another size",
     "write the index anew"},

    {"no-configuration", Configuration, Warning,
     "readers take the codes for the weights themselves, or refuse them: nothing says that they are quantized",
     "write config.json with `octavo checkpoint convert`, or copy it from where the shards are from"},
    {"nothing-quantized", Configuration, Error,
     "readers build quantized layers and look for scales that are not there",
     "remove quantization_config, or get the shards that go with it"},
    {"unknown-configuration-key", Configuration, Warning,
     "compressed-tensors refuses keys that it does not know, and the load with them",
     "remove the key, or move it out of quantization_config"},

    {"zero-scale", Scales, Error, "every value under it is 0, whatever its code",
     "quantize the layer again"},
    {"zero-scale-of-zeros", Scales, Note,
     "the block's codes are 0 as well, so no value is lost (Transformer Engine writes such blocks)",
     "nothing to do, unless a reader divides by the scale"},
    {"nan-scale", Scales, Error, "every value under it is NaN, and so is every sum that it enters",
     "quantize the layer again from a source without NaN"},
    {"inf-scale", Scales, Error, "every value under it is infinite, or NaN where the code is 0",
     "quantize the layer again from a source without infinities"},
    {"negative-scale", Scales, Error, "scales are magnitudes: kernels that take them so flip or drop the sign",
     "negate the scale and the codes under it, or quantize the layer again"},
    {"subnormal-scale", Scales, Note,
     "hardware and readers that flush subnormals read 0; byte 0 of E8M0 is 2^-127, a subnormal of f32",
     "quantize the layer again if the values under it matter"},
    {"inverted-scale", Scales, Error,
     "read as the layout has it, the weights are far too large; the other way round they are as weights are",
     "store the reciprocal, or name the tensor as the layout that divides does"},
    {"implausible-scale", Scales, Warning, "no trained layer has weights of this size, whichever way the scale is read",
     "compare with the model before quantization (`octavo checkpoint diff`)"},
    {"input-scale-implausible", Scales, Warning, "no layer has inputs of this size: they are cut off, or lost in the smallest codes",
     "calibrate again; see whether the reciprocal was stored"},

    {"nan-code", Codes, Error, "a NaN in a weight makes every output of its row NaN",
     "quantize the layer again from a source without NaN"},
    {"inf-code", Codes, Error, "an infinite weight makes outputs infinite or NaN",
     "quantize the layer again, saturating"},
    {"negative-zero", Codes, Note, "where the bytes are taken for FNUZ (MI300), the code of -0 is NaN",
     "nothing to do for readers that map 0x80 to 0 there, as vLLM does; others have to learn it"},
    {"zero-weight", Codes, Warning, "every code of the weight is 0: the layer does nothing",
     "see whether the layer was ever filled (`octavo checkpoint diff` with the source)"},

    {"clipped-range", Range, Warning,
     "more codes are at the largest value than a scale from the maximum gives: larger weights were cut off",
     "quantize the layer again with a scale from its maximum, or see what cut it off"},
    {"wasted-range", Range, Warning,
     "the scale is too large: the largest codes stay unused and small weights lose their bits",
     "quantize the layer again with a scale from its maximum"},

    {"fused-outer-scales-differ", Fused, Warning,
     "readers run these projections as one and have room for one outer scale: they take one of them for all",
     "quantize the projections with a shared outer scale (`octavo checkpoint quantize`)"},
    {"fused-tensor-scales-differ", Fused, Note,
     "readers that run these projections as one quantize them again to the largest scale, with a second rounding",
     "nothing to do, or quantize with a scale per row, which needs no second rounding"},
    {"fused-input-scales-differ", Fused, Warning,
     "the projections have one input, and a reader that runs them as one takes one of the scales for all",
     "give them the largest (`octavo checkpoint scales apply`)"},
    {"fused-formats-differ", Fused, Error,
     "readers run these projections as one and refuse parts of different formats",
     "quantize all of them alike, or none"},

    {"kv-scale-missing", KvCache, Warning, "readers fall back to 1.0: small keys and values lose their bits",
     "calibrate, and put the scales in with `octavo checkpoint scales apply`"},
    {"kv-scale-partial", KvCache, Error, "one of the pair falls back to 1.0, or the load stops",
     "put the other in with `octavo checkpoint scales apply`"},
    {"kv-scale-deprecated-name", KvCache, Warning,
     "kv_scale is the name of old vLLM: one scale for keys and values both; newer readers drop the name",
     "write k_scale and v_scale (`octavo checkpoint scales extract`, then `apply`)"},
    {"kv-scale-implausible", KvCache, Warning,
     "times the format's maximum, it is not a plausible magnitude for keys or values",
     "calibrate again; see whether the reciprocal was stored"},
});
// clang-format on

/// The family of what reading a layout finds, by the rule's name.
LintFamily readingFamily(std::string_view name) {
  if (name.starts_with("kv-"))
    return KvCache;
  if (name.find("scale") != name.npos)
    return Scales;
  return Configuration;
}

/// All rules, in the order of families; within one, first what reading a layout finds.
std::vector<LintRule> collect() {
  std::vector<LintRule> rules;
  for (LintFamily family : {Files, Configuration, Scales, Codes, Range, Fused, KvCache}) {
    for (const ReadingRule& row : kReadingRules)
      if (readingFamily(row.name) == family)
        rules.push_back({row.name, family, row.severity, row.why, row.fix});
    std::ranges::copy_if(kRules, std::back_inserter(rules),
                         [&](const LintRule& rule) { return rule.family == family; });
  }
  for (const ReaderRule& row : readerRules())
    rules.push_back({row.name, LintFamily::Readers, row.severity, row.happens, row.fix});
  return rules;
}

} // namespace

std::string_view lintFamilyName(LintFamily family) {
  switch (family) {
  case Files:
    return "files";
  case Configuration:
    return "configuration";
  case Scales:
    return "scales";
  case Codes:
    return "codes";
  case Range:
    return "range";
  case Fused:
    return "fused projections";
  case KvCache:
    return "key-value cache";
  case Readers:
    return "readers";
  }
  return "";
}

std::string_view severityName(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  }
  return "";
}

std::span<const LintRule> lintRules() {
  static const std::vector<LintRule> kAll = collect();
  return kAll;
}

const LintRule* findLintRule(std::string_view name) {
  const std::span<const LintRule> rules = lintRules();
  const auto found = std::ranges::find(rules, name, &LintRule::name);
  return found == rules.end() ? nullptr : &*found;
}

Finding lintFinding(std::string_view name, std::string file, std::string tensor, std::string what) {
  const LintRule* rule = findLintRule(name);
  assert(rule);
  return {std::string(rule->name), rule->severity,         std::move(file),       std::move(tensor),
          std::move(what),         std::string(rule->why), std::string(rule->fix)};
}

} // namespace octavo::checkpoint
