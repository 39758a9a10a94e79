#include "octavo/Checkpoint/Jobs/FnuzConversion.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/ScaleCheck.h"
#include "octavo/Checkpoint/ValueRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <utility>

namespace octavo::checkpoint {

using format::ElementFormat;
using numerics::FnuzOptions;
using numerics::NoTwin;
using numerics::ScaleRange;
using numerics::SpecialCodes;

namespace {

/// Ways in which a code has no exact twin.
enum class Odd : std::uint8_t { NegativeZero, Special, Beyond, Capped, Inexact };
constexpr std::size_t kOdds = 5;

struct OddName {
  const char* key; ///< key in the report
  const char* problem;
  const char* fix;
};
constexpr std::array<OddName, kOdds> kOddNames = {{
    {"negative_zeros", "", ""},
    {"nan_codes", "has a code of NaN or infinity",
     "--nan-codes nan keeps it NaN; --nan-codes saturate makes it the largest value"},
    {"beyond", "has a code whose value would exceed the other format's largest",
     "--beyond saturate limits it; --beyond requantize keeps the scale and rounds the codes under "
     "it"},
    {"capped", "", ""},
    {"inexact", "", ""},
}};

/// Codes that are read and changed at a time, at most, unless a row has more.
constexpr std::int64_t kTileBytes = std::int64_t{1} << 17;

/// Counts all kinds of Odd in one word, so that each code costs one addition.
using Tally = std::uint64_t;
constexpr int kTallyBits = 12;
constexpr std::int64_t kTallyCodes = (1 << kTallyBits) - 1; ///< most codes in one tally

constexpr Tally one(Odd odd) { return Tally{1} << (kTallyBits * static_cast<int>(odd)); }
constexpr std::int64_t countOf(Tally tally, std::size_t odd) {
  return static_cast<std::int64_t>(tally >> (kTallyBits * static_cast<int>(odd)) & kTallyCodes);
}

/// What each code becomes, its kinds of Odd, and how its scale changes.
struct CodeMap {
  std::array<std::uint8_t, 256> codes;
  std::array<Tally, 256> odds;
  int exponent; ///< the scale is multiplied by 2^exponent
};

/// Builds a map by applying `respell` to each code. `respell` changes the code in place and returns
/// its tally.
template <typename Respell> CodeMap mapOf(int exponent, Respell respell) {
  CodeMap map{.codes = {}, .odds = {}, .exponent = exponent};
  for (std::uint32_t code = 0; code < 256; ++code) {
    map.codes[code] = static_cast<std::uint8_t>(code);
    map.odds[code] = respell(std::span(&map.codes[code], 1));
  }
  return map;
}

Tally oddsOf(const numerics::FnuzReport& report) {
  return (report.negativeZeros ? one(Odd::NegativeZero) : 0) |
         (report.specials ? one(Odd::Special) : 0) | (report.noTwins ? one(Odd::Beyond) : 0);
}

/// Options under which no code is refused: the maps need a value for each code, and the steps do
/// the refusing.
FnuzOptions allowing(FnuzOptions options) {
  if (options.special == SpecialCodes::Refuse)
    options.special = SpecialCodes::Nan;
  options.noTwin = NoTwin::Saturate;
  return options;
}

CodeMap toFnuz(const ElementFormat& ocp, const FnuzOptions& options) {
  return mapOf(1, [&](std::span<std::uint8_t> code) {
    return oddsOf(numerics::ocpToFnuz(ocp, code, allowing(options)));
  });
}

CodeMap toOcp(const ElementFormat& fnuz, const FnuzOptions& options) {
  return mapOf(-1, [&](std::span<std::uint8_t> code) {
    return oddsOf(numerics::fnuzToOcp(fnuz, code, allowing(options)));
  });
}

/// The map for blocks that hold a code beyond the other format's largest: the scale stays and all
/// codes are rounded by value.
CodeMap toOcpByValue(const ElementFormat& fnuz, const FnuzOptions& options) {
  FnuzOptions requantizing = allowing(options);
  requantizing.noTwin = NoTwin::Requantize;
  CodeMap map = mapOf(0, [](std::span<std::uint8_t>) { return Tally{0}; });
  numerics::fnuzToOcp(fnuz, map.codes, requantizing); // all 256 codes as one block
  const CodeMap byCode = toOcp(fnuz, options);
  for (std::uint32_t code = 0; code < 256; ++code) {
    const double before = numerics::decode(fnuz, code);
    const double after = numerics::decode(*numerics::fnuzTwin(fnuz), map.codes[code]);
    map.odds[code] = byCode.odds[code] & one(Odd::Special);
    if (!std::isnan(before) && before != after)
      map.odds[code] |= one(Odd::Inexact);
  }
  return map;
}

CodeMap capped(const ElementFormat& fnuz) {
  return mapOf(0, [&](std::span<std::uint8_t> code) {
    return numerics::capFnuz(fnuz, code) > 0 ? one(Odd::Capped) : Tally{0};
  });
}

numerics::ScaleShiftReport shift(const ElementFormat& format, std::span<std::byte> scales,
                                 int exponent, ScaleRange range) {
  // Scales may be unaligned in memory, so they are copied to numbers.
  const auto shifted = [&]<typename Code>(Code) {
    std::vector<Code> codes(scales.size() / sizeof(Code));
    std::ranges::copy(scales, std::as_writable_bytes(std::span(codes)).begin());
    const auto report = numerics::shiftScales(format, std::span(codes), exponent, range);
    std::ranges::copy(std::as_bytes(std::span(codes)), scales.begin());
    return report;
  };
  switch (format.bytes()) {
  case 1:
    return shifted(std::uint8_t{});
  case 2:
    return shifted(std::uint16_t{});
  default:
    return shifted(std::uint32_t{});
  }
}

Error scaleError(const Part& scales, std::int64_t index, int exponent) {
  std::uint64_t code = 0;
  const auto width = static_cast<std::size_t>(scales.format->bytes());
  if (auto read = scales.tensor.fetch(static_cast<std::uint64_t>(index) * width,
                                      std::as_writable_bytes(std::span(&code, 1)).first(width));
      !read)
    return std::move(read.error());
  return {
      .file = scales.tensor.shard->name(),
      .problem = fmt::format("has a scale that cannot be {}", exponent > 0 ? "doubled" : "halved"),
      .tensor = scales.tensor.name(),
      .expected = fmt::format("2^{} times it in {}", exponent, scales.format->name),
      .found = fmt::format("{} at index {}", numerics::decode(*scales.format, code), index),
      .fix =
          "--scale-range saturate takes the nearest scale that the format has; `octavo checkpoint "
          "dequantize` and `quantize` make new ones"};
}

/// Finds the scales that have a code beyond the largest, if one scale applies to several pieces.
class BeyondMeasurement final : public Measurement {
public:
  BeyondMeasurement(const LayerReader& reader, const CodeMap& map)
      : reader(reader), map(map), all(piecesOf(*layerRows(reader))),
        found(static_cast<std::size_t>(reader.rows() /
                                       std::max<std::int64_t>(1, reader.rowsInMatrix()) *
                                       reader.scalesInRow())) {}
  std::span<const Piece> pieces() const override { return all; }
  tl::expected<void, Error> measure(std::size_t index, Scratch& scratch) override {
    const Piece piece = all[index];
    scratch.codes.resize(static_cast<std::size_t>((piece.end - piece.begin) * reader.columns()));
    auto* codes = reinterpret_cast<std::uint8_t*>(scratch.codes.data());
    if (auto done = reader.codes(piece.begin, piece.end, codes, scratch.fetched); !done)
      return done;
    for (std::int64_t row = piece.begin; row < piece.end; ++row)
      for (std::int64_t c = 0; c < reader.columns(); ++c, ++codes)
        if (map.odds[*codes] & one(Odd::Beyond))
          found[slot(row, c)].store(true, std::memory_order_relaxed);
    return {};
  }
  bool isBeyond(std::int64_t row, std::int64_t column) const { return found[slot(row, column)]; }

private:
  std::size_t slot(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row / reader.rowsInMatrix() * reader.scalesInRow() +
                                    column / reader.columnsInBlock());
  }
  const LayerReader reader;
  const CodeMap map;
  std::vector<Piece> all;
  std::vector<std::atomic<bool>> found;
};

class FnuzStep final : public Step {
public:
  FnuzStep(const LayerReader& reader, const ElementFormat& to, const FnuzChoice& choice,
           const CodeMap& map, std::optional<CodeMap> byValue)
      : reader(reader), check(reader, choice.allowed), choice(choice), map(map),
        byValue(std::move(byValue)), all(piecesOf(*layerRows(reader))) {
    const Layer& layer = reader.layer();
    const SafetensorsEntry& elements = *layer.elements.tensor.entry;
    const SafetensorsEntry& scales = *layer.scales->tensor.entry;
    planned = {{elements.name, findSafetensorsDtype(to.safetensors), elements.shape},
               {scales.name, scales.dtype, scales.shape}};
    if (this->byValue && sharesScales())
      beyond = std::make_unique<BeyondMeasurement>(reader, map);
    if (choice.codes.special == SpecialCodes::Refuse)
      refused |= one(Odd::Special);
    if (choice.codes.noTwin == NoTwin::Refuse)
      refused |= one(Odd::Beyond);
  }

  std::span<const PlannedTensor> outputs() const override { return planned; }
  Measurement* needs() const override { return beyond.get(); }
  std::span<const Piece> pieces() const override { return all; }
  std::uint64_t pieceMemory() const override {
    std::int64_t scales = 0;
    for (const Piece& piece : all)
      scales = std::max(scales, reader.scaleCount(piece.begin, piece.end));
    return static_cast<std::uint64_t>(mostValues(*layerRows(reader), all) +
                                      scales * reader.layer().scales->format->bytes());
  }

  tl::expected<void, Error> make(std::size_t index, const Sink& sink, Scratch& scratch) override {
    const Piece piece = all[index];
    if (auto sure = check(piece, scratch.fetched); !sure)
      return sure;
    const Layer& layer = reader.layer();
    const auto at = static_cast<std::uint64_t>(piece.begin * reader.columns());
    const auto n = static_cast<std::size_t>((piece.end - piece.begin) * reader.columns());
    const std::span<std::byte> codes = sink.place(0, at, n, scratch.stored);
    const auto [scalesBegin, scalesSize] = reader.storedScales(piece.begin, piece.end);
    scratch.scales.resize(scalesSize);
    if (auto fetched = layer.scales->tensor.fetch(scalesBegin, scratch.scales); !fetched)
      return fetched;
    // A scale that applies to several pieces is written by the first piece of its matrix.
    const bool hasScales = !sharesScales() || piece.begin % reader.rowsInMatrix() == 0;
    const Scales scales{scratch.scales, scalesBegin, hasScales};
    auto* const first = reinterpret_cast<std::uint8_t*>(codes.data());
    auto done = byValue ? makeByBlocks(piece, first, scales, scratch)
                        : makeAlike(piece, first, scales, scratch);
    if (!done)
      return done;
    auto written = sink.write(0, at, codes);
    return written && hasScales ? sink.write(1, scalesBegin, scratch.scales) : written;
  }

  Json report() const override {
    Json report = {{"name", plainName(reader.layer())}};
    bool isOdd = scalesOutOfRange > 0;
    for (std::size_t i = 0; i < kOdds; ++i) {
      report[kOddNames[i].key] = counts[i].load();
      isOdd |= counts[i] > 0;
    }
    report["scales_out_of_range"] = scalesOutOfRange.load();
    return isOdd ? report : Json(nullptr);
  }

private:
  struct Block {
    std::int64_t rowBegin, rowEnd, begin, end; ///< rows relative to the piece; columns
  };
  struct Scales {
    std::span<std::byte> bytes;
    std::uint64_t begin; ///< offset in the tensor, in bytes
    bool isCounted;      ///< whether this piece counts scales out of range
  };

  /// Converts codes and scales of a piece if all change alike, in tiles that fit the cache.
  tl::expected<void, Error> makeAlike(Piece piece, std::uint8_t* codes, const Scales& scales,
                                      Scratch& scratch) {
    const std::int64_t height =
        std::max<std::int64_t>(1, kTileBytes / std::max<std::int64_t>(1, reader.columns()));
    for (std::int64_t row = piece.begin; row < piece.end; row += height) {
      const std::int64_t end = std::min(row + height, piece.end);
      const Block tile{row - piece.begin, end - piece.begin, 0, reader.columns()};
      auto done = reader.codes(row, end, codes + tile.rowBegin * reader.columns(), scratch.fetched)
                      .and_then([&] { return respell(tile, piece.begin, codes, map); });
      if (!done)
        return done;
    }
    return shiftScales(scales.bytes, scales.begin, map.exponent, scales.isCounted);
  }

  /// Converts a piece block by block: the codes of a block decide how it changes.
  tl::expected<void, Error> makeByBlocks(Piece piece, std::uint8_t* codes, const Scales& scales,
                                         Scratch& scratch) {
    if (auto done = reader.codes(piece.begin, piece.end, codes, scratch.fetched); !done)
      return done;
    const std::int64_t rows = piece.end - piece.begin;
    const std::int64_t height = std::min(reader.rowsInBlock(), rows);
    const std::int64_t width = reader.columnsInBlock();
    const auto scaleBytes = static_cast<std::size_t>(reader.layer().scales->format->bytes());
    std::size_t scale = 0;
    for (std::int64_t row = 0; row < rows; row += height)
      for (std::int64_t c = 0; c < reader.columns(); c += width, scale += scaleBytes) {
        const Block block{row, std::min(row + height, rows), c,
                          std::min(c + width, reader.columns())};
        const CodeMap& how = mapFor(block, piece.begin, codes);
        auto done = respell(block, piece.begin, codes, how).and_then([&] {
          return shiftScales(scales.bytes.subspan(scale, scaleBytes), scales.begin + scale,
                             how.exponent, scales.isCounted);
        });
        if (!done)
          return done;
      }
    return {};
  }

  /// Whether a block spans all rows of a matrix, so that several pieces share its scale.
  bool sharesScales() const { return reader.rowsInBlock() >= reader.rowsInMatrix(); }

  const CodeMap& mapFor(const Block& block, std::int64_t pieceBegin,
                        const std::uint8_t* codes) const {
    if (beyond)
      return beyond->isBeyond(pieceBegin + block.rowBegin, block.begin) ? *byValue : map;
    for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row)
      for (std::int64_t c = block.begin; c < block.end; ++c)
        if (map.odds[codes[row * reader.columns() + c]] & one(Odd::Beyond))
          return *byValue;
    return map;
  }

  tl::expected<void, Error> respell(const Block& block, std::int64_t pieceBegin,
                                    std::uint8_t* codes, const CodeMap& how) {
    for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row)
      for (std::int64_t begin = block.begin; begin < block.end; begin += kTallyCodes) {
        const std::int64_t end = std::min(begin + kTallyCodes, block.end);
        std::uint8_t* const at = codes + row * reader.columns();
        Tally tally = 0;
        for (std::int64_t c = begin; c < end; ++c)
          tally += how.odds[at[c]];
        for (std::size_t i = 0; i < kOdds; ++i) {
          const Tally kind = one(static_cast<Odd>(i));
          if (countOf(tally, i) == 0)
            continue;
          if (refused & kind) {
            const std::uint8_t* const first = std::find_if(
                at + begin, at + end, [&](std::uint8_t code) { return how.odds[code] & kind; });
            return tl::unexpected(codeError(kOddNames[i], *first, pieceBegin + row, first - at));
          }
          counts[i] += countOf(tally, i);
        }
        for (std::int64_t c = begin; c < end; ++c)
          at[c] = how.codes[at[c]];
      }
    return {};
  }

  Error codeError(const OddName& odd, std::uint8_t code, std::int64_t row,
                  std::int64_t column) const {
    const Part& elements = reader.layer().elements;
    return {.file = elements.tensor.shard->name(),
            .problem = odd.problem,
            .tensor = elements.tensor.name(),
            .expected = fmt::format("codes of {} with a twin in {}", elements.format->name,
                                    numerics::fnuzTwin(*elements.format)->name),
            .found = fmt::format("0x{:02X} in row {}, column {}", code, row, column),
            .fix = odd.fix};
  }

  /// Multiplies scales by 2^exponent. `begin` is their offset in the tensor, for errors.
  tl::expected<void, Error> shiftScales(std::span<std::byte> scales, std::uint64_t begin,
                                        int exponent, bool isCounted) {
    const Part& part = *reader.layer().scales;
    const auto report = shift(*part.format, scales, exponent, choice.scales);
    if (report.refused) {
      const auto first = static_cast<std::int64_t>(begin) / part.format->bytes();
      return tl::unexpected(scaleError(part, first + *report.refused, exponent));
    }
    if (isCounted)
      scalesOutOfRange += report.outOfRange;
    return {};
  }

  const LayerReader reader;
  const ScaleCheck check;
  const FnuzChoice choice;
  const CodeMap map;
  const std::optional<CodeMap> byValue;
  std::vector<Piece> all;
  std::vector<PlannedTensor> planned;
  std::unique_ptr<BeyondMeasurement> beyond;
  Tally refused = 0; ///< bits of the kinds that are refused
  std::array<std::atomic<std::int64_t>, kOdds> counts{};
  std::atomic<std::int64_t> scalesOutOfRange{0};
};

class FnuzPlanner : RewritePlanner {
public:
  FnuzPlanner(const Folder& folder, const FnuzChoice& choice)
      : RewritePlanner(folder), choice(choice) {}

  tl::expected<Rewrite, Error> plan(Json options) {
    auto placed = read(*choice.layout, choice.allowed, UnreadParts::Copied).and_then([&] {
      std::ranges::for_each(inventory().layers, takeAsStored);
      return forLayers([&](const auto& reader) { return place(reader); });
    });
    if (!placed)
      return tl::unexpected(std::move(placed.error()));
    if (!inventory().foreign.empty())
      return tl::unexpected(Error{.file = folder.path().string(),
                                  .problem = "has codes that octavo cannot read",
                                  .tensor = inventory().foreign.front().tensor.name(),
                                  .found = inventory().foreign.front().producer,
                                  .fix = "dequantize it with the tool that wrote it"});
    if (rewrite.changes.empty())
      return tl::unexpected(Error{.file = folder.path().string(),
                                  .problem = isToFnuz() ? "has no FP8 weights of OCP's formats"
                                                        : "has no FP8 weights of the FNUZ formats",
                                  .expected = isToFnuz() ? "elements of F8_E4M3 or F8_E5M2"
                                                         : "elements of F8_E4M3FNUZ or F8_E5M2FNUZ",
                                  .found = fmt::format("layout {}, {} other quantized weights",
                                                       choice.layout->name(), rewrite.left.size()),
                                  .fix = "octavo checkpoint inspect shows the formats"});
    if (!inventory().kvScales.empty() && isToFnuz())
      rewrite.notes.push_back(
          finding("kept-kv-scales", "", "", "scales of the key-value cache stay as they are"));
    return finish(std::move(options));
  }

private:
  /// One-byte codes are converted in storage order, so a layer with swapped axes is treated as its
  /// stored shape.
  static void takeAsStored(Layer& layer) {
    if (layer.storedAxes == StoredAxes::Same || layer.elements.packed)
      return;
    std::swap(layer.shape[1], layer.shape[2]);
    std::swap(layer.type.block[1], layer.type.block[2]);
    layer.storedAxes = StoredAxes::Same;
  }

  bool isToFnuz() const { return choice.direction == FnuzDirection::ToFnuz; }

  tl::expected<void, Error> place(const LayerReader& reader) {
    const Layer& layer = reader.layer();
    const ElementFormat& from = *layer.type.element;
    const ElementFormat* twin = numerics::fnuzTwin(from);
    const bool isFnuz = from.specials == format::Specials::UnsignedZero;
    if (!twin) {
      leave(plainName(layer), fmt::format("{} has no FNUZ twin", from.name));
      return {};
    }
    const bool isCap = isFnuz && isToFnuz() && choice.largest == FnuzLargest::Ocp;
    if (isFnuz == isToFnuz() && !isCap) {
      leave(plainName(layer), fmt::format("is {} already", from.name));
      return {};
    }
    const ElementFormat& to = isCap ? from : *twin;
    const CodeMap map = isCap        ? capped(from)
                        : isToFnuz() ? toFnuz(from, choice.codes)
                                     : toOcp(from, choice.codes);
    if (layer.scales->order != ScaleOrder::Rows)
      return tl::unexpected(Error{.file = layer.scales->tensor.shard->name(),
                                  .problem = "has scales that are not one a block, row after row",
                                  .tensor = layer.scales->tensor.name(),
                                  .found = layer.scales->order == ScaleOrder::Tiles
                                               ? "cuBLAS' tiles"
                                               : "one for each part of a fused weight",
                                  .fix = "`octavo checkpoint convert DIR -o OUT --layout LAYOUT` "
                                         "first, with a layout that octavo writes"});
    std::optional<CodeMap> byValue;
    if (!isToFnuz() && choice.codes.noTwin == NoTwin::Requantize)
      byValue = toOcpByValue(from, choice.codes);
    LayerChange& change = replace(
        layer, to.name, std::make_unique<FnuzStep>(reader, to, choice, map, std::move(byValue)));
    change.from = from.name;
    change.bytesAfter = change.bytesBefore;
    if (!layer.inputScale)
      return {};
    return checkRunTimeNumbers(*layer.inputScale, choice.allowed).and_then([&] {
      return placeInputScale(*layer.inputScale, map.exponent);
    });
  }

  /// Writes the input scale times 2^exponent: activations have the weights' element format, so
  /// their scale changes in the same way.
  tl::expected<void, Error> placeInputScale(const Part& part, int exponent) {
    auto bytes = part.tensor.bytes();
    if (!bytes)
      return tl::unexpected(std::move(bytes.error()));
    assert(part.meaning == Meaning::Multiplies); // NVFP4's divide, but NVFP4 has no twin
    const auto report = shift(*part.format, *bytes, exponent, choice.scales);
    if (report.refused)
      return tl::unexpected(scaleError(part, *report.refused, exponent));
    const SafetensorsEntry& entry = *part.tensor.entry;
    replace(part.tensor, bytesStep({entry.name, entry.dtype, entry.shape}, std::move(*bytes)));
    return {};
  }

  const FnuzChoice& choice;
};

} // namespace

tl::expected<Rewrite, Error> planFnuzConversion(const Folder& folder, const FnuzChoice& choice,
                                                Json options) {
  return FnuzPlanner(folder, choice).plan(std::move(options));
}

} // namespace octavo::checkpoint
