#include "octavo/Checkpoint/Reports/Reproduction.h"

#include "octavo/Checkpoint/PairedRows.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/Preset.h"

#include <algorithm>
#include <optional>

namespace octavo::checkpoint {

namespace {

/// The first rows of a layer as stored, and the values of its original.
struct Sample {
  std::vector<std::int64_t> shape;
  numerics::ScaledType type;
  numerics::OuterScale outer;
  std::vector<float> values;
  std::vector<std::byte> codes, scales;
};

struct Quantized {
  bool hasSameScales, hasSameCodes;
};

/// The outer scale of the first matrix and the inverse by which quantizers multiply.
numerics::OuterScale outerOf(const LayerReader& reader) {
  return {reader.outer(), reader.divisor().value_or(1.0f / reader.outer())};
}

std::optional<Sample> sampleOf(const Layer& layer, const PairedRows& rows) {
  const auto reader = LayerReader::open(layer);
  if (!reader || rows.pieces().empty() || layer.storedAxes == StoredAxes::Swapped ||
      layer.scales->order != ScaleOrder::Rows)
    return std::nullopt;
  const Piece piece = rows.pieces().front();
  const std::int64_t columns = reader->columns();
  const std::int64_t step = std::max<std::int64_t>(1, reader->rowsInBlock());
  const std::int64_t most =
      std::max<std::int64_t>(1, kTileValues / std::max<std::int64_t>(1, columns));
  const std::int64_t end = std::min(piece.end, std::max(step, most / step * step));
  if (reader->rowsInBlock() > end && end < reader->rows())
    return std::nullopt; // a block has more rows than the sample
  Sample sample = {.shape = {end, columns},
                   .type = {layer.type.element,
                            layer.scales->format,
                            {std::min(reader->rowsInBlock(), end), reader->columnsInBlock()},
                            layer.type.hasOuterScale},
                   .outer = outerOf(*reader),
                   .values = {},
                   .codes = std::vector<std::byte>(static_cast<std::size_t>(end * columns)),
                   .scales = {}};
  const LayerReader::Range scales = reader->storedScales(0, end);
  sample.scales.resize(scales.size);
  Scratch scratch;
  auto done = layer.scales->tensor.fetch(scales.begin, sample.scales).and_then([&] {
    return reader->codes(0, end, reinterpret_cast<std::uint8_t*>(sample.codes.data()),
                         scratch.fetched);
  });
  if (done)
    done = rows.forTiles({0, end}, scratch, [&](Piece tile, const float* x, const float*) {
      sample.values.insert(sample.values.end(), x, x + (tile.end - tile.begin) * columns);
      return true;
    });
  return done ? std::optional(std::move(sample)) : std::nullopt;
}

Quantized quantize(const Sample& sample, const numerics::QuantizeOptions& options) {
  std::vector<std::byte> codes(sample.codes.size()), scales(sample.scales.size());
  auto* to = reinterpret_cast<std::uint8_t*>(codes.data());
  numerics::OuterScale outer = sample.outer;
  if (options.outer == numerics::OuterForm::Quotient)
    outer.inverse = 1;
  const kernels::Execution single{.threads = 1};
  const kernels::QuantizeReport report =
      sample.type.hasOuterScale
          ? kernels::quantizeUnder(outer, sample.values.data(), sample.shape, sample.type, options,
                                   to, scales.data(), {}, single)
          : kernels::quantize(sample.values.data(), sample.shape, sample.type, options, to,
                              scales.data(), {}, single);
  if (report.refused)
    return {false, false};
  return {scales == sample.scales, codes == sample.codes};
}

} // namespace

Reproduction reproductionOf(const NamedWeight& layer, const NamedWeight& original) {
  Reproduction result;
  const format::ScaledFormat* format = layer.layer ? layer.layer->format : nullptr;
  if (!format || !original.plain)
    return result;
  const auto rows = PairedRows::open(original, layer);
  if (!rows)
    return result;
  const std::optional<Sample> sample = sampleOf(*layer.layer, *rows);
  if (!sample)
    return result;
  for (const format::ScaleRuleRow& row : format::kScaleRules)
    if (format->scale->specials == format::Specials::Scale || row.rule == format->rule)
      if (quantize(*sample, {.rule = row.rule}).hasSameScales)
        result.rules.push_back(row.name);
  for (std::string_view name : numerics::presetNames(*format)) {
    const Quantized quantized = quantize(*sample, numerics::findPreset(name, *format)->options);
    if (quantized.hasSameScales && quantized.hasSameCodes)
      result.presets.push_back(name);
  }
  return result;
}

} // namespace octavo::checkpoint
