// Plain tensors to layers of a layout; and layers to other layers where only their values are kept.
#pragma once

#include "octavo/Checkpoint/Jobs/AmaxMeasurement.h"
#include "octavo/Checkpoint/Jobs/LayerPlan.h"
#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Checkpoint/ValueRows.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include <tl/expected.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// Which tensors are quantized. Patterns are names of tensors or modules, shell wildcards over the
/// whole name, or `re:` and a regular expression matched from the start; a module's name stands for
/// all below it, too.
struct WeightChoice {
  std::vector<std::string> only = {}; ///< empty: all weights of Linear modules, as their names tell
  std::vector<std::string> ignore = {};
};

struct QuantizationChoice {
  const Layout* layout;
  const format::ScaledFormat* format; ///< that the layout spells
  numerics::QuantizeOptions options;
  const numerics::Preset* preset = nullptr; ///< whose options these are, if a preset's
  WeightChoice weights = {};
  Activations::Kind activations = Activations::Kind::Dynamic;
};

/// Plans a checkpoint whose Linear weights are layers of `choice`. Fused modules share scales as
/// amaxGroup has it. Errors: a format that the layout has with stored scales of activations alone;
/// a folder that is quantized already; no weight to quantize; a pattern that names nothing.
tl::expected<Rewrite, Error> planQuantization(const Folder& folder,
                                              const QuantizationChoice& choice, Json options);

/// The plan of a layer of this logical shape that is quantized to a format that `layout` spells; or
/// why there is none, as a clause: the layout cannot say it, or the owner of the preset (null:
/// none) does not quantize it. `scaleDtype` is as planLayer has it.
tl::expected<LayerPlan, std::string>
planQuantized(std::string_view module, std::string_view parameter,
              std::span<const std::int64_t> shape, const format::ScaledFormat& format,
              const Layout& layout, const SafetensorsDtype& scaleDtype,
              const numerics::Preset* preset);

/// The module of a plain tensor that readers take for a Linear's weight or for stacked experts, so
/// that configurations must say it is not quantized; nothing for other tensors, and for embeddings.
std::optional<std::string> quantizableModule(const StoredTensor& tensor);

/// Leaves in `choice.ignored` each module once, and none of which another parameter is quantized.
void settleIgnored(LayoutChoice& choice);

/// The group in which a tensor's one scale, or its outer scale, is measured. Fused modules share
/// scales of whole tensors: readers that run them as one have room for one such scale, and quantize
/// again where there are more. By a preset they share what its owner shares, and outer scales.
std::string amaxGroup(const format::ScaledFormat& format, std::string_view module,
                      std::string_view tensor, const numerics::Preset* preset = nullptr);

/// What is measured for scales that tensors share, by amaxGroup.
using SharedAmaxes = std::map<std::string, std::shared_ptr<AmaxMeasurement>>;

/// Whether steps that quantize measure what their values lose: that costs dequantizing them.
enum class ErrorReport : std::uint8_t { None, Measured };

/// A step that quantizes rows. Where the plan has an outer scale or one scale, they are added to
/// what is measured for their `group`.
std::unique_ptr<Step> quantizeStep(std::shared_ptr<const ValueRows> rows, LayerPlan plan,
                                   const numerics::QuantizeOptions& options,
                                   const std::string& group, SharedAmaxes& amaxes,
                                   ErrorReport report);

} // namespace octavo::checkpoint
