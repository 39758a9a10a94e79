#include "octavo/Checkpoint/WeightsWriter.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Jobs/LayerPlan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace octavo::checkpoint {

namespace {

struct PlacedLayer {
  const ScaledWeight* weight;
  LayerPlan plan;
  std::size_t first; ///< of its tensors in the shard
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
    std::vector<std::string_view> formats;
    for (const LayerSpelling& each : layout.spellings())
      if (each.access == Access::ReadAndWrite)
        formats.push_back(each.format);
    return refuse(fmt::format("{} cannot say its format", layout.name()),
                  fmt::format("one of {}", fmt::join(formats, ", ")),
                  std::string(weight.format->name), "choose another layout or format");
  }
  const std::string_view module = std::string_view(weight.name).substr(0, dot);
  const std::string_view parameter = std::string_view(weight.name).substr(dot + 1);
  const std::string input = tensorName(module, parameter, spelling->input.name);
  const bool hasInput = !spelling->input.name.empty() &&
                        std::ranges::find(plain, input, &PlainWeight::name) != plain.end();
  auto plan =
      planLayer(module, parameter, weight.shape, *weight.format, *spelling,
                *findSafetensorsDtype("F32"), hasInput ? WithInputScale::Yes : WithInputScale::No);
  if (!plan)
    return refuse(fmt::format("{} cannot say it", layout.name()), "", plan.error(),
                  "choose another layout or format");
  if (!(*plan->type.scale == *weight.format->scale))
    return refuse(fmt::format("{} stores its scales in another format", layout.name()),
                  std::string(plan->type.scale->name), std::string(weight.format->scale->name),
                  "choose another layout, or quantize with `octavo checkpoint quantize`");
  if (plan->input)
    plan->tensors.pop_back(); // it is among the plain ones
  return PlacedLayer{&weight, std::move(*plan), 0};
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
    // One scale of all matrices counts for each of them.
    if (!plan.hasOneScale())
      scales = scales.subspan(scaleBytes);
  }
  return plan.outer ? plan.writeOuter(sink, layer.weight->outer) : tl::expected<void, Error>();
}

tl::expected<void, Error> writeJson(const std::filesystem::path& path, const Json& json) {
  auto file = OutputFile::create(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  auto written = file->write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return written ? file->commit() : written;
}

} // namespace

tl::expected<void, Error> writeCheckpoint(const std::filesystem::path& folder,
                                          std::span<const ScaledWeight> scaled,
                                          std::span<const PlainWeight> plain, const Layout& layout,
                                          Json config) {
  const std::filesystem::path file = folder / "model.safetensors";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return tl::unexpected(Error{.file = folder.string(),
                                .problem = "cannot be created: " + failed.message(),
                                .fix = "choose another place"});
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "config.json"})
    if (std::filesystem::exists(folder / name, failed))
      return tl::unexpected(Error{.file = (folder / name).string(),
                                  .problem = "there is a checkpoint in this folder",
                                  .fix = "name a new folder"});

  std::vector<PlacedLayer> layers;
  std::vector<PlannedTensor> tensors;
  LayoutChoice choice;
  choice.activations = Activations::Kind::None;
  for (const ScaledWeight& weight : scaled) {
    auto layer = place(weight, layout, plain, file.string());
    if (!layer)
      return tl::unexpected(std::move(layer.error()));
    if (layer->plan.input)
      choice.activations = Activations::Kind::Static;
    layer->first = tensors.size();
    tensors.insert(tensors.end(), layer->plan.tensors.begin(), layer->plan.tensors.end());
    choice.layers.emplace_back(weight.name.substr(0, weight.name.rfind('.')), weight.format);
    layers.push_back(std::move(*layer));
  }
  const std::size_t firstPlain = tensors.size();
  for (const PlainWeight& weight : plain) {
    tensors.push_back({weight.name, weight.dtype, weight.shape});
    if (weight.shape.size() == 2 && weight.name.ends_with(".weight"))
      choice.ignored.push_back(weight.name.substr(0, weight.name.rfind('.')));
  }

  auto writer = ShardWriter::create(file, tensors);
  if (!writer)
    return tl::unexpected(std::move(writer.error()));
  for (const PlacedLayer& layer : layers)
    if (auto written = writeLayer(layer, *writer); !written)
      return written;
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (auto written = writer->write(firstPlain + i, 0, plain[i].bytes); !written)
      return written;
  if (auto committed = writer->commit(); !committed)
    return committed;

  Json quantConfig;
  if (config.is_null())
    config = Json::object();
  if (!layers.empty())
    layout.configure(choice, config, quantConfig);
  if (!quantConfig.is_null())
    if (auto written = writeJson(folder / "hf_quant_config.json", quantConfig); !written)
      return written;
  return writeJson(folder / "config.json", config);
}

} // namespace octavo::checkpoint
