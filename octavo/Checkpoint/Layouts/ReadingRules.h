// What reading a layout can find: one row a rule, with why it matters and what to do about it.
#pragma once

#include "octavo/Checkpoint/Finding.h"

#include <array>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

struct ReadingRule {
  std::string_view name;
  Severity severity;
  std::string_view why;
  std::string_view fix;
};

// clang-format off
inline constexpr auto kReadingRules = std::to_array<ReadingRule>({
    {"missing-scale", Severity::Error,
     "without its scale the weight is codes, not values; readers that go on load garbage",
     "export the checkpoint again, or put the scale back with `octavo checkpoint scales apply`"},
    {"missing-outer-scale", Severity::Error,
     "block scales are relative to the outer scale; without it every value is off by one factor",
     "export the checkpoint again, or put the scale back with `octavo checkpoint scales apply`"},
    {"missing-input-scale", Severity::Warning,
     "the configuration promises static activation scales; readers take 1.0 or fail",
     "calibrate again, or say that activations are dynamic in the configuration"},
    {"unscaled-codes", Severity::Warning,
     "readers cast it to the dtype of the model: what was rounded so coarsely stays so, and what was scaled first is wrong",
     "store it in the dtype of the model; octavo copies it as it is"},
    {"orphan-scale", Severity::Error,
     "a scale that belongs to no weight shows that a tensor was renamed, lost or left unquantized",
     "find the weight that it belonged to, or remove it"},
    {"other-spelling", Severity::Warning,
     "readers of this layout look for the scale under another name, and some load without it",
     "rename the tensors with `octavo checkpoint convert`"},
    {"scale-shape", Severity::Error,
     "a scale of another shape is spread over the wrong elements, or the reader refuses it",
     "export the layer again"},
    {"scale-dtype", Severity::Error,
     "scales of another dtype are read as other numbers",
     "export the layer again; E8M0 scales are U8 or F8_E8M0, E4M3 scales F8_E4M3, the others F32, BF16 or F16"},
    {"element-shape", Severity::Error,
     "elements that do not fill rows of the weight cannot be placed",
     "export the layer again"},
    {"ambiguous-format", Severity::Error,
     "names, dtypes and shapes fit two formats that read the same bytes as different values",
     "name the format in the configuration"},
    {"unsupported-format", Severity::Error,
     "octavo has no such format, so it can neither check nor convert the layer",
     "convert the layer with the tool that wrote it"},
    {"unapplied-tensor", Severity::Warning,
     "the layer computes something else than codes times scales; readers that do not know the tensor are wrong in silence",
     "use a reader that applies it; octavo reads no values of such a layer, and converts it with none"},
    {"runtime-transform", Severity::Warning,
     "the weights are for inputs or outputs that the reader transforms; without that they are another model's",
     "use a reader that applies it; octavo converts no such checkpoint"},
    {"configuration-mismatch", Severity::Error,
     "readers follow the configuration: they refuse this layer or read it as another format",
     "correct the configuration, or write it anew with `octavo checkpoint convert`"},
    {"unquantized-layer", Severity::Warning,
     "readers build a quantized layer here and look for scales that are not there",
     "add the module to the ignore list of the configuration"},
    {"ignored-layer-quantized", Severity::Error,
     "readers take the codes of an ignored module for its values",
     "remove the module from the ignore list of the configuration"},
    {"ignore-matches-nothing", Severity::Warning,
     "an ignore entry that matches no module is misspelt, or meant for another model",
     "correct or remove the entry"},
    {"bad-pattern", Severity::Warning,
     "octavo cannot tell which modules the entry names, so it takes it to name none",
     "correct the pattern: expressions are Python's"},
    {"bad-configuration", Severity::Error,
     "readers refuse a configuration that they cannot read, or go by its defaults",
     "correct the configuration, or write it anew with `octavo checkpoint convert`"},
    {"unsupported-layout", Severity::Error,
     "octavo does not know where such a layout keeps its scales",
     "convert the checkpoint with the tool that wrote it"},
    {"ambiguous-layout", Severity::Warning,
     "readers go by the configuration, and this one does not settle the layout",
     "write the configuration anew with `octavo checkpoint convert --layout`"},
    {"kv-scale-dtype", Severity::Error,
     "the scale of a key-value cache is one float number, or one a head",
     "write it as F32"},
    {"kv-scales-disagree", Severity::Error,
     "two names of one scale, and which of the two values counts depends on the reader",
     "find out which one was calibrated and remove the other, or put a new one in with `octavo checkpoint scales apply`"},
    {"interleaved-gate-up", Severity::Note,
     "rows of gate and up alternate; octavo keeps that order",
     "nothing to do, unless the reader wants two halves"},
});
// clang-format on

/// A finding of the rule of that name; an unknown name does not compile.
class ReadingRuleName {
public:
  consteval ReadingRuleName(const char* name) : row(nullptr) {
    for (const ReadingRule& rule : kReadingRules)
      if (rule.name == name)
        row = &rule;
    if (!row)
      throw "no such rule";
  }
  const ReadingRule& rule() const { return *row; }

private:
  const ReadingRule* row;
};

inline Finding finding(ReadingRuleName name, std::string file, std::string tensor,
                       std::string what) {
  const ReadingRule& rule = name.rule();
  return {std::string(rule.name), rule.severity,         std::move(file),      std::move(tensor),
          std::move(what),        std::string(rule.why), std::string(rule.fix)};
}

} // namespace octavo::checkpoint
