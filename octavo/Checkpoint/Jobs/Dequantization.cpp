#include "octavo/Checkpoint/Jobs/Dequantization.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/ScaleCheck.h"
#include "octavo/Checkpoint/ValueRows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace octavo::checkpoint {

namespace {

class DequantizeStep final : public Step {
public:
  DequantizeStep(const LayerReader& reader, kernels::WideType dtype, Doubts allowed)
      : rows(checkedRows(reader, allowed)), axes(reader.layer().plainAxes), dtype(dtype),
        planned{plainName(reader.layer()), &plainDtype(dtype), reader.layer().shape},
        all(piecesOf(*rows, axes == PlainAxes::Same ? 1 : 0)),
        tileRows(tileRowsOf(*rows, axes == PlainAxes::Same ? 1 : 0)) {
    if (axes == PlainAxes::Swapped)
      std::swap(planned.shape[planned.shape.size() - 1], planned.shape[planned.shape.size() - 2]);
  }

  std::span<const PlannedTensor> outputs() const override { return {&planned, 1}; }
  std::span<const Piece> pieces() const override { return all; }
  std::uint64_t pieceMemory() const override {
    const auto values = static_cast<std::uint64_t>(mostValues(*rows, all));
    const auto inTile = std::min(values, static_cast<std::uint64_t>(tileRows * rows->columns()));
    return inTile * (axes == PlainAxes::Same ? 4 : 4 + 4) + values * kernels::wideBytes(dtype);
  }

  tl::expected<void, Error> make(std::size_t index, const Sink& sink, Scratch& scratch) override {
    const Piece piece = all[index];
    const auto rowBytes = static_cast<std::size_t>(rows->columns()) * kernels::wideBytes(dtype);
    const std::uint64_t offset = static_cast<std::uint64_t>(piece.begin) * rowBytes;
    const std::span<std::byte> stored = sink.place(
        0, offset, static_cast<std::size_t>(piece.end - piece.begin) * rowBytes, scratch.stored);
    for (std::int64_t begin = piece.begin; begin < piece.end; begin += tileRows) {
      const Piece tile{begin, std::min(begin + tileRows, piece.end)};
      auto* to = stored.data() + static_cast<std::size_t>(begin - piece.begin) * rowBytes;
      const auto beyond = dequantize(tile, to, scratch);
      if (!beyond)
        return tl::unexpected(beyond.error());
      if (*beyond > 0)
        return tl::unexpected(
            Error{.file = rows->tensor().shard->name(),
                  .problem = "has values larger than the new dtype can hold",
                  .tensor = rows->tensor().name(),
                  .expected = fmt::format("values of {}", planned.dtype->name),
                  .found = fmt::format("larger ones in rows {} to {}", tile.begin, tile.end - 1),
                  .fix = "use --dtype bf16 or f32"});
    }
    return sink.write(0, offset, stored);
  }

private:
  /// The values of some rows in the new dtype, and how many of them it cannot hold.
  tl::expected<std::size_t, Error> dequantize(Piece tile, std::byte* to, Scratch& scratch) const {
    const auto n = static_cast<std::size_t>((tile.end - tile.begin) * rows->columns());
    scratch.values.resize(n);
    if (auto done = rows->read(tile, scratch.values.data(), scratch); !done)
      return tl::unexpected(std::move(done.error()));
    if (axes == PlainAxes::Same)
      return kernels::narrow(dtype, scratch.values.data(), to, n);
    scratch.restored.resize(n);
    transpose(scratch.values.data(), rows->rowsInMatrix(), rows->columns(),
              scratch.restored.data());
    return kernels::narrow(dtype, scratch.restored.data(), to, n);
  }

  std::shared_ptr<const ValueRows> rows;
  PlainAxes axes;
  kernels::WideType dtype;
  PlannedTensor planned;
  std::vector<Piece> all;
  std::int64_t tileRows;
};

} // namespace

/// Models say the dtype of their weights under one of these keys.
static void setDtype(Json& config, const SafetensorsDtype& dtype) {
  const std::string_view name = dtype.type->format().torch;
  for (const char* key : {"torch_dtype", "dtype"})
    if (config.is_object() && config.contains(key))
      config[key] = name;
}

tl::expected<Rewrite, Error> planDequantization(const Folder& folder,
                                                const DequantizationChoice& choice, Json options) {
  const Layout& layout = *choice.layout;
  Rewrite rewrite;
  auto inventory = std::make_unique<Inventory>(layout.read(folder, rewrite.notes));
  if (auto whole = refuseUnread(folder, *inventory); !whole)
    return tl::unexpected(std::move(whole.error()));
  if (auto sure = refuseDoubts(*inventory, choice.allowed); !sure)
    return tl::unexpected(std::move(sure.error()));
  if (auto done = refuseCodesAlone(folder, layout, *inventory); !done)
    return tl::unexpected(std::move(done.error()));
  ShardBuilder shards(folder);
  for (const Layer& layer : inventory->layers) {
    auto reader = LayerReader::open(layer);
    if (!reader)
      return tl::unexpected(std::move(reader.error()));
    if (auto sure = checkOuterScale(layer, choice.allowed); !sure)
      return tl::unexpected(std::move(sure.error()));
    auto step = std::make_unique<DequantizeStep>(*reader, choice.dtype, choice.allowed);
    const PlannedTensor& plain = step->outputs().front();
    rewrite.changes.push_back(
        {.name = plain.name,
         .from = std::string(layer.format ? layer.format->name : layer.type.element->name),
         .to = std::string(plain.dtype->name),
         .elements = static_cast<std::uint64_t>(numerics::elementCount(plain.shape)),
         .bytesBefore = bytesOf(layer),
         .bytesAfter = storedBytes(*plain.dtype, plain.shape)});
    dropScales(shards, layer);
    shards.replace(layer.elements.tensor, std::move(step));
  }
  std::size_t dropped = 0;
  for (const KvScales& kv : inventory->kvScales)
    for (const std::optional<Part>* part : {&kv.key, &kv.value, &kv.query, &kv.probability})
      if (*part) {
        shards.drop((*part)->tensor);
        ++dropped;
      }
  dropRepeated(shards, *inventory);
  if (dropped > 0)
    rewrite.notes.push_back(
        finding("dropped-kv-scales", "", "",
                fmt::format("{} scales of the key-value cache are not in the output", dropped)));

  auto job = shards.build(std::move(options));
  if (!job)
    return tl::unexpected(std::move(job.error()));
  rewrite.job = std::move(*job);
  findLayout("plain")->configure({}, rewrite.job.config, rewrite.job.quantConfig);
  if (!inventory->layers.empty())
    setDtype(rewrite.job.config, plainDtype(choice.dtype));
  rewrite.inventory = std::move(inventory);
  return rewrite;
}

} // namespace octavo::checkpoint
