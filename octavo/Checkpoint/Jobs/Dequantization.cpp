#include "octavo/Checkpoint/Jobs/Dequantization.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/ScaleCheck.h"
#include "octavo/Checkpoint/ValueRows.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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
  /// Writes the values of `tile` to `to` in the new dtype. Returns how many of them the dtype
  /// cannot hold.
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

/// Widens 8-bit floats without scales, which are their own values.
class WidenStep final : public Step {
public:
  WidenStep(const StoredTensor& tensor, kernels::WideType dtype)
      : tensor(tensor), dtype(dtype),
        planned{tensor.name(), &plainDtype(dtype), tensor.entry->shape} {
    const format::ElementFormat& format = tensor.entry->dtype->type->format();
    for (std::size_t code = 0; code < values.size(); ++code)
      values[code] = static_cast<float>(numerics::decode(format, code));
    const auto count = static_cast<std::int64_t>(tensor.size());
    for (std::int64_t begin = 0; begin < count; begin += kPieceValues)
      all.push_back({begin, std::min(begin + kPieceValues, count)});
  }

  std::span<const PlannedTensor> outputs() const override { return {&planned, 1}; }
  std::span<const Piece> pieces() const override { return all; }
  std::uint64_t pieceMemory() const override {
    return std::min<std::uint64_t>(tensor.size(), kPieceValues) * (1 + 4 + 4);
  }
  tl::expected<void, Error> make(std::size_t index, const Sink& sink, Scratch& scratch) override {
    const Piece piece = all[index];
    const auto n = static_cast<std::size_t>(piece.end - piece.begin);
    scratch.codes.resize(n);
    if (auto done = tensor.fetch(static_cast<std::uint64_t>(piece.begin), scratch.codes); !done)
      return done;
    scratch.values.resize(n);
    std::ranges::transform(scratch.codes, scratch.values.begin(),
                           [&](std::byte code) { return values[static_cast<std::uint8_t>(code)]; });
    const std::uint64_t width = kernels::wideBytes(dtype);
    const std::uint64_t offset = static_cast<std::uint64_t>(piece.begin) * width;
    const std::span<std::byte> stored = sink.place(0, offset, n * width, scratch.stored);
    kernels::narrow(dtype, scratch.values.data(), stored.data(), n);
    return sink.write(0, offset, stored);
  }

private:
  StoredTensor tensor;
  kernels::WideType dtype;
  PlannedTensor planned;
  std::array<float, 256> values{};
  std::vector<Piece> all;
};

class DequantizationPlanner : RewritePlanner {
public:
  DequantizationPlanner(const Folder& folder, const DequantizationChoice& choice)
      : RewritePlanner(folder), choice(choice) {}

  tl::expected<Rewrite, Error> plan(Json options) {
    return read(*choice.layout, choice.allowed, UnreadParts::Refused)
        .and_then([&] { return refuseCodesAlone(folder, *choice.layout, inventory()); })
        .and_then([&] { return forLayers([&](const auto& reader) { return place(reader); }); })
        .and_then([&] {
          widenCasts();
          dropKvScales();
          dropIdle();
          dropLeakedState();
          return finish(std::move(options), *findLayout("plain"), {});
        })
        .map([&](Rewrite whole) {
          if (!whole.changes.empty())
            setModelDtype(whole.job.config, plainDtype(choice.dtype));
          return whole;
        });
  }

private:
  tl::expected<void, Error> place(const LayerReader& reader) {
    return checkOuterScale(reader.layer(), choice.allowed).map([&] {
      replace(reader.layer(), plainDtype(choice.dtype).name,
              std::make_unique<DequantizeStep>(reader, choice.dtype, choice.allowed));
    });
  }

  /// Replaces codes without scales that the user allows to be their own values.
  void widenCasts() {
    for (const Doubtful& each : inventory().doubts) {
      const StoredTensor* tensor =
          each.doubt == Doubt::UnscaledCodes ? folder.find(each.tensor) : nullptr;
      if (!tensor || tensor->entry->dtype->bits != 8)
        continue;
      replace(*tensor,
              {.name = tensor->name(),
               .from = std::string(tensor->entry->dtype->name),
               .to = std::string(plainDtype(choice.dtype).name),
               .elements = tensor->size(),
               .bytesBefore = tensor->size()},
              std::make_unique<WidenStep>(*tensor, choice.dtype));
    }
  }

  void dropKvScales() {
    std::size_t dropped = 0;
    for (const KvScales& kv : inventory().kvScales)
      for (const auto& [role, part] : scalesOf(kv)) {
        drop(part->tensor);
        ++dropped;
      }
    if (dropped > 0)
      rewrite.notes.push_back(
          finding("dropped-kv-scales", "", "",
                  fmt::format("{} scales of the key-value cache are not in the output", dropped)));
  }

  const DequantizationChoice& choice;
};

} // namespace

tl::expected<Rewrite, Error> planDequantization(const Folder& folder,
                                                const DequantizationChoice& choice, Json options) {
  return DequantizationPlanner(folder, choice).plan(std::move(options));
}

} // namespace octavo::checkpoint
