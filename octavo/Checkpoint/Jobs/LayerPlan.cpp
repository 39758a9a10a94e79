#include "octavo/Checkpoint/Jobs/LayerPlan.h"

#include "octavo/Checkpoint/ByteMatrix.h"
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"
#include "octavo/Kernels/Pack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace octavo::checkpoint {

using format::ElementFormat;

numerics::ScaledType LayerPlan::pieceType(std::int64_t rows) const {
  return {
      type.element, type.scale, {std::min(blockRows(), rows), blockColumns()}, type.hasOuterScale};
}

static std::int64_t blocks(std::int64_t extent, std::int64_t block) {
  return extent / block + (extent % block != 0);
}

std::int64_t LayerPlan::scaleCount(Piece piece) const {
  return blocks(piece.end - piece.begin, blockRows()) * blocks(columns(), blockColumns());
}

std::size_t LayerPlan::storedCodes(std::int64_t rows) const {
  return static_cast<std::size_t>(rows * columns() * (packs() ? type.element->width() : 8) / 8);
}

void LayerPlan::pack(std::span<const std::byte> codes, std::byte* to) const {
  kernels::pack(reinterpret_cast<const std::uint8_t*>(codes.data()), codes.size(),
                type.element->width(), reinterpret_cast<std::uint8_t*>(to), {.threads = 1});
}

std::span<std::byte> LayerPlan::place(const Sink& sink, Piece piece, PageBuffer& buffer) const {
  return sink.place(kElements, storedCodes(piece.begin), storedCodes(piece.end - piece.begin),
                    buffer);
}

tl::expected<void, Error> LayerPlan::writeStored(const Sink& sink, Piece piece,
                                                 std::span<const std::byte> stored) const {
  std::vector<std::byte> across;
  if (axes == StoredAxes::Swapped) {
    assert(piece.end - piece.begin == rowsInMatrix());
    const auto rowBytes = static_cast<std::int64_t>(storedCodes(1));
    gatherColumns(stored.data(), rowsInMatrix(), rowBytes, 0, rowBytes, 1, across);
    stored = across;
  }
  return sink.write(kElements, storedCodes(piece.begin), stored);
}

tl::expected<void, Error> LayerPlan::writeCodes(const Sink& sink, Piece piece,
                                                std::span<const std::byte> codes,
                                                PageBuffer& buffer) const {
  if (!packs())
    return writeStored(sink, piece, codes);
  const std::span<std::byte> stored = place(sink, piece, buffer);
  pack(codes, stored.data());
  return writeStored(sink, piece, stored);
}

tl::expected<void, Error> LayerPlan::writeScales(const Sink& sink, Piece piece,
                                                 std::span<const std::byte> scales) const {
  // A single scale is written with the first piece.
  if (hasOneScale())
    return piece.begin == 0 ? sink.write(kScales, 0, scales) : tl::expected<void, Error>{};
  std::vector<std::byte> across;
  if (axes == StoredAxes::Swapped) {
    const std::int64_t gridColumns = blocks(columns(), blockColumns());
    gatherColumns(scales.data(), blocks(rowsInMatrix(), blockRows()), gridColumns, 0, gridColumns,
                  static_cast<std::size_t>(type.scale->bytes()), across);
    scales = across;
  }
  const std::int64_t gridRow = piece.begin / rowsInMatrix() * blocks(rowsInMatrix(), blockRows()) +
                               piece.begin % rowsInMatrix() / blockRows();
  return sink.write(
      kScales,
      static_cast<std::uint64_t>(gridRow * blocks(columns(), blockColumns()) * type.scale->bytes()),
      scales);
}

tl::expected<void, Error> LayerPlan::writeOuter(const Sink& sink, float multiplier) const {
  const float number = stored(multiplier, outerMeaning);
  return sink.write(*outer, 0, std::as_bytes(std::span(&number, 1)));
}

float stored(float multiplier, Meaning meaning) {
  if (meaning == Meaning::Multiplies)
    return multiplier;
  const float inverse = 1.0f / multiplier;
  const float infinity = std::numeric_limits<float>::infinity();
  for (float candidate :
       {inverse, std::nextafter(inverse, 0.0f), std::nextafter(inverse, infinity)})
    if (1.0f / candidate == multiplier)
      return candidate;
  return inverse;
}

bool isStoredExactly(float multiplier, Meaning meaning) {
  return meaning == Meaning::Multiplies || 1.0f / stored(multiplier, meaning) == multiplier;
}

Finding roundedDivisors(std::span<const std::string> layers) {
  return finding(
      "rounded-divisor", "", layers.front(),
      fmt::format("{} outer scales are not the inverse of any f32: the nearest divisors are stored",
                  layers.size()));
}

/// The format of scales stored as `dtype`; U8 means the scale format of `format`. Null: the dtype
/// cannot hold them.
static const ElementFormat* scaleFormat(const SafetensorsDtype& dtype,
                                        const format::ScaledFormat& format) {
  if (dtype.type && dtype.type->isFloat())
    return &dtype.type->format();
  return dtype.bits == 8 && format.scale->width() == 8 ? format.scale : nullptr;
}

static std::string text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<std::string_view> writtenFormats(const Layout& layout, InputScale need) {
  std::vector<std::string_view> formats;
  for (const LayerSpelling& row : layout.spellings())
    if (row.access == Access::ReadAndWrite &&
        (need == InputScale::Required || row.inputScale == InputScale::Optional) &&
        std::ranges::find(formats, row.format) == formats.end())
      formats.push_back(row.format);
  return formats;
}

std::optional<std::string_view> misfit(const LayerSpelling& spelling, std::string_view module,
                                       std::string_view parameter, std::size_t rank) {
  if (rank == 3 && spelling.holds == Holds::Matrices)
    return "stacked experts, which this layout stores one by one";
  if (spelling.holds == Holds::Stacks && (rank != 3 || !isExpertStack(module, parameter)))
    return "not one of the stacked experts that this layout quantizes";
  return std::nullopt;
}

tl::expected<LayerPlan, std::string>
planLayer(std::string_view module, std::string_view parameter, std::span<const std::int64_t> shape,
          const format::ScaledFormat& format, const LayerSpelling& spelling,
          const SafetensorsDtype& scaleDtype, WithInputScale input) {
  const auto refuse = []<typename... T>(fmt::format_string<T...> text, T&&... of) {
    return tl::unexpected(fmt::format(text, std::forward<T>(of)...));
  };
  const std::size_t rank = shape.size();
  assert(rank == 2 || rank == 3);
  if (const auto why = misfit(spelling, module, parameter, rank))
    return refuse("{}", *why);
  LayerPlan plan;
  plan.shape.assign(shape.begin(), shape.end());
  const SafetensorsDtype* scales =
      spelling.scales.dtype.empty() ? &scaleDtype : findSafetensorsDtype(spelling.scales.dtype);
  const SafetensorsDtype* elements = findSafetensorsDtype(spelling.elements.dtype);
  assert(scales && elements);
  const ElementFormat* scale = scaleFormat(*scales, format);
  if (!scale)
    return refuse("{} scales cannot be stored as {}", format.scale->name, scales->name);
  plan.type = {format.element, scale, format::blockShape(format, shape, static_cast<int>(rank) - 1),
               format.hasOuterScale};
  const std::int64_t columns = shape.back();
  // Readers of formats with small blocks derive the number of columns from the number of blocks.
  if (format.scale->isNarrow() && columns % format.along != 0)
    return refuse("its {} columns are not whole blocks of {}", columns, format.along);

  const int width = format.element->width();
  plan.isPacked =
      width < 8 && (spelling.elements.shape != ElementShape::Logical || elements->bits < 8);
  // Formats narrower than a byte have blocks of at least 16, so whole blocks are whole bytes.
  assert(!plan.isPacked || columns * width % 8 == 0);
  plan.axes = spelling.axes;
  assert(plan.axes == StoredAxes::Same || rank == 3);
  std::vector<std::int64_t> elementShape = plan.shape;
  switch (spelling.elements.shape) {
  case ElementShape::Logical:
    break;
  case ElementShape::HighFirst:
  case ElementShape::PackedWords:
    return refuse("elements packed so are read and not written");
  case ElementShape::PackedBytes:
    elementShape.back() = columns * width / 8;
    break;
  case ElementShape::BlocksOf16:
    assert(columns * width / 8 % 16 == 0); // a block is 32 codes of 4 bits
    elementShape.back() = columns * width / 8 / 16;
    elementShape.push_back(16);
    break;
  }

  const std::vector<std::int64_t> grid = format::scaleShape(shape, plan.type.block);
  std::vector<std::int64_t> scaleShape;
  switch (spelling.scales.shape) {
  case ScaleShape::Scalar:
  case ScaleShape::One:
    if (numerics::elementCount(grid) != 1)
      return refuse("it has scales {} where this layout has one", text(grid));
    if (spelling.scales.shape == ScaleShape::One)
      scaleShape = {1};
    break;
  case ScaleShape::Rows:
    if (grid.back() != 1)
      return refuse("it has scales {} where this layout has one per row", text(grid));
    scaleShape.assign(grid.begin(), grid.end() - 1);
    break;
  case ScaleShape::Column:
    if (grid.back() != 1)
      return refuse("it has scales {} where this layout has one per row", text(grid));
    scaleShape = grid;
    break;
  case ScaleShape::Grid:
    scaleShape = grid;
    break;
  case ScaleShape::Tiles:
    return refuse("scales in tiles are read and not written");
  case ScaleShape::Grid4:
    if (rank != 2)
      return refuse("scales of rank 4 are for matrices, this is {}", text(shape));
    scaleShape = {grid[0], 1, grid[1], 1};
    break;
  }

  if (plan.axes == StoredAxes::Swapped) {
    std::swap(elementShape[1], elementShape[2]);
    if (scaleShape.size() == 3)
      std::swap(scaleShape[1], scaleShape[2]);
  }

  const auto add = [&](std::string_view name, const SafetensorsDtype* dtype,
                       std::vector<std::int64_t> of) {
    plan.tensors.push_back({tensorName(module, parameter, name), dtype, std::move(of)});
    return plan.tensors.size() - 1;
  };
  const auto single = [](const ScaleSpelling& of) {
    return of.shape == ScaleShape::One ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{};
  };
  const SafetensorsDtype* f32 = findSafetensorsDtype(format::element("f32").safetensors);
  add(spelling.elements.name, elements, std::move(elementShape));
  add(spelling.scales.name, scales, std::move(scaleShape));
  if (format.hasOuterScale) {
    assert(!spelling.outer.name.empty());
    plan.outer = add(spelling.outer.name, f32, single(spelling.outer));
    plan.outerMeaning = spelling.outer.meaning;
  }
  // Two stacks in one module need two input scales, so the scale's name must include the parameter.
  const bool hasPlace =
      parameter == "weight" ? !spelling.input.name.empty() : spelling.input.name.starts_with('*');
  if (spelling.inputScale == InputScale::Required && (input == WithInputScale::No || !hasPlace))
    return refuse("this layout needs a static activation scale, and there is none");
  if (input == WithInputScale::Yes && hasPlace) {
    plan.input = add(spelling.input.name, f32, single(spelling.input));
    plan.inputMeaning = spelling.input.meaning;
  }
  return plan;
}

} // namespace octavo::checkpoint
