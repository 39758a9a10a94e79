#include "octavo/Checkpoint/WeightsWriter.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Jobs/LayerPlan.h"
#include "octavo/Checkpoint/Jobs/Quantization.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

namespace {

struct PlacedLayer {
  const ScaledWeight* weight;
  LayerPlan plan;
  std::size_t first; ///< index of its first tensor in the shard
};

tl::expected<PlacedLayer, Error> place(const ScaledWeight& weight, const Layout& layout,
                                       std::span<const PlainWeight> plain,
                                       const std::string& file) {
  const auto refuse = [&](std::string problem, std::string expected, std::string found,
                          std::string fix) {
    return tl::unexpected(Error{.file = file,
                                .problem = std::move(problem),
                                .tensor = weight.name,
                                .expected = std::move(expected),
                                .found = std::move(found),
                                .fix = std::move(fix)});
  };
  const std::size_t dot = weight.name.rfind('.');
  if (dot == std::string::npos || dot == 0)
    return refuse("its name has no module", "\"module.weight\"", inQuotes(weight.name),
                  "name it after the module that it belongs to");
  const LayerSpelling* spelling = layout.spelling(weight.format->name, weight.shape.size());
  if (!spelling || spelling->access != Access::ReadAndWrite) {
    const std::vector<std::string_view> formats = writtenFormats(layout, InputScale::Required);
    return refuse(fmt::format("{} cannot express its format", layout.name()),
                  fmt::format("one of {}", fmt::join(formats, ", ")),
                  std::string(weight.format->name), "choose another layout or format");
  }
  const std::string_view module = std::string_view(weight.name).substr(0, dot);
  const std::string_view parameter = std::string_view(weight.name).substr(dot + 1);
  if (const auto why = misfit(*spelling, module, parameter, weight.shape.size()))
    return refuse(fmt::format("{} does not store weights like it", layout.name()),
                  spelling->holds == Holds::Stacks
                      ? "\"experts.gate_up_proj\" or \"experts.down_proj\", [E, N, K]"
                      : "matrices [N, K], with each expert separate",
                  std::string(*why), "choose another layout, or pass the values as a plain tensor");
  const std::string input = tensorName(module, parameter, spelling->input.name);
  const bool hasInput = !spelling->input.name.empty() &&
                        std::ranges::find(plain, input, &PlainWeight::name) != plain.end();
  auto plan =
      planLayer(module, parameter, weight.shape, *weight.format, *spelling,
                *findSafetensorsDtype("F32"), hasInput ? WithInputScale::Yes : WithInputScale::No);
  if (!plan)
    return refuse(fmt::format("{} cannot express it", layout.name()), "", plan.error(),
                  "choose another layout or format");
  if (!(*plan->type.scale == *weight.format->scale))
    return refuse(fmt::format("{} stores its scales in another format", layout.name()),
                  std::string(plan->type.scale->name), std::string(weight.format->scale->name),
                  "choose another layout, or quantize with `octavo checkpoint quantize`");
  if (plan->input)
    plan->tensors.pop_back(); // the input scale is one of the plain tensors
  return PlacedLayer{&weight, std::move(*plan), 0};
}

/// The caller's divisor if the layout stores divisors; else null.
const float* storedDivisor(const ScaledWeight& weight, const LayerPlan& plan) {
  return weight.divisor && plan.outerMeaning == Meaning::Divides ? &*weight.divisor : nullptr;
}

tl::expected<void, Error> writeLayer(const PlacedLayer& layer, ShardWriter& writer) {
  const Sink sink(writer, layer.first);
  const LayerPlan& plan = layer.plan;
  const std::int64_t rows =
      numerics::elementCount(plan.shape) / std::max<std::int64_t>(plan.columns(), 1);
  PageBuffer packed;
  std::span<const std::byte> scales = layer.weight->scales;
  for (std::int64_t begin = 0; begin < rows; begin += plan.rowsInMatrix()) {
    const Piece piece{begin, begin + plan.rowsInMatrix()};
    const auto scaleBytes = static_cast<std::size_t>(plan.scaleCount(piece)) *
                            static_cast<std::size_t>(plan.type.scale->bytes());
    const auto codes =
        layer.weight->codes.subspan(static_cast<std::size_t>(begin * plan.columns()),
                                    static_cast<std::size_t>(plan.rowsInMatrix() * plan.columns()));
    const auto written = plan.writeCodes(sink, piece, codes, packed).and_then([&] {
      return plan.writeScales(sink, piece, scales.first(scaleBytes));
    });
    if (!written)
      return written;
    // A single scale for all matrices is written again for each of them.
    if (!plan.hasOneScale())
      scales = scales.subspan(scaleBytes);
  }
  if (!plan.outer)
    return {};
  if (const float* divisor = storedDivisor(*layer.weight, plan))
    return sink.write(*plan.outer, 0, std::as_bytes(std::span(divisor, 1)));
  return plan.writeOuter(sink, layer.weight->outer);
}

tl::expected<void, Error> writeJson(const fs::path& path, const Json& json) {
  auto file = OutputFile::create(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  auto written = file->write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return written ? file->commit() : written;
}

/// Creates a folder and the missing folders above it. The destructor removes those that are empty.
class NewFolder {
public:
  static tl::expected<NewFolder, Error> create(const fs::path& path) {
    return createFolders(path).map(
        [](std::vector<fs::path> made) { return NewFolder(std::move(made)); });
  }
  NewFolder(NewFolder&& other) noexcept : made(std::exchange(other.made, {})) {}
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder() {
    std::error_code notEmpty;
    for (const fs::path& each : made)
      fs::remove(each, notEmpty);
  }

private:
  explicit NewFolder(std::vector<fs::path> made) : made(std::move(made)) {}
  std::vector<fs::path> made; ///< created folders, the innermost first
};

} // namespace

tl::expected<Findings, Error> writeCheckpoint(const fs::path& folder,
                                              std::span<const ScaledWeight> scaled,
                                              std::span<const PlainWeight> plain,
                                              const Layout& layout, Json config) {
  const fs::path file = folder / "model.safetensors";
  std::error_code failed;
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "config.json"})
    if (fs::exists(folder / name, failed))
      return tl::unexpected(Error{.file = (folder / name).string(),
                                  .problem = "this folder already holds a checkpoint",
                                  .fix = "name a new folder"});

  std::vector<PlacedLayer> layers;
  std::vector<std::string> rounded;
  std::vector<PlannedTensor> tensors;
  LayoutChoice choice;
  for (const ScaledWeight& weight : scaled) {
    auto layer = place(weight, layout, plain, file.string());
    if (!layer)
      return tl::unexpected(std::move(layer.error()));
    if (layer->plan.outer && !storedDivisor(weight, layer->plan) &&
        !isStoredExactly(weight.outer, layer->plan.outerMeaning))
      rounded.push_back(weight.name);
    layer->first = tensors.size();
    tensors.insert(tensors.end(), layer->plan.tensors.begin(), layer->plan.tensors.end());
    choice.layers.push_back(
        {weight.name.substr(0, weight.name.rfind('.')), weight.format,
         activationsFor(weight.format->name,
                        layer->plan.input ? Activations::Kind::Static : Activations::Kind::None)});
    layers.push_back(std::move(*layer));
  }
  const std::size_t firstPlain = tensors.size();
  for (const PlainWeight& weight : plain) {
    tensors.push_back({weight.name, weight.dtype, weight.shape});
    const std::size_t dot = weight.name.rfind('.');
    if (dot == std::string::npos)
      continue;
    const std::string module = weight.name.substr(0, dot), parameter = weight.name.substr(dot + 1);
    if ((weight.shape.size() == 2 && parameter == "weight") ||
        (weight.shape.size() == 3 && isExpertStack(module, parameter)))
      choice.ignored.push_back(module);
  }
  settleIgnored(choice);
  layout.settleActivations(choice.layers);

  const auto created = NewFolder::create(folder);
  if (!created)
    return tl::unexpected(created.error());
  auto writer = ShardWriter::create(file, tensors);
  if (!writer)
    return tl::unexpected(std::move(writer.error()));
  for (const PlacedLayer& layer : layers)
    if (auto written = writeLayer(layer, *writer); !written)
      return tl::unexpected(std::move(written.error()));
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (auto written = writer->write(firstPlain + i, 0, plain[i].bytes); !written)
      return tl::unexpected(std::move(written.error()));
  if (auto committed = writer->commit(); !committed)
    return tl::unexpected(std::move(committed.error()));

  Json quantConfig;
  if (config.is_null())
    config = Json::object();
  if (!layers.empty())
    layout.configure(choice, config, quantConfig);
  if (!quantConfig.is_null())
    if (auto written = writeJson(folder / "hf_quant_config.json", quantConfig); !written)
      return tl::unexpected(std::move(written.error()));
  if (auto written = writeJson(folder / "config.json", config); !written)
    return tl::unexpected(std::move(written.error()));
  return rounded.empty() ? Findings() : Findings{roundedDivisors(rounded)};
}

} // namespace octavo::checkpoint
