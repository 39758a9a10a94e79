// Fuzzes layouts with a small checkpoint made from text: config.json, hf_quant_config.json and
// tensors, separated by 0xFF; each tensor is a line of dtype, shape and name. Whatever the text is,
// a layout must read it, place only existing tensors, and give consistent layers.
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

using namespace octavo;
using namespace octavo::checkpoint;

namespace {

constexpr std::uint64_t kMaxBytes = 1 << 16;

Json parse(std::string_view text) {
  auto value = parseJson(text, "config.json");
  return value ? std::move(*value) : Json();
}

/// Removes `text` up to and including the next `separator`; returns the part before it.
std::string_view takeUntil(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::uint64_t extentOf(std::string_view text) {
  std::int64_t extent = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), extent);
  return code == std::errc::result_out_of_range ? INT64_MAX : extent & INT64_MAX;
}

/// The bytes of a safetensors file; empty if the lines do not describe tensors. The header is built
/// as text, because streams and JSON values took more time than the layouts under test.
std::vector<std::byte> makeFile(std::string_view lines) {
  std::string header = "{";
  std::uint64_t end = 0;
  for (int count = 0; !lines.empty() && count < 64; ++count) {
    std::string_view line = takeUntil(lines, '\n');
    const SafetensorsDtype* dtype = findSafetensorsDtype(takeUntil(line, ' '));
    if (!dtype)
      return {};
    std::string_view extents = takeUntil(line, ' ');
    if (extents == "-")
      extents = "";
    std::string shape;
    unsigned __int128 bits = dtype->bits;
    for (int rank = 0; !extents.empty() && rank < 6; ++rank) {
      const std::uint64_t extent = extentOf(takeUntil(extents, ','));
      shape += (rank ? "," : "") + std::to_string(extent);
      bits *= extent;
      if (bits > std::numeric_limits<std::uint64_t>::max())
        return {};
    }
    const auto bytes = static_cast<std::uint64_t>(bits / 8);
    if (bytes > kMaxBytes || end + bytes > kMaxBytes)
      return {};
    header += (count ? "," : "") +
              Json(takeUntil(line, ' ')).dump(-1, ' ', false, Json::error_handler_t::replace) +
              ":{\"dtype\":\"" + std::string(dtype->name) + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(end) + "," + std::to_string(end + bytes) +
              "]}";
    end += bytes;
  }
  header += '}';
  std::vector<std::byte> file(8 + header.size() + end);
  for (int i = 0; i < 8; ++i)
    file[i] = static_cast<std::byte>(header.size() >> (8 * i) & 0xff);
  std::memcpy(file.data() + 8, header.data(), header.size());
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
  if (!layer.scales || (layer.type.hasOuterScale && !layer.outer) || !layer.unapplied.empty())
    return;
  const auto reader = LayerReader::open(layer);
  require(reader.has_value());
  std::int64_t values = reader->rows();
  if (values > 0 && reader->columns() > 0 && values < 1024 && reader->columns() < 1024) {
    std::vector<float> row(static_cast<std::size_t>(values * reader->columns()));
    Fetched fetched;
    require(reader->values(0, values, row.data(), fetched).has_value());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts)
    part = takeUntil(text, '\xff');
  const std::vector<std::byte> bytes = makeFile(parts[2]);
  auto file = SafetensorsFile::open(InputFile::ofMemory(bytes, "model.safetensors"));
  if (!file)
    return 0;
  std::vector<SafetensorsFile> files;
  files.push_back(std::move(*file));
  const Folder folder = Folder::ofFiles(std::move(files), parse(parts[0]), parse(parts[1]));

  Findings findings;
  // The detected layout, and an arbitrary one.
  const Layout* detected = detectLayout(folder, findings).layout;
  for (const Layout* layout : {detected, layouts()[size % layouts().size()]}) {
    const Inventory inventory = layout->read(folder, findings);
    require(inventory.layers.size() + inventory.plain.size() <= folder.tensors().size());
    LayoutChoice choice;
    for (const Layer& layer : inventory.layers) {
      checkLayer(layer);
      if (layer.format && layout->spelling(layer.format->name))
        choice.layers.push_back({layer.name, layer.format, layer.activations});
    }
    layout->settleActivations(choice.layers);
    Json written = folder.config(), writtenQuantConfig = folder.quantConfig();
    layout->configure(choice, written, writtenQuantConfig);
    (void)written.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  for (const Finding& finding : findings)
    require(!finding.what.empty() && !finding.fix.empty());
  return 0;
}
