// Plans quantization: plain tensors to layers of a layout, and layers to other layers if only their
// values are kept.
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

/// Which tensors are quantized. A pattern is a name of a tensor or module with shell wildcards,
/// which must match the whole name. Or it is `re:` and a regular expression, which must match from
/// the start. The name of a module covers everything below it.
struct WeightChoice {
  std::vector<std::string> only = {}; ///< empty: all weights of Linear modules, recognized by name
  std::vector<std::string> ignore = {};
};

/// Options of quantize.
struct QuantizationChoice {
  const Layout* layout;
  const format::ScaledFormat* format; ///< must be one that the layout spells
  numerics::QuantizeOptions options;
  const numerics::Preset* preset = nullptr; ///< the preset of these options; null: none
  WeightChoice weights = {};
  Activations::Kind activations = Activations::Kind::Dynamic; ///< wanted
};

/// Plans a checkpoint whose Linear weights are quantized as `choice` states. Fused modules share
/// scales as amaxGroup determines. `options` identify the job (Job::options). Errors: a format that
/// the layout only has with stored activation scales; a folder that is quantized already; no weight
/// to quantize; a pattern that matches nothing.
tl::expected<Rewrite, Error> planQuantization(const Folder& folder,
                                              const QuantizationChoice& choice, Json options);

/// The plan of a layer of this logical shape that is quantized to a format that `layout` spells. Or
/// why there is none, as a clause: the layout cannot express it, or the library of the preset
/// (null: none) does not quantize such a layer. `scaleDtype`: see planLayer.
tl::expected<LayerPlan, std::string>
planQuantized(std::string_view module, std::string_view parameter,
              std::span<const std::int64_t> shape, const format::ScaledFormat& format,
              const Layout& layout, const SafetensorsDtype& scaleDtype,
              const numerics::Preset* preset);

/// The module of a plain tensor that readers take for the weight of a Linear or for stacked
/// experts; configurations must list it as not quantized. nullopt for other tensors and for
/// embeddings.
std::optional<std::string> quantizableModule(const StoredTensor& tensor);

/// Removes duplicates from `choice.ignored`, and modules of which another parameter is quantized.
void settleIgnored(LayoutChoice& choice);

/// The group of tensors that share an amax, for the scale of a whole tensor or the outer scale.
/// Fused modules share such a scale: readers that run them as one product have room for one, and
/// requantize if there are several. With a preset, scales of whole tensors are shared only if the
/// preset's library shares them; outer scales always.
std::string amaxGroup(const format::ScaledFormat& format, std::string_view module,
                      std::string_view tensor, const numerics::Preset* preset = nullptr);

/// Amaxes of shared scales, by amaxGroup.
using SharedAmaxes = std::map<std::string, std::shared_ptr<AmaxMeasurement>>;

/// Whether quantizing steps measure the error. That costs dequantizing the values.
enum class ErrorReport : std::uint8_t { None, Measured };

/// A step that quantizes `rows`. If the plan has an outer scale or a single scale, adds the rows to
/// the amax of `group` in `amaxes`.
std::unique_ptr<Step> quantizeStep(std::shared_ptr<const ValueRows> rows, LayerPlan plan,
                                   const numerics::QuantizeOptions& options,
                                   const std::string& group, SharedAmaxes& amaxes,
                                   ErrorReport report);

} // namespace octavo::checkpoint
