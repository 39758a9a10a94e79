#include "octavo/Checkpoint/Layouts/PartFit.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/FusedParts.h"
#include "octavo/Checkpoint/ScaleTiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace octavo::checkpoint {

namespace {

using format::element;
using format::ElementFormat;
using Shape = std::vector<std::int64_t>;

/// Largest extent. Tensors without bytes can have any shape; no stored tensor has a larger extent.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;

const ElementFormat* floatFormat(const SafetensorsDtype& dtype) {
  return dtype.type && dtype.type->isFloat() ? &dtype.type->format() : nullptr;
}

bool isByteDtype(const SafetensorsDtype& dtype) { return dtype.name == "U8" || dtype.name == "I8"; }

/// Extents other than 1: equal for two shapes with the same scales in the same order.
Shape withoutOnes(std::span<const std::int64_t> shape) {
  Shape result;
  std::ranges::copy_if(shape, std::back_inserter(result), [](auto n) { return n != 1; });
  return result;
}

struct Elements {
  const ElementFormat* format;
  bool packed;
  Shape shape;
};

/// Reads shape and packing of the elements. nullopt if the dtype cannot hold this element; an empty
/// shape if the extents do not fit.
std::optional<Elements> readElements(const SafetensorsEntry& entry, const LayerSpelling& spelling,
                                     const ElementFormat& rowElement) {
  Elements result{&rowElement, false, {entry.shape.begin(), entry.shape.end()}};
  if (spelling.axes == StoredAxes::Swapped) {
    if (result.shape.size() != 3)
      return std::nullopt; // the spelling is for stacked experts
    std::swap(result.shape[1], result.shape[2]);
  }
  if (spelling.elements.shape == ElementShape::Logical) {
    if (rowElement.isInteger()) {
      if (entry.dtype->name != spelling.elements.dtype)
        return std::nullopt;
    } else {
      // E5M2 and the FNUZ formats are stored like E4M3FN; the dtype tells which it is.
      const ElementFormat* stored = floatFormat(*entry.dtype);
      if (!stored || stored->width() != rowElement.width() || !stored->isSigned() ||
          (stored->width() < 8 && *stored != rowElement))
        return std::nullopt;
      result.format = stored;
      result.packed = stored->width() < 8;
    }
  } else if (spelling.elements.shape == ElementShape::PackedWords
                 ? entry.dtype->name != spelling.elements.dtype
                 : !isByteDtype(*entry.dtype)) {
    return std::nullopt;
  }
  result.packed |= spelling.elements.shape != ElementShape::Logical;

  Shape& shape = result.shape;
  const bool tooLong = std::ranges::any_of(shape, [](auto n) { return n > kMaxExtent; });
  std::size_t rank = shape.size();
  if (spelling.elements.shape == ElementShape::BlocksOf16) {
    if (rank < 3 || tooLong || shape.back() != 16) {
      shape.clear();
    } else {
      shape.pop_back();
      shape.back() *= 32;
    }
  } else if (spelling.elements.shape != ElementShape::Logical && rank >= 2 && !tooLong) {
    const std::int64_t bits = shape.back() * entry.dtype->bits;
    if (bits % rowElement.width() != 0)
      shape.clear();
    else
      shape.back() = bits / rowElement.width();
  }
  rank = shape.size();
  // Rows are read separately, so each must begin at a byte.
  if (tooLong || rank < 2 || rank > 3 ||
      (result.packed && shape.back() * result.format->width() % 8 != 0))
    shape.clear();
  return result;
}

/// The format of scales stored as `dtype`, if the row has `wanted` and the spelling `spelled`; null
/// if the dtype does not fit.
const ElementFormat* scaleFormat(const SafetensorsDtype& dtype, const ElementFormat& wanted,
                                 std::string_view spelled) {
  const ElementFormat* stored = floatFormat(dtype);
  // If the spelling has U8, the bytes are E8M0 for a row with f32 scales, else the row's scale
  // format.
  if (dtype.name == "U8" && spelled == "U8")
    return wanted == element("f32") ? &element("e8m0fnu") : &wanted;
  if (wanted == element("e8m0fnu"))
    return dtype.name == "U8" || (stored && *stored == wanted) ? &wanted : nullptr;
  if (wanted == element("f32")) {
    const bool widens = stored && (*stored == element("f32") || *stored == element("bf16") ||
                                   *stored == element("f16") || *stored == element("e8m0fnu"));
    return widens ? stored : nullptr;
  }
  return stored && *stored == wanted ? &wanted : nullptr;
}

Shape spelledShape(ScaleShape spelled, const Shape& weight, const Shape& grid) {
  switch (spelled) {
  case ScaleShape::Scalar:
    return {};
  case ScaleShape::One:
    return {1};
  case ScaleShape::Rows:
    return Shape(weight.begin(), weight.end() - 1);
  case ScaleShape::Column: {
    Shape shape(weight.begin(), weight.end());
    shape.back() = 1;
    return shape;
  }
  case ScaleShape::Grid:
    return grid;
  case ScaleShape::Tiles: {
    const auto padded = paddedToTiles(grid[0], grid[1]);
    return {padded[0], padded[1]};
  }
  case ScaleShape::Grid4: {
    Shape shape(grid.begin(), grid.end() - 1);
    shape.push_back(1);
    shape.push_back(grid.back());
    shape.push_back(1);
    return shape;
  }
  }
  return grid;
}

const format::ScaledFormat* findRow(const numerics::ScaledType& type, std::int64_t across,
                                    std::int64_t along) {
  for (const format::ScaledFormat& row : format::kScaledFormats)
    if (*row.element == *type.element && *row.scale == *type.scale && row.across == across &&
        row.along == along && row.hasOuterScale == type.hasOuterScale)
      return &row;
  return nullptr;
}

} // namespace

std::string describe(const SafetensorsEntry& entry) {
  return fmt::format("{} [{}]", entry.dtype->name, fmt::join(entry.shape, ", "));
}

const ElementFormat* floatScaleFormat(const SafetensorsEntry& entry) {
  const ElementFormat* stored = floatFormat(*entry.dtype);
  return stored && (*stored == element("f32") || *stored == element("bf16") ||
                    *stored == element("f16"))
             ? stored
             : nullptr;
}

std::optional<Fit> fitParts(const Candidate& candidate, const LayerSpelling& spelling,
                            const Claim& claim) {
  const format::ScaledFormat& row = *format::findScaledFormat(spelling.format);
  const SafetensorsEntry& stored = *candidate.elements.entry;
  std::optional<Elements> elements = readElements(stored, spelling, *row.element);
  if (!elements)
    return std::nullopt;

  Fit fit;
  const auto problem = [&](RuleName rule, const StoredTensor& tensor, std::string what) {
    fit.problems.push_back(finding(rule, tensor.shard->name(), tensor.name(), std::move(what)));
  };
  Layer& layer = fit.layer;
  layer.name = candidate.module;
  layer.parameter = candidate.parameter;
  layer.elements = {candidate.elements, elements->format, elements->packed};
  layer.activations = claim.activations;
  layer.storedAxes = spelling.axes;
  layer.elements.nibbles = spelling.elements.shape == ElementShape::HighFirst
                               ? NibbleOrder::EvenIsHigh
                               : NibbleOrder::EvenIsLow;
  // If the layout spells no outer scale for such a format, it is 1.
  const bool hasOuterScale = row.hasOuterScale && !spelling.outer.name.empty();
  layer.type = {elements->format, row.scale, {}, hasOuterScale};
  layer.format = nullptr;
  if (elements->shape.empty()) {
    problem("element-shape", candidate.elements,
            fmt::format("{} holds no matrix of {} whose rows fill whole bytes", describe(stored),
                        row.element->name));
    return fit;
  }
  layer.shape = elements->shape;

  format::ScaledFormat blocks = row;
  if (spelling.block[1] != 0) {
    blocks.across = spelling.block[0];
    blocks.along = spelling.block[1];
  }
  if (claim.block && claim.format == row.name) {
    blocks.across = (*claim.block)[0];
    blocks.along = (*claim.block)[1];
  }
  // One scale for each expert instead of one for the matrix.
  const auto scales = candidate.scales.find(spelling.scales.name);
  if (layer.shape.size() == 3 && blocks.across == format::kWholeAxis &&
      blocks.along == format::kWholeAxis && scales != candidate.scales.end() &&
      layer.shape[0] != 1 && withoutOnes(scales->second.entry->shape) == Shape{layer.shape[0]})
    blocks.across = kMaxExtent;
  // One scale for each part of a fused weight.
  if (blocks.across == format::kWholeAxis && blocks.along == format::kWholeAxis &&
      scales != candidate.scales.end()) {
    const Shape count = withoutOnes(scales->second.entry->shape);
    const bool isOfExperts = layer.shape.size() == 3;
    if (count.size() == (isOfExperts ? 2u : 1u) && (!isOfExperts || count[0] == layer.shape[0]))
      layer.partRows =
          fusedPartRows(candidate.module, candidate.parameter, layer.shape[layer.shape.size() - 2],
                        count.back(), candidate.config ? *candidate.config : Json());
    if (!layer.partRows.empty())
      blocks.across = 1;
  }
  const int contracted = static_cast<int>(layer.shape.size()) - 1;
  layer.type.block = format::blockShape(blocks, layer.shape, contracted);
  const Shape grid = format::scaleShape(layer.shape, layer.type.block);
  Shape storedGrid = grid;
  if (!layer.partRows.empty()) {
    storedGrid = {std::ssize(layer.partRows)};
    if (layer.shape.size() == 3)
      storedGrid.insert(storedGrid.begin(), layer.shape[0]);
  }
  const bool isTiled = spelling.scales.shape == ScaleShape::Tiles;
  if (isTiled && layer.shape.size() != 2)
    return std::nullopt;
  if (claim.tiled && *claim.tiled != isTiled)
    return std::nullopt;
  if (spelling.axes == StoredAxes::Swapped && layer.partRows.empty())
    std::swap(storedGrid[1], storedGrid[2]);
  // Stacked experts may have one number each instead of one in all.
  const auto isOnePerExpert = [&](const SafetensorsEntry& entry) {
    return layer.shape.size() == 3 && layer.shape[0] > 1 &&
           withoutOnes(entry.shape) == Shape{layer.shape[0]};
  };

  fit.exact = spelling.elements.dtype == stored.dtype->name;
  std::size_t taken = 0;
  const auto part = [&](const ScaleSpelling& spelled) -> const StoredTensor* {
    if (spelled.name.empty())
      return nullptr;
    const auto found = candidate.scales.find(spelled.name);
    if (found == candidate.scales.end())
      return nullptr;
    ++taken;
    return &found->second;
  };
  const auto exactly = [&](const ScaleSpelling& spelled, const SafetensorsEntry& entry) {
    const bool dtype = spelled.dtype.empty()
                           ? entry.dtype->name == "BF16" || entry.dtype->name == "F16" ||
                                 entry.dtype->name == "F32"
                           : entry.dtype->name == spelled.dtype;
    fit.exact &= dtype && entry.shape == spelledShape(spelled.shape, layer.shape, storedGrid);
  };

  if (const StoredTensor* scales = part(spelling.scales)) {
    const SafetensorsEntry& entry = *scales->entry;
    const ElementFormat* format = scaleFormat(*entry.dtype, *row.scale, spelling.scales.dtype);
    const Shape tiles = isTiled ? spelledShape(ScaleShape::Tiles, layer.shape, grid) : Shape();
    const bool isInOrder = isTiled ? entry.size() == static_cast<std::uint64_t>(tiles[0] * tiles[1])
                                   : withoutOnes(entry.shape) == withoutOnes(storedGrid);
    // [1, N] instead of [N, 1]: readers refuse it, or for a square weight scale the columns.
    const bool isAcross = isInOrder && !isTiled && entry.shape.size() == storedGrid.size() &&
                          entry.shape != storedGrid;
    const bool shaped = isInOrder && !isAcross;
    if (!format)
      problem("scale-dtype", *scales,
              fmt::format("{} scales of {} weights [{}] are stored as {}", row.scale->name,
                          row.name, fmt::join(layer.shape, ", "), describe(entry)));
    if (!shaped)
      problem("scale-shape", *scales,
              fmt::format("a weight [{}] in blocks of [{}] has scales [{}]; found {}{}",
                          fmt::join(layer.shape, ", "), fmt::join(layer.type.block, ", "),
                          fmt::join(storedGrid, ", "), describe(entry),
                          isAcross ? ", which lies along another axis" : ""));
    if (!format || !shaped)
      layer.misread = fmt::format("{} {}", scales->name(), describe(entry));
    if (format && shaped) {
      layer.scales = Part{*scales, format, false, spelling.scales.meaning};
      if (isTiled) {
        layer.scales->order = ScaleOrder::Tiles;
        layer.scales->grid = {grid[0], grid[1]};
      } else if (!layer.partRows.empty()) {
        layer.scales->order = ScaleOrder::Parts;
      }
      if (*format == element("e8m0fnu"))
        layer.type.scale = format;
      exactly(spelling.scales, entry);
    }
  } else {
    problem("missing-scale", candidate.elements,
            fmt::format("{} has no {}", describe(stored),
                        tensorName(candidate.module, candidate.parameter, spelling.scales.name)));
  }

  const auto number = [&](const ScaleSpelling& spelled, std::optional<Part>& into) {
    const StoredTensor* tensor = part(spelled);
    if (!tensor)
      return false;
    const SafetensorsEntry& entry = *tensor->entry;
    const ElementFormat* format = floatScaleFormat(entry);
    if (!format)
      problem("scale-dtype", *tensor,
              fmt::format("one number in F32, BF16 or F16 is expected; found {}", describe(entry)));
    else if (!withoutOnes(entry.shape).empty() && !isOnePerExpert(entry))
      problem("scale-shape", *tensor,
              fmt::format("one number{} is expected; found {}",
                          layer.shape.size() == 3
                              ? fmt::format(", or one for each of {} experts,", layer.shape[0])
                              : "",
                          describe(entry)));
    else {
      into = Part{*tensor, format, false, spelled.meaning};
      if (!isOnePerExpert(entry))
        exactly(spelled, entry);
    }
    return true;
  };
  if (hasOuterScale && !number(spelling.outer, layer.outer))
    problem("missing-outer-scale", candidate.elements,
            fmt::format("{} has no {}", describe(stored),
                        tensorName(candidate.module, candidate.parameter, spelling.outer.name)));
  const bool hasInput = number(spelling.input, layer.inputScale);
  if (!hasInput && spelling.inputScale == InputScale::Telling)
    return std::nullopt;
  if (hasInput && claim.kind == Claim::Kind::Unsaid && layer.inputScale)
    layer.activations = {Activations::Kind::Static, format::findScaledFormat(row.activation)};
  if (!hasInput && claim.activations.kind == Activations::Kind::Static &&
      !spelling.input.name.empty())
    problem("missing-input-scale", candidate.elements,
            fmt::format("{} says that activation scales are static, and there is no {}",
                        claim.source,
                        tensorName(candidate.module, candidate.parameter, spelling.input.name)));

  if (taken < candidate.scales.size())
    for (const auto& [name, tensor] : candidate.scales)
      if (name != spelling.scales.name && name != spelling.outer.name &&
          name != spelling.input.name)
        problem(
            "orphan-scale", tensor,
            fmt::format("{}: {} weights have no such scale", describe(*tensor.entry), row.name));
  layer.format = findRow(layer.type, blocks.across, blocks.along);
  return fit;
}

} // namespace octavo::checkpoint
