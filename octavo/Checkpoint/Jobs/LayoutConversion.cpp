#include "octavo/Checkpoint/Jobs/LayoutConversion.h"

#include "octavo/Checkpoint/Jobs/Quantization.h"
#include "octavo/Checkpoint/LayerReader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace octavo::checkpoint {

using format::ElementFormat;

namespace {

/// Writes a layer in another spelling of its scaled format.
class RespellStep final : public Step {
public:
  RespellStep(const LayerReader& reader, LayerPlan plan)
      : reader(reader), plan(std::move(plan)),
        keepsAxes(reader.layer().storedAxes == this->plan.axes),
        keepsBytes(keepsAxes && isPacked(reader.layer()) == this->plan.isPacked) {
    if (keepsBytes)
      all = {{0, reader.rows()}};
    else
      all = piecesOf(*layerRows(reader), this->plan.step() == 0 ? 0 : 1);
  }

  std::span<const PlannedTensor> outputs() const override { return plan.tensors; }
  std::span<const Piece> pieces() const override { return all; }
  std::uint64_t pieceMemory() const override {
    return keepsBytes ? ShardWriter::kCopyPiece
                      : 3 * static_cast<std::uint64_t>(mostValues(*layerRows(reader), all));
  }

  tl::expected<void, Error> make(std::size_t index, const Sink& sink, Scratch& scratch) override {
    const Layer& layer = reader.layer();
    if (index == 0)
      if (auto written = writeNumbers(sink); !written)
        return written;
    if (index == 0 && keepsAxes)
      if (auto written = writeScales(sink, scratch.stored); !written)
        return written;
    if (keepsBytes)
      return sink.copy(LayerPlan::kElements, layer.elements.tensor, scratch.stored);
    const Piece piece = all[index];
    scratch.codes.resize(static_cast<std::size_t>((piece.end - piece.begin) * reader.columns()));
    auto fetched =
        reader.codes(piece.begin, piece.end, reinterpret_cast<std::uint8_t*>(scratch.codes.data()),
                     scratch.fetched);
    if (!fetched)
      return fetched;
    if (keepsAxes)
      return plan.writeCodes(sink, piece, scratch.codes, scratch.stored);
    std::vector<std::byte> scales(static_cast<std::size_t>(
        reader.scaleCount(piece.begin, piece.end) * layer.type.scale->bytes()));
    if (auto read = reader.scales(piece.begin, piece.end, scales.data(), scratch.fetched); !read)
      return read;
    return plan.writeCodes(sink, piece, scratch.codes, scratch.stored).and_then([&] {
      return plan.writeScales(sink, piece, scales);
    });
  }

private:
  static bool isPacked(const Layer& layer) {
    return layer.elements.packed && layer.type.element->width() < 8;
  }

  tl::expected<void, Error> writeScales(const Sink& sink, PageBuffer& buffer) const {
    const Layer& layer = reader.layer();
    if (*layer.scales->format == *plan.type.scale)
      return sink.copy(LayerPlan::kScales, layer.scales->tensor, buffer);
    return exactly(*layer.scales, *plan.type.scale).and_then([&](const auto& bytes) {
      return sink.write(LayerPlan::kScales, 0, *bytes);
    });
  }

  tl::expected<void, Error> writeNumbers(const Sink& sink) const {
    const Layer& layer = reader.layer();
    tl::expected<void, Error> written;
    if (plan.outer)
      written = writeNumbers(sink, *plan.outer, *layer.outer, plan.outerMeaning);
    if (written && plan.input)
      written = writeNumbers(sink, *plan.input, *layer.inputScale, plan.inputMeaning);
    return written;
  }

  static tl::expected<void, Error> writeNumbers(const Sink& sink, std::size_t output,
                                                const Part& part, Meaning meaning) {
    return respelled(part, meaning).and_then([&](const std::vector<float>& numbers) {
      return sink.write(output, 0, std::as_bytes(std::span(numbers)));
    });
  }

public:
  /// The numbers of a part as f32 that mean the same where they enter as `meaning`. Numbers that
  /// enter as before stay as they are. Errors, of both: of reading the file.
  static tl::expected<std::vector<float>, Error> respelled(const Part& part, Meaning meaning) {
    Part as = part;
    if (part.meaning == meaning)
      as.meaning = Meaning::Multiplies; // not inverted twice
    auto numbers = multipliers(as);
    if (numbers && part.meaning != meaning)
      for (float& number : *numbers)
        number = stored(number, meaning);
    return numbers;
  }

  /// The codes of a part in another format that has all of its values; nothing where it has not.
  static tl::expected<std::optional<std::vector<std::byte>>, Error>
  exactly(const Part& part, const ElementFormat& to) {
    const auto read = part.tensor.bytes();
    if (!read)
      return tl::unexpected(read.error());
    const std::span<const std::byte> from = *read;
    const auto width = static_cast<std::size_t>(part.format->bytes());
    const auto newWidth = static_cast<std::size_t>(to.bytes());
    std::vector<std::byte> bytes(from.size() / width * newWidth);
    for (std::size_t i = 0; i < from.size() / width; ++i) {
      std::uint64_t code = 0;
      std::memcpy(&code, from.data() + i * width, width);
      const double value = numerics::decode(*part.format, code);
      const std::uint64_t converted = numerics::convert(to, value);
      if (const double back = numerics::decode(to, converted); back != value && value == value)
        return std::optional<std::vector<std::byte>>();
      std::memcpy(bytes.data() + i * newWidth, &converted, newWidth);
    }
    return bytes;
  }

private:
  LayerReader reader;
  LayerPlan plan;
  bool keepsAxes, keepsBytes;
  std::vector<Piece> all;
};

class ConversionPlanner {
public:
  /// `wide`: layers whose input scales are not written, since the new configuration does not say
  /// that their activations are quantized by them.
  ConversionPlanner(const Folder& folder, const ConversionChoice& choice,
                    const std::set<std::string>& wide)
      : folder(folder), choice(choice), wide(wide), shards(folder) {}

  tl::expected<Rewrite, Error> plan(Json options) {
    auto inventory = std::make_unique<Inventory>(choice.from->read(folder, rewrite.notes));
    if (auto whole = refuseUnread(folder, *inventory); !whole)
      return tl::unexpected(std::move(whole.error()));
    for (const Layer& layer : inventory->layers)
      if (auto placed = place(layer); !placed)
        return tl::unexpected(std::move(placed.error()));
    if (!refused.empty())
      return tl::unexpected(refusal(inventory->layers.size()));
    if (inventory->layers.empty())
      return tl::unexpected(
          Error{.file = folder.path().string(),
                .problem = fmt::format("has no quantized layers in layout {}", choice.from->name()),
                .fix = "octavo checkpoint quantize quantizes plain weights"});
    dropRepeated(shards, *inventory);
    for (const KvScales& kv : inventory->kvScales)
      if (auto placed = placeKvScales(kv); !placed)
        return tl::unexpected(std::move(placed.error()));
    for (const StoredTensor& tensor : inventory->plain)
      if (std::optional<std::string> module = quantizableModule(tensor))
        configured.ignored.push_back(std::move(*module));
    configured.kvScales = !inventory->kvScales.empty();
    if (!roundedDivisors.empty())
      rewrite.notes.push_back(checkpoint::roundedDivisors(roundedDivisors));

    auto job = shards.build(std::move(options));
    if (!job)
      return tl::unexpected(std::move(job.error()));
    rewrite.job = std::move(*job);
    settleIgnored(configured);
    noteDroppedInputs();
    settleActivations();
    if (!misplaced.empty())
      return std::move(rewrite);
    choice.to->configure(configured, rewrite.job.config, rewrite.job.quantConfig);
    rewrite.inventory = std::move(inventory);
    return std::move(rewrite);
  }

  /// Layers of a plan that writes input scales which its configuration does not speak of: it has to
  /// be made again without them.
  const std::set<std::string>& misplacedInputs() const { return misplaced; }

private:
  tl::expected<void, Error> place(const Layer& layer) {
    auto reader = LayerReader::open(layer);
    if (!reader)
      return tl::unexpected(std::move(reader.error()));
    const auto rowFound = rowOf(layer);
    if (!rowFound)
      return tl::unexpected(rowFound.error());
    const format::ScaledFormat* row = *rowFound;
    auto plan = respelling(layer, row);
    if (plan) {
      if (layer.inputScale && !plan->input)
        droppedInputs.push_back(&layer);
      configureLayer(layer, row, plan->input.has_value(), Values::Kept);
      record(layer, row->name, plan->bytes());
      if (plan->outer) {
        const auto before = multipliers(*layer.outer), after = multipliersOf(*plan, layer);
        if (!before || !after)
          return tl::unexpected((before ? after : before).error());
        if (*before != *after)
          roundedDivisors.push_back(layer.name);
      }
      shards.replace(layer.elements.tensor,
                     std::make_unique<RespellStep>(*reader, std::move(*plan)));
    } else if (choice.requantization) {
      const format::ScaledFormat& format = *choice.requantization->format;
      auto anew = planLayer(layer.name, layer.parameter, layer.shape, format,
                            *choice.to->spelling(format.name, layer.shape.size()),
                            scaleDtype(layer), WithInputScale::No);
      const std::string why =
          anew ? refusedEdge(layer.shape, format, choice.requantization->preset) : anew.error();
      if (!why.empty()) {
        refuse(layer, why, anew ? nullptr : &format);
        return {};
      }
      if (layer.inputScale)
        droppedInputs.push_back(&layer);
      configureLayer(layer, &format, false, Values::Anew);
      record(layer, format.name, anew->bytes());
      shards.replace(layer.elements.tensor, requantizeStep(layer, *reader, std::move(*anew)));
    } else {
      refuse(layer, plan.error(), row);
    }
    dropScales(shards, layer);
    return {};
  }

  /// The row of a layer's format; where there is none (DeepSeek's blocks with E8M0 scales), one
  /// that differs in the scales' format alone, if they are exact in it. Errors: of reading the
  /// file.
  static tl::expected<const format::ScaledFormat*, Error> rowOf(const Layer& layer) {
    if (layer.format || !layer.scales)
      return layer.format;
    for (const format::ScaledFormat& row : format::kScaledFormats) {
      if (*row.element != *layer.type.element || row.hasOuterScale != layer.type.hasOuterScale ||
          format::blockShape(row, layer.shape, static_cast<int>(layer.shape.size()) - 1) !=
              layer.type.block)
        continue;
      const auto exact = RespellStep::exactly(*layer.scales, *row.scale);
      if (!exact)
        return tl::unexpected(exact.error());
      if (*exact)
        return &row;
    }
    return nullptr;
  }

  /// The plan of the layer in the new layout, or why there is none.
  tl::expected<LayerPlan, std::string> respelling(const Layer& layer,
                                                  const format::ScaledFormat* format) const {
    const LayerSpelling* spelling =
        format ? choice.to->spelling(format->name, layer.shape.size()) : nullptr;
    if (!spelling)
      return tl::unexpected(
          fmt::format("layout {} has no spelling of {}", choice.to->name(), formatName(layer)));
    auto plan = planLayer(
        layer.name, layer.parameter, layer.shape, *format, *spelling, scaleDtype(layer),
        layer.inputScale && !wide.contains(layer.name) ? WithInputScale::Yes : WithInputScale::No);
    if (!plan)
      return plan;
    if (*layer.scales->format != *plan->type.scale) {
      const auto exact = RespellStep::exactly(*layer.scales, *plan->type.scale);
      if (!exact)
        return tl::unexpected(exact.error().message());
      if (!*exact)
        return tl::unexpected(fmt::format("its scales are not exact in {}",
                                          plan->tensors[LayerPlan::kScales].dtype->name));
    }
    const auto shapeAs = [&](std::optional<std::size_t> output, const Part& part) {
      if (const std::int64_t count = numerics::elementCount(part.tensor.entry->shape);
          output && count != 1)
        plan->tensors[*output].shape = {count};
    };
    if (layer.outer)
      shapeAs(plan->outer, *layer.outer);
    if (layer.inputScale)
      shapeAs(plan->input, *layer.inputScale);
    return plan;
  }

  /// Where the layout leaves the scales' dtype open it is the model's, if that has all of them.
  const SafetensorsDtype& scaleDtype(const Layer& layer) const {
    const SafetensorsDtype& stored = *layer.scales->tensor.entry->dtype;
    const SafetensorsDtype& model = modelDtype();
    // Scales that cannot be read are an error to the step that copies them.
    const auto exact = RespellStep::exactly(*layer.scales, model.type->format());
    return wideType(stored) && !(exact && *exact) ? stored : model;
  }

  const SafetensorsDtype& modelDtype() const {
    for (const char* key : {"torch_dtype", "dtype"})
      for (kernels::WideType type : {kernels::WideType::F16, kernels::WideType::F32})
        if (folder.config().is_object() &&
            folder.config().value(key, Json()) == Json(plainDtype(type).type->format().torch))
          return plainDtype(type);
    return plainDtype(kernels::WideType::Bf16);
  }

  static tl::expected<std::vector<float>, Error> multipliersOf(const LayerPlan& plan,
                                                               const Layer& layer) {
    auto numbers = RespellStep::respelled(*layer.outer, plan.outerMeaning);
    if (numbers && plan.outerMeaning == Meaning::Divides)
      for (float& number : *numbers)
        number = 1.0f / number;
    return numbers;
  }

  std::unique_ptr<Step> requantizeStep(const Layer& layer, const LayerReader& reader,
                                       LayerPlan plan) {
    auto rows = layerRows(reader);
    std::shared_ptr<AmaxMeasurement> measurement;
    if (plan.outer || plan.hasOneScale())
      measurement = amaxes.join(
          amaxGroup(*choice.requantization->format, layer.name, plainName(layer)), rows);
    return quantizeStep(std::move(rows), std::move(plan), choice.requantization->options,
                        std::move(measurement), ErrorReport::Measured);
  }

  /// Of a layer: kept, and with them its activations; or anew, with what goes with the format.
  enum class Values : std::uint8_t { Kept, Anew };

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

  /// What the new configuration can say of activations, and a note where that is something else.
  void settleActivations() {
    const std::vector<ChosenLayer> wanted = configured.layers;
    choice.to->settleActivations(configured.layers);
    std::map<std::string, std::vector<std::string_view>> changes;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& [layer, values, hasInput] = configuredFrom[i];
      const Activations& said = configured.layers[i].activations;
      if (hasInput && said.kind != Activations::Kind::Static)
        misplaced.insert(layer->name);
      // That a static kind lost its scale is said of the scales.
      const bool isDynamicNow = !hasInput && areAlike(wanted[i].activations, said);
      if (values == Values::Kept && !areAlike(layer->activations, said) &&
          !(layer->inputScale && isDynamicNow))
        changes[fmt::format("{} become {}", nounOf(layer->activations), nounOf(said))].push_back(
            layer->name);
    }
    for (const auto& [change, layers] : changes)
      rewrite.notes.push_back(
          {.rule = "activations-change",
           .severity = Severity::Warning,
           .file = "config.json",
           .tensor = "",
           .what = fmt::format("activations of {} layers: {}; the first is {}", layers.size(),
                               change, layers.front()),
           .why = fmt::format("layout {} cannot say the former of such weights, and the model "
                              "computes with the latter",
                              choice.to->name()),
           .fix = "another --layout, where one says both"});
  }

  void record(const Layer& layer, std::string_view to, std::uint64_t bytes) {
    rewrite.changes.push_back(
        {.name = plainName(layer),
         .from = std::string(layer.format ? layer.format->name : layer.type.element->name),
         .to = std::string(to),
         .elements = static_cast<std::uint64_t>(numerics::elementCount(layer.shape)),
         .bytesBefore = bytesOf(layer),
         .bytesAfter = bytes});
  }

  void noteDroppedInputs() {
    if (droppedInputs.empty())
      return;
    const Part& first = *droppedInputs.front()->inputScale;
    rewrite.notes.push_back(
        {.rule = "dropped-input-scale",
         .severity = Severity::Warning,
         .file = first.tensor.shard->name(),
         .tensor = first.tensor.name(),
         .what = fmt::format(
             "this activation scale{} not in the output: layout {} has no place for "
             "it beside such weights",
             droppedInputs.size() == 1 ? " is"
                                       : fmt::format(" and {} more are", droppedInputs.size() - 1),
             choice.to->name()),
         .why = "activations are quantized with scales found as the model runs, or stay wide",
         .fix = ""});
  }

  tl::expected<void, Error> placeKvScales(const KvScales& kv) {
    const KvSpelling spelling = choice.to->kvSpelling();
    const std::pair<const std::optional<Part>*, std::string_view> parts[] = {
        {&kv.key, spelling.key},
        {&kv.value, spelling.value},
        {&kv.query, spelling.query},
        {&kv.probability, spelling.probability}};
    for (const auto& [part, name] : parts)
      if (*part)
        shards.drop((*part)->tensor);
    for (const auto& [part, name] : parts) {
      if (!*part)
        continue;
      const StoredTensor& tensor = (*part)->tensor;
      const SafetensorsDtype* dtype =
          spelling.dtype.empty() ? tensor.entry->dtype : findSafetensorsDtype(spelling.dtype);
      std::optional<std::vector<std::byte>> bytes;
      if (dtype->type && dtype->type->isFloat()) {
        auto exact = RespellStep::exactly(**part, dtype->type->format());
        if (!exact)
          return tl::unexpected(std::move(exact.error()));
        bytes = std::move(*exact);
      }
      if (!bytes) { // a scale that the layout's dtype does not have stays as it is
        dtype = tensor.entry->dtype;
        auto stored = tensor.bytes();
        if (!stored)
          return tl::unexpected(std::move(stored.error()));
        bytes = std::move(*stored);
      }
      std::vector<std::int64_t> shape = tensor.entry->shape;
      if (numerics::elementCount(shape) == 1)
        shape = spelling.shape == ScaleShape::Scalar ? std::vector<std::int64_t>{}
                                                     : std::vector<std::int64_t>{1};
      shards.add(tensor, // of keys and of values it may be one
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

  Error refusal(std::size_t layers) const {
    struct Reason {
      std::string_view first; ///< of the layers
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
              .problem = fmt::format("{} of {} layers are not as layout {} has them",
                                     refused.size(), layers, choice.to->name()),
              .expected = choice.to->spelling(misfitFormat)->holds == Holds::Stacks
                              ? "the experts of a layer in one tensor [E, N, K]"
                              : "matrices [N, K], of experts one by one",
              .found = named,
              .fix = fmt::format("{}`octavo checkpoint dequantize` gives plain weights",
                                 misfits->empty()
                                     ? ""
                                     : fmt::format("--layout with one that has them in {}: {}; or ",
                                                   misfitFormat, fmt::join(*misfits, ", ")))};
    return {.file = folder.path().string(),
            .problem = fmt::format("{} of {} layers cannot be said in layout {} without loss",
                                   refused.size(), layers, choice.to->name()),
            .expected = "the same element format, scale format and blocks",
            .found = named,
            .fix = "--requantize --format F quantizes them anew and reports the error"};
  }

  struct ConfiguredFrom {
    const Layer* layer;
    Values values;
    bool hasInput;
  };

  const Folder& folder;
  const ConversionChoice& choice;
  const std::set<std::string>& wide;
  std::vector<ConfiguredFrom> configuredFrom; ///< of each layer of `configured`
  std::set<std::string> misplaced;
  std::vector<const Layer*> droppedInputs;
  ShardBuilder shards;
  Rewrite rewrite;
  LayoutChoice configured;
  SharedAmax amaxes;
  std::vector<std::pair<std::string, std::string>> refused; ///< layer and reason
  /// Where a layer is a stack and the layout has matrices, or the reverse: layouts that have such
  /// in the format. No quantizing anew helps there.
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
