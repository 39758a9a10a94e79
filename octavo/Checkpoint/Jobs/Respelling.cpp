#include "octavo/Checkpoint/Jobs/Respelling.h"

#include "octavo/Checkpoint/ScaleCheck.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Checkpoint/ValueRows.h"
#include "octavo/Numerics/Conversion.h"

#include <cstring>
#include <utility>

namespace octavo::checkpoint {

using format::ElementFormat;

tl::expected<std::vector<float>, Error> respelled(const Part& part, Meaning meaning) {
  Part as = part;
  if (part.meaning == meaning)
    as.meaning = Meaning::Multiplies; // keeps multipliers() from inverting
  auto numbers = multipliers(as);
  if (numbers && part.meaning != meaning)
    for (float& number : *numbers)
      number = stored(number, meaning);
  return numbers;
}

tl::expected<std::optional<std::vector<std::byte>>, Error> exactly(const Part& part,
                                                                   const ElementFormat& to) {
  const auto read = part.tensor.bytes();
  if (!read)
    return tl::unexpected(read.error());
  const std::span<const std::byte> from = *read;
  const auto width = static_cast<std::size_t>(part.format->bytes());
  const auto newWidth = static_cast<std::size_t>(to.bytes());
  std::vector<std::byte> bytes(from.size() / width * newWidth);
  for (std::size_t i = 0; i < from.size() / width; ++i) {
    const double value =
        numerics::decode(*part.format, codeAt(*part.format, from.data() + i * width));
    const std::uint64_t converted = numerics::convert(to, value);
    if (const double back = numerics::decode(to, converted); back != value && value == value)
      return std::optional<std::vector<std::byte>>();
    std::memcpy(bytes.data() + i * newWidth, &converted, newWidth);
  }
  return bytes;
}

namespace {

class RespellStep final : public Step {
public:
  RespellStep(const LayerReader& reader, LayerPlan plan, Doubts allowed)
      : reader(reader), check(reader, allowed), plan(std::move(plan)),
        keepsAxes(reader.layer().storedAxes == this->plan.axes &&
                  reader.layer().scales->order == ScaleOrder::Rows),
        keepsBytes(keepsAxes && isPacked(reader.layer()) == this->plan.isPacked &&
                   reader.layer().elements.nibbles == NibbleOrder::EvenIsLow) {
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
    if (auto sure = check(all[index], scratch.fetched); !sure)
      return sure;
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
      return plan.writeScales(sink, piece, asPlanned(scales));
    });
  }

private:
  static bool isPacked(const Layer& layer) {
    return layer.elements.packed && layer.type.element->width() < 8;
  }

  /// Converts codes of the layer's scales to the plan's scale format, in which they are exact.
  std::vector<std::byte> asPlanned(std::vector<std::byte> scales) const {
    const ElementFormat &from = *reader.layer().type.scale, &to = *plan.type.scale;
    if (from == to)
      return scales;
    const auto width = static_cast<std::size_t>(from.bytes()),
               newWidth = static_cast<std::size_t>(to.bytes());
    std::vector<std::byte> converted(scales.size() / width * newWidth);
    for (std::size_t i = 0; i < scales.size() / width; ++i) {
      const std::uint64_t code =
          numerics::convert(to, numerics::decode(from, codeAt(from, scales.data() + i * width)));
      std::memcpy(converted.data() + i * newWidth, &code, newWidth);
    }
    return converted;
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
      written = layer.outer ? writeNumbers(sink, *plan.outer, *layer.outer, plan.outerMeaning)
                            : plan.writeOuter(sink, 1.0f);
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

  LayerReader reader;
  ScaleCheck check;
  LayerPlan plan;
  bool keepsAxes, keepsBytes;
  std::vector<Piece> all;
};

} // namespace

std::unique_ptr<Step> respellStep(const LayerReader& reader, LayerPlan plan, Doubts allowed) {
  return std::make_unique<RespellStep>(reader, std::move(plan), allowed);
}

} // namespace octavo::checkpoint
