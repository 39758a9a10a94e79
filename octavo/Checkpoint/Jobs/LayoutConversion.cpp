#include "octavo/Checkpoint/Jobs/LayoutConversion.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Jobs/ExactRecast.h"
#include "octavo/Checkpoint/Jobs/Quantization.h"
#include "octavo/Checkpoint/Jobs/Respelling.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/ScaleCheck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace octavo::checkpoint {

namespace {

class ConversionPlanner : RewritePlanner {
public:
  /// `wide`: layers whose input scales are not written, because the new configuration does not
  /// declare their activations static.
  ConversionPlanner(const Folder& folder, const ConversionChoice& choice,
                    const std::set<std::string>& wide)
      : RewritePlanner(folder), choice(choice), wide(wide) {}

  tl::expected<Rewrite, Error> plan(Json options) {
    auto placed =
        read(*choice.from, choice.allowed, UnreadParts::Refused)
            .and_then([&] { return checkScales(); })
            .and_then([&] { return measureGroups(inventory()); })
            .and_then([&] { return forLayers([&](const auto& reader) { return place(reader); }); });
    if (!placed)
      return tl::unexpected(std::move(placed.error()));
    if (!refused.empty())
      return tl::unexpected(refusal());
    if (inventory().layers.empty())
      return tl::unexpected(
          Error{.file = folder.path().string(),
                .problem = fmt::format("has no quantized layers in layout {}", choice.from->name()),
                .fix = "octavo checkpoint quantize quantizes plain weights"});
    dropIdle();
    for (const KvScales& kv : inventory().kvScales)
      if (auto kvPlaced = placeKvScales(kv); !kvPlaced)
        return tl::unexpected(std::move(kvPlaced.error()));
    for (const StoredTensor& tensor : inventory().plain)
      if (std::optional<std::string> module = quantizableModule(tensor))
        configured.ignored.push_back(std::move(*module));
    noteKvScales();
    dropLeakedState();
    if (!roundedDivisors.empty())
      rewrite.notes.push_back(checkpoint::roundedDivisors(roundedDivisors));
    settleIgnored(configured);
    noteDroppedInputs();
    settleActivations();
    return misplaced.empty() ? finish(std::move(options), *choice.to, configured)
                             : finish(std::move(options));
  }

  /// Layers whose input scale the plan writes although its configuration does not mention it: plan
  /// again with these as `wide`.
  const std::set<std::string>& misplacedInputs() const { return misplaced; }

private:
  /// Checks all scales except scales of blocks, which are checked when they are read.
  tl::expected<void, Error> checkScales() {
    for (const Layer& layer : inventory().layers) {
      if (auto sure = checkOuterScale(layer, choice.allowed); !sure)
        return sure;
      if (layer.inputScale)
        if (auto sure = checkRunTimeNumbers(*layer.inputScale, choice.allowed); !sure)
          return sure;
    }
    for (const KvScales& kv : inventory().kvScales)
      for (const auto& [role, part] : scalesOf(kv))
        if (auto sure = checkRunTimeNumbers(*part, choice.allowed); !sure)
          return sure;
    return {};
  }

  tl::expected<void, Error> place(const LayerReader& reader) {
    const Layer& layer = reader.layer();
    const auto rowFound = rowOf(layer);
    if (!rowFound)
      return tl::unexpected(rowFound.error());
    const format::ScaledFormat* row = *rowFound;
    const format::ScaledFormat* wanted = choice.format ? choice.format : row;
    auto plan = wanted == row ? respelling(layer, row) : recast(reader, row);
    if (plan) {
      if (layer.inputScale && !plan->input)
        droppedInputs.push_back(&layer);
      const auto isRounded = wanted == row ? roundsDivisor(*plan, layer) : false;
      if (!isRounded)
        return tl::unexpected(isRounded.error());
      configureLayer(layer, wanted, plan->input.has_value(),
                     wanted == row ? Values::Kept : Values::Recast);
      if (*isRounded)
        roundedDivisors.push_back(layer.name);
      auto step = wanted == row ? respellStep(reader, std::move(*plan), choice.allowed)
                                : recastStep(reader, std::move(*plan));
      if (!step)
        return tl::unexpected(std::move(step.error()));
      replace(layer, wanted->name, std::move(*step)).accuracy =
          *isRounded ? Accuracy::RoundedDivisor : Accuracy::Exact;
    } else if (choice.requantization) {
      const format::ScaledFormat& format = *choice.format;
      auto anew = planQuantized(layer.name, layer.parameter, layer.shape, format, *choice.to,
                                scaleDtype(layer), choice.requantization->preset);
      if (!anew) {
        refuse(layer, anew.error(), &format);
        return {};
      }
      if (layer.inputScale)
        droppedInputs.push_back(&layer);
      configureLayer(layer, &format, false, Values::Anew);
      replace(layer, format.name,
              quantizeStep(
                  checkedRows(reader, choice.allowed), std::move(*anew), anewOptions(),
                  amaxGroup(format, layer.name, plainName(layer), choice.requantization->preset),
                  amaxes, ErrorReport::Measured))
          .accuracy = Accuracy::Requantized;
    } else {
      refuse(layer, plan.error(), wanted);
    }
    return {};
  }

  /// As for `quantize`: a divisor is stored as it was computed, and codes are rounded under the
  /// inverse that readers compute from it.
  numerics::QuantizeOptions anewOptions() const {
    numerics::QuantizeOptions options = choice.requantization->options;
    if (choice.to->spelling(choice.format->name)->outer.meaning == Meaning::Divides &&
        options.outer == numerics::OuterForm::Quotient)
      options.outer = numerics::OuterForm::Inverse;
    return options;
  }

  /// The row of a layer's format. If there is none, a row with the same element and block in which
  /// the layer's scales are exact: DeepSeek's blocks with E8M0 scales, or NVFP4 without an outer
  /// scale, which is 1. Null if there is none. Errors: reading the file.
  static tl::expected<const format::ScaledFormat*, Error> rowOf(const Layer& layer) {
    if (layer.format || !layer.scales)
      return layer.format;
    for (const format::ScaledFormat& row : format::kScaledFormats) {
      if (*row.element != *layer.type.element || (layer.type.hasOuterScale && !row.hasOuterScale) ||
          format::blockShape(row, layer.shape, static_cast<int>(layer.shape.size()) - 1) !=
              layer.type.block)
        continue;
      const auto exact = exactly(*layer.scales, *row.scale);
      if (!exact)
        return tl::unexpected(exact.error());
      if (*exact)
        return &row;
    }
    return nullptr;
  }

  /// The plan of the layer in the new layout, in its own format; or why there is none.
  tl::expected<LayerPlan, std::string> respelling(const Layer& layer,
                                                  const format::ScaledFormat* format) const {
    const LayerSpelling* spelling =
        format ? choice.to->spelling(format->name, layer.shape.size()) : nullptr;
    if (!spelling)
      return tl::unexpected(
          fmt::format("layout {} cannot store {}", choice.to->name(), formatName(layer)));
    auto plan = planLayer(
        layer.name, layer.parameter, layer.shape, *format, *spelling, scaleDtype(layer),
        layer.inputScale && !wide.contains(layer.name) ? WithInputScale::Yes : WithInputScale::No);
    if (!plan)
      return plan;
    if (*layer.scales->format != *plan->type.scale) {
      const auto exact = exactly(*layer.scales, *plan->type.scale);
      if (!exact)
        return tl::unexpected(exact.error().message());
      if (!*exact)
        return tl::unexpected(fmt::format("its scales are not exact in {}",
                                          plan->tensors[LayerPlan::kScales].dtype->name));
    }
    if (layer.outer)
      shapeAs(*plan, plan->outer, *layer.outer);
    if (layer.inputScale)
      shapeAs(*plan, plan->input, *layer.inputScale);
    return plan;
  }

  /// Whether a static scale of FP8 inputs has the same meaning beside both formats: both have one
  /// level of float scales and the same elements.
  static bool keepsInputs(const format::ScaledFormat* from, const format::ScaledFormat& to) {
    return from && !from->scale->isNarrow() && !to.scale->isNarrow() &&
           *from->element == *to.element;
  }

  /// The plan of the layer in the wanted format if that format can express its values; or why it
  /// cannot. For layers in another format.
  tl::expected<LayerPlan, std::string> recast(const LayerReader& reader,
                                              const format::ScaledFormat* row) {
    const Layer& layer = reader.layer();
    const format::ScaledFormat& format = *choice.format;
    const LayerSpelling& spelling = *choice.to->spelling(format.name, layer.shape.size());
    const bool withInput =
        layer.inputScale && keepsInputs(row, format) && !wide.contains(layer.name);
    std::string why;
    // If the layout leaves the scales' dtype open, use the model's dtype if it holds them, else
    // F32.
    for (const SafetensorsDtype* dtype :
         {&modelDtype(folder.config()), &plainDtype(kernels::WideType::F32)}) {
      auto plan = planLayer(layer.name, layer.parameter, layer.shape, format, spelling, *dtype,
                            withInput ? WithInputScale::Yes : WithInputScale::No);
      if (!plan)
        return plan;
      const std::string group = amaxGroup(format, layer.name, plainName(layer));
      if (plan->outer && inexactGroups.contains(group))
        return tl::unexpected(inexactGroups.at(group));
      const auto inexact = whyInexact(reader, *plan, outerOf(*plan, group));
      if (!inexact)
        return tl::unexpected(inexact.error().message());
      if (!*inexact) {
        if (plan->input)
          shapeAs(*plan, plan->input, *layer.inputScale);
        return plan;
      }
      why = fmt::format("its values are not exact in {}: {}", format.name, **inexact);
    }
    return tl::unexpected(std::move(why));
  }

  float outerOf(const LayerPlan& plan, const std::string& group) const {
    return plan.outer && mostExponents.contains(group)
               ? outerFor(*plan.type.scale, mostExponents.at(group))
               : 1.0f;
  }

  /// Finds, for groups of layers that share an outer scale in the wanted format, the largest scale.
  /// Also finds groups with a member that is not exact: these are quantized again as a whole, under
  /// one outer scale.
  tl::expected<void, Error> measureGroups(const Inventory& inventory) {
    if (!choice.format || !choice.format->hasOuterScale)
      return {};
    struct Member {
      LayerReader reader;
      const format::ScaledFormat* row;
      std::string group;
    };
    std::vector<Member> members; // layers in other formats
    for (const Layer& layer : inventory.layers) {
      const auto row = rowOf(layer);
      if (!row)
        return tl::unexpected(row.error());
      if (const auto reader = LayerReader::open(layer); reader && *row != choice.format)
        members.push_back({*reader, *row, amaxGroup(*choice.format, layer.name, plainName(layer))});
    }
    for (const Member& member : members) {
      const auto found = scaleExponents(member.reader);
      if (!found)
        return tl::unexpected(found.error());
      if (!*found)
        continue;
      const auto [most, isNew] = mostExponents.emplace(member.group, (*found)->most);
      most->second = std::max(most->second, (*found)->most);
    }
    std::map<std::string, std::string> inexact;
    for (const Member& member : members)
      if (const auto plan = recast(member.reader, member.row); !plan)
        inexact.emplace(member.group, plan.error());
    inexactGroups = std::move(inexact);
    return {};
  }

  tl::expected<std::unique_ptr<Step>, Error> recastStep(const LayerReader& reader,
                                                        LayerPlan plan) const {
    const Layer& layer = reader.layer();
    const float outer = outerOf(plan, amaxGroup(*choice.format, layer.name, plainName(layer)));
    std::vector<float> input;
    if (plan.input) {
      auto numbers = respelled(*layer.inputScale, plan.inputMeaning);
      if (!numbers)
        return tl::unexpected(std::move(numbers.error()));
      input = std::move(*numbers);
    }
    return checkpoint::recastStep(reader, std::move(plan), outer, std::move(input), choice.allowed);
  }

  /// Keeps one number for each expert if the source has that.
  static void shapeAs(LayerPlan& plan, std::optional<std::size_t> output, const Part& part) {
    if (const std::int64_t count = numerics::elementCount(part.tensor.entry->shape);
        output && count != 1)
      plan.tensors[*output].shape = {count};
  }

  /// The dtype of scales if the layout leaves it open: the model's, if it holds all scales of the
  /// layer.
  const SafetensorsDtype& scaleDtype(const Layer& layer) const {
    const SafetensorsDtype& stored = *layer.scales->tensor.entry->dtype;
    const SafetensorsDtype& model = modelDtype(folder.config());
    // If the scales cannot be read, the step that copies them reports the error.
    const auto exact = exactly(*layer.scales, model.type->format());
    return wideType(stored) && !(exact && *exact) ? stored : model;
  }

  /// Whether the outer scale of a plan in another spelling differs from the layer's after rounding.
  /// Errors: reading the file.
  static tl::expected<bool, Error> roundsDivisor(const LayerPlan& plan, const Layer& layer) {
    if (!plan.outer || !layer.outer)
      return false;
    const auto before = multipliers(*layer.outer);
    auto after = respelled(*layer.outer, plan.outerMeaning);
    if (!before || !after)
      return tl::unexpected((before ? after : before).error());
    if (plan.outerMeaning == Meaning::Divides)
      for (float& number : *after)
        number = 1.0f / number;
    return *before != *after ||
           (layer.outer->meaning == Meaning::Divides && plan.outerMeaning == Meaning::Multiplies &&
            !comesBack(*layer.outer));
  }

  /// Whether converting each divisor to a multiplier and back gives the same divisor. Several
  /// divisors may have the same rounded inverse, and only one of them is restored.
  static bool comesBack(const Part& part) {
    const auto inverses = multipliers(part);
    Part as = part;
    as.meaning = Meaning::Multiplies;
    const auto divisors = multipliers(as);
    return inverses && divisors &&
           std::ranges::equal(*inverses, *divisors, [](float inverse, float divisor) {
             return stored(inverse, Meaning::Divides) == divisor || std::isnan(divisor);
           });
  }

  /// What happens to a layer's values. Kept: in its own format, and activations stay. Recast, Anew:
  /// in another format, and activations follow that format.
  enum class Values : std::uint8_t { Kept, Recast, Anew };

  void configureLayer(const Layer& layer, const format::ScaledFormat* format, bool hasInput,
                      Values values) {
    const Activations::Kind kind = hasInput ? Activations::Kind::Static
                                   : layer.activations.kind == Activations::Kind::None
                                       ? Activations::Kind::None
                                       : Activations::Kind::Dynamic;
    Activations wanted = activationsFor(format->name, kind);
    if (values == Values::Kept && kind != Activations::Kind::None && layer.activations.format)
      wanted.format = layer.activations.format;
    configured.layers.push_back({layer.name, format, wanted});
    configuredFrom.push_back({&layer, values, hasInput});
  }

  static std::string nounOf(const Activations& activations) {
    return activations.kind == Activations::Kind::None ? "wide ones" : activationsText(activations);
  }

  /// Determines what the new configuration can state about activations, and notes changes.
  void settleActivations() {
    const std::vector<ChosenLayer> wanted = configured.layers;
    choice.to->settleActivations(configured.layers);
    std::map<std::string, std::vector<std::string_view>> changes;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& [layer, values, hasInput] = configuredFrom[i];
      const Activations& said = configured.layers[i].activations;
      if (hasInput && said.kind != Activations::Kind::Static)
        misplaced.insert(layer->name);
      // A static kind that lost its scale is reported with the scales.
      const bool isDynamicNow = !hasInput && areAlike(wanted[i].activations, said);
      // With another format, activations change to match; only a change between quantized and wide
      // is noted.
      const bool isOther = values == Values::Kept
                               ? !areAlike(layer->activations, said)
                               : (layer->activations.kind == Activations::Kind::None) !=
                                     (said.kind == Activations::Kind::None);
      if (isOther && !(layer->inputScale && isDynamicNow))
        changes[fmt::format("{} become {}", nounOf(layer->activations), nounOf(said))].push_back(
            layer->name);
    }
    for (const auto& [change, layers] : changes)
      rewrite.notes.push_back(
          finding("activations-change", "config.json", "",
                  fmt::format("activations of {} layers change in layout {}: {}; the first is {}",
                              layers.size(), choice.to->name(), change, layers.front())));
  }

  /// Sets what the configuration states about cache scales. Notes if it cannot state that there is
  /// one scale a head.
  void noteKvScales() {
    configured.kvScales = !inventory().kvScales.empty();
    const Part* perHead = nullptr;
    for (const KvScales& kv : inventory().kvScales)
      for (const std::optional<Part>* part : {&kv.key, &kv.value})
        if (*part && numerics::elementCount((*part)->tensor.entry->shape) > 1)
          perHead = perHead ? perHead : &**part;
    configured.kvScalesPerHead = perHead != nullptr;
    if (perHead && !saysHeads(*choice.to))
      rewrite.notes.push_back(finding(
          "kv-scale-per-head", perHead->tensor.shard->name(), perHead->tensor.name(),
          fmt::format("{} scales, one a head: layout {} cannot say so",
                      numerics::elementCount(perHead->tensor.entry->shape), choice.to->name())));
  }

  void noteDroppedInputs() {
    if (droppedInputs.empty())
      return;
    const Part& first = *droppedInputs.front()->inputScale;
    rewrite.notes.push_back(finding(
        "dropped-input-scale", first.tensor.shard->name(), first.tensor.name(),
        fmt::format("this activation scale{} not in the output: layout {} has no place for it "
                    "beside such weights",
                    droppedInputs.size() == 1
                        ? " is"
                        : fmt::format(" and {} more are", droppedInputs.size() - 1),
                    choice.to->name())));
  }

  tl::expected<void, Error> placeKvScales(const KvScales& kv) {
    const KvSpelling spelling = choice.to->kvSpelling();
    const std::pair<const std::optional<Part>*, std::string_view> parts[] = {
        {&kv.key, spelling.key},
        {&kv.value, spelling.value},
        {&kv.query, spelling.query},
        {&kv.probability, spelling.probability}};
    for (const auto& [role, part] : scalesOf(kv))
      drop(part->tensor);
    for (const auto& [part, name] : parts) {
      if (!*part)
        continue;
      const StoredTensor& tensor = (*part)->tensor;
      const SafetensorsDtype* dtype =
          spelling.dtype.empty() ? tensor.entry->dtype : findSafetensorsDtype(spelling.dtype);
      std::optional<std::vector<std::byte>> bytes;
      if (dtype->type && dtype->type->isFloat()) {
        auto exact = exactly(**part, dtype->type->format());
        if (!exact)
          return tl::unexpected(std::move(exact.error()));
        bytes = std::move(*exact);
      }
      if (!bytes) { // scales that the layout's dtype cannot hold keep their dtype
        dtype = tensor.entry->dtype;
        auto stored = tensor.bytes();
        if (!stored)
          return tl::unexpected(std::move(stored.error()));
        bytes = std::move(*stored);
      }
      std::vector<std::int64_t> shape = tensor.entry->shape;
      if (const std::int64_t count = numerics::elementCount(shape); count > 1)
        shape = saysHeads(*choice.to) ? std::vector<std::int64_t>{count, 1, 1} : shape;
      else if (count == 1)
        shape = spelling.shape == ScaleShape::Scalar ? std::vector<std::int64_t>{}
                                                     : std::vector<std::int64_t>{1};
      add(tensor, // one tensor may hold both the key and the value scale
          bytesStep({fmt::format("{}.{}", kv.module, name), dtype, std::move(shape)},
                    std::move(*bytes)));
    }
    return {};
  }

  void refuse(const Layer& layer, std::string why, const format::ScaledFormat* wanted) {
    refused.emplace_back(plainName(layer), std::move(why));
    if (!wanted || misfits)
      return;
    const auto fits = [&](const Layout& layout) {
      const LayerSpelling* spelling = layout.spelling(wanted->name, layer.shape.size());
      return spelling && spelling->inputScale == InputScale::Optional &&
             !misfit(*spelling, layer.name, layer.parameter, layer.shape.size());
    };
    const LayerSpelling* spelling = choice.to->spelling(wanted->name, layer.shape.size());
    if (!spelling || !misfit(*spelling, layer.name, layer.parameter, layer.shape.size()))
      return;
    misfits.emplace();
    for (const Layout* layout : layouts())
      if (fits(*layout))
        misfits->push_back(layout->name());
    misfitFormat = wanted->name;
  }

  Error refusal() {
    const std::size_t layers = inventory().layers.size();
    struct Reason {
      std::string_view first; ///< the first layer with this reason
      std::size_t others = 0;
    };
    std::map<std::string_view, Reason> reasons;
    for (const auto& [layer, why] : refused)
      if (const auto [reason, isNew] = reasons.try_emplace(why, Reason{layer}); !isNew)
        ++reason->second.others;
    std::string named;
    for (const auto& [why, reason] : reasons)
      named += fmt::format("{}{}{}: {}", named.empty() ? "" : "; ", reason.first,
                           reason.others ? fmt::format(" and {} more", reason.others) : "", why);
    if (misfits)
      return {.file = folder.path().string(),
              .problem = fmt::format("{} of {} layers do not have the shape that layout {} stores",
                                     refused.size(), layers, choice.to->name()),
              .expected = choice.to->spelling(misfitFormat)->holds == Holds::Stacks
                              ? "the experts of a layer in one tensor [E, N, K]"
                              : "matrices [N, K], with each expert separate",
              .found = named,
              .fix =
                  fmt::format("{}`octavo checkpoint dequantize` gives plain weights",
                              misfits->empty()
                                  ? ""
                                  : fmt::format("choose a --layout that stores them in {}: {}; or ",
                                                misfitFormat, fmt::join(*misfits, ", ")))};
    return {.file = folder.path().string(),
            .problem =
                fmt::format("{} of {} layers cannot be expressed in layout {}{} without loss",
                            refused.size(), layers, choice.to->name(),
                            choice.format ? fmt::format(" as {}", choice.format->name) : ""),
            .expected = "the same values under the same scales",
            .found = named,
            .fix = choice.format
                       ? std::string("--requantize requantizes them and reports the error")
                       : exactFormatsText() +
                             "--requantize --format F requantizes layers and reports the error"};
  }

  /// Whether all layers can be expressed without loss in the wanted format, or in their own.
  bool keepsAll(const Inventory& inventory) {
    return measureGroups(inventory) &&
           std::ranges::all_of(inventory.layers, [&](const Layer& layer) {
             const auto reader = LayerReader::open(layer);
             const auto row = rowOf(layer);
             return reader && row &&
                    (choice.format && choice.format != *row ? recast(*reader, *row)
                                                            : respelling(layer, *row))
                        .has_value();
           });
  }

  /// Text of a fix: the formats of the new layout that keep all values.
  std::string exactFormatsText() {
    std::vector<std::string_view> exact;
    for (std::string_view name : writtenFormats(*choice.to, InputScale::Optional)) {
      const ConversionChoice other = {.from = choice.from,
                                      .to = choice.to,
                                      .format = format::findScaledFormat(name),
                                      .allowed = choice.allowed};
      if (ConversionPlanner(folder, other, wide).keepsAll(inventory()))
        exact.push_back(name);
    }
    return exact.empty() ? ""
                         : fmt::format("--format {} keeps all values; or ",
                                       fmt::join(exact, " or --format "));
  }

  struct ConfiguredFrom {
    const Layer* layer;
    Values values;
    bool hasInput;
  };

  const ConversionChoice& choice;
  const std::set<std::string>& wide;
  std::vector<ConfiguredFrom> configuredFrom; ///< for each layer of `configured`
  std::set<std::string> misplaced;
  std::vector<const Layer*> droppedInputs;
  LayoutChoice configured;
  SharedAmaxes amaxes;
  std::map<std::string, int> mostExponents; ///< largest exponent of scales, by group
  std::map<std::string, std::string> inexactGroups;
  std::vector<std::pair<std::string, std::string>> refused; ///< layer and reason
  /// If a layer is a stack and the layout stores matrices, or the reverse: the layouts that store
  /// such weights in the format. Quantizing again would not help.
  std::optional<std::vector<std::string_view>> misfits;
  std::string_view misfitFormat;
  std::vector<std::string> roundedDivisors;
};

} // namespace

tl::expected<Rewrite, Error> planConversion(const Folder& folder, const ConversionChoice& choice,
                                            Json options) {
  for (std::set<std::string> wide;;) {
    ConversionPlanner planner(folder, choice, wide);
    auto rewrite = planner.plan(options);
    if (!rewrite || planner.misplacedInputs().empty())
      return rewrite;
    wide.insert(planner.misplacedInputs().begin(), planner.misplacedInputs().end());
  }
}

} // namespace octavo::checkpoint
