// A small checkpoint from text: config.json, hf_quant_config.json and the tensors, parted by 0xFF;
// a tensor is a line of its dtype, its shape and its name. Whatever they say, a layout reads it,
// places only what is there, and what it says of a layer agrees in itself.
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layout.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace octavo;
using namespace octavo::checkpoint;

namespace {

constexpr std::uint64_t kMaxBytes = 1 << 16;

Json parse(std::string_view text) {
  auto value = parseJson(text, "config.json");
  return value ? std::move(*value) : Json();
}

/// The file's bytes, or nothing where the lines are no tensors.
std::vector<std::byte> makeFile(std::string_view lines) {
  Json header = Json::object();
  std::uint64_t end = 0;
  std::istringstream text{std::string(lines)};
  for (std::string line; std::getline(text, line) && header.size() < 64;) {
    std::istringstream words(line);
    std::string dtypeName, shapeText, name;
    words >> dtypeName >> shapeText >> name;
    const SafetensorsDtype* dtype = findSafetensorsDtype(dtypeName);
    if (!dtype)
      return {};
    std::vector<std::uint64_t> shape;
    unsigned __int128 bits = dtype->bits;
    std::istringstream extents(shapeText == "-" ? "" : shapeText);
    for (std::string extent; std::getline(extents, extent, ',') && shape.size() < 6;) {
      shape.push_back(std::strtoull(extent.c_str(), nullptr, 10) & INT64_MAX);
      bits *= shape.back();
      if (bits > std::numeric_limits<std::uint64_t>::max())
        return {};
    }
    const auto bytes = static_cast<std::uint64_t>(bits / 8);
    if (bytes > kMaxBytes || end + bytes > kMaxBytes)
      return {};
    header[name] = {{"dtype", dtype->name}, {"shape", shape}, {"data_offsets", {end, end + bytes}}};
    end += bytes;
  }
  const std::string json = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::byte> file(8 + json.size() + end);
  for (int i = 0; i < 8; ++i)
    file[i] = static_cast<std::byte>(json.size() >> (8 * i) & 0xff);
  std::memcpy(file.data() + 8, json.data(), json.size());
  return file;
}

void require(bool condition) {
  if (!condition)
    std::abort();
}

void checkLayer(const Layer& layer) {
  require(layer.shape.size() == 2 || layer.shape.size() == 3);
  require(layer.type.block.size() == layer.shape.size());
  for (const std::int64_t extent : layer.type.block)
    require(extent >= 1);
  if (!layer.scales || (layer.type.hasOuterScale && !layer.outer))
    return;
  const auto reader = LayerReader::open(layer);
  require(reader.has_value());
  std::int64_t values = reader->rows();
  if (values > 0 && reader->columns() > 0 && values < 1024 && reader->columns() < 1024) {
    std::vector<float> row(static_cast<std::size_t>(values * reader->columns()));
    reader->values(0, values, row.data(), {});
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts) {
    part = text.substr(0, text.find('\xff'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  const std::vector<std::byte> bytes = makeFile(parts[2]);
  auto file = SafetensorsFile::parse(bytes, "model.safetensors");
  if (!file)
    return 0;
  std::vector<SafetensorsFile> files;
  files.push_back(std::move(*file));
  const Json config = parse(parts[0]), quantConfig = parse(parts[1]);
  const Folder folder = Folder::ofFiles(std::move(files), config, quantConfig);

  Findings findings;
  // The layout that it is, and one that it need not be.
  const Layout* detected = detectLayout(folder, findings).layout;
  for (const Layout* layout : {detected, layouts()[size % layouts().size()]}) {
    const Inventory inventory = layout->read(folder, findings);
    require(inventory.layers.size() + inventory.plain.size() <= folder.tensors().size());
    LayoutChoice choice;
    for (const Layer& layer : inventory.layers) {
      checkLayer(layer);
      if (layer.format && layout->spelling(layer.format->name))
        choice.layers.emplace_back(layer.name, layer.format);
    }
    Json written = config, writtenQuantConfig = quantConfig;
    layout->configure(choice, written, writtenQuantConfig);
    (void)written.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  for (const Finding& finding : findings)
    require(!finding.rule.empty() && !finding.what.empty() && !finding.fix.empty());
  return 0;
}
