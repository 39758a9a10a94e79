// LayerPlan: tensors and byte layout of one layer in a layout's spelling, and functions that write
// its pieces.
#pragma once

#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <tl/expected.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// The plan of one layer.
struct LayerPlan {
  std::vector<std::int64_t> shape; ///< logical: [N, K] or [E, N, K]
  /// Type as stored: if scales are BF16 on disk, the scale format is bf16.
  numerics::ScaledType type;
  /// Whether codes are packed; else one code a byte.
  bool isPacked;
  /// Swapped: elements and scales of each matrix are stored transposed.
  StoredAxes axes = StoredAxes::Same;
  std::vector<PlannedTensor> tensors; ///< elements, scales, then the tensors of `outer` and `input`
  std::optional<std::size_t> outer, input; ///< indices in `tensors`; nullopt: no such scale
  Meaning outerMeaning = Meaning::Multiplies, inputMeaning = Meaning::Multiplies;

  static constexpr std::size_t kElements = 0, kScales = 1; ///< indices in `tensors`

  std::int64_t columns() const { return shape.back(); }
  std::int64_t rowsInMatrix() const { return shape[shape.size() - 2]; }
  /// Extents of a block within a matrix.
  std::int64_t blockRows() const { return type.block[shape.size() - 2]; }
  std::int64_t blockColumns() const { return type.block.back(); }
  /// Whether one scale covers the whole layer, so that it must be known before the first piece.
  bool hasOneScale() const { return type.block == shape; }
  /// Pieces begin at multiples of it within their matrix; 0: pieces are whole matrices.
  std::int64_t step() const {
    return axes == StoredAxes::Swapped ? 0 : hasOneScale() ? 1 : blockRows();
  }

  /// The type of a piece of `rows` rows, seen as a matrix.
  numerics::ScaledType pieceType(std::int64_t rows) const;
  /// Number of scales of a piece.
  std::int64_t scaleCount(Piece piece) const;

  /// Whether several codes share a byte.
  bool packs() const { return isPacked && type.element->width() < 8; }
  /// Bytes that the codes of `rows` rows occupy on disk.
  std::size_t storedCodes(std::int64_t rows) const;
  /// Packs the codes of whole rows, one code a byte, into `to`. Precondition: packs().
  void pack(std::span<const std::byte> codes, std::byte* to) const;

  /// Memory for the stored codes of a piece, row after row (also if the axes are swapped).
  std::span<std::byte> place(const Sink& sink, Piece piece, PageBuffer& buffer) const;
  /// Writes stored codes of a piece; transposes them if the axes are swapped.
  tl::expected<void, Error> writeStored(const Sink& sink, Piece piece,
                                        std::span<const std::byte> stored) const;
  /// Writes codes of a piece, given one a byte; packs them if needed.
  tl::expected<void, Error> writeCodes(const Sink& sink, Piece piece,
                                       std::span<const std::byte> codes, PageBuffer& buffer) const;
  /// Writes the scales of a piece, given as codes of type.scale.
  tl::expected<void, Error> writeScales(const Sink& sink, Piece piece,
                                        std::span<const std::byte> scales) const;
  /// Writes the outer scale, given as a multiplier. Precondition: `outer` is set.
  tl::expected<void, Error> writeOuter(const Sink& sink, float outer) const;
};

/// Whether the plan has a stored scale of the layer's input.
enum class WithInputScale : std::uint8_t { No, Yes };

/// The formats that a layout writes, each once, in its order. If `need` is Optional, formats that
/// require a stored activation scale are left out.
std::vector<std::string_view> writtenFormats(const Layout& layout, InputScale need);

/// Why readers of the layout would not find a weight of this name and rank under its spelling: a
/// stack instead of single matrices, or the reverse. nullopt if they find it.
std::optional<std::string_view> misfit(const LayerSpelling& spelling, std::string_view module,
                                       std::string_view parameter, std::size_t rank);

/// The plan of a layer, or the reason why the spelling cannot express it, as a clause. `scaleDtype`
/// is the dtype of the scales if the spelling leaves it open.
tl::expected<LayerPlan, std::string>
planLayer(std::string_view module, std::string_view parameter, std::span<const std::int64_t> shape,
          const format::ScaledFormat& format, const LayerSpelling& spelling,
          const SafetensorsDtype& scaleDtype, WithInputScale input);

/// The number to store so that readers multiply by `multiplier`: itself, or a divisor whose
/// inverse, rounded to f32, is `multiplier`. If there is no such f32, 1 / multiplier rounded.
float stored(float multiplier, Meaning meaning);

/// Whether readers of stored(multiplier, meaning) multiply by exactly `multiplier`.
bool isStoredExactly(float multiplier, Meaning meaning);

/// The note that the outer scales of `layers` (one or more names) are not stored exactly.
Finding roundedDivisors(std::span<const std::string> layers);

} // namespace octavo::checkpoint
