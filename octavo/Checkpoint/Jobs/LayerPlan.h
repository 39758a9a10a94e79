// How a layer will lie on disk in a layout's spelling, and the bytes of its pieces there.
#pragma once

#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <tl/expected.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

struct LayerPlan {
  std::vector<std::int64_t> shape; ///< logical: [N, K] or [E, N, K]
  /// Of the stored layer: where scales are BF16 on disk, the scale format is bf16.
  numerics::ScaledType type;
  /// How codes lie: packed, or one a byte.
  bool isPacked;
  /// Swapped: elements and scales of a matrix lie across its rows.
  StoredAxes axes = StoredAxes::Same;
  std::vector<PlannedTensor> tensors; ///< elements, scales, and what the two below point to
  std::optional<std::size_t> outer, input;
  Meaning outerMeaning = Meaning::Multiplies, inputMeaning = Meaning::Multiplies;

  static constexpr std::size_t kElements = 0, kScales = 1;

  std::int64_t columns() const { return shape.back(); }
  std::int64_t rowsInMatrix() const { return shape[shape.size() - 2]; }
  /// Extents of a block, of a matrix.
  std::int64_t blockRows() const { return type.block[shape.size() - 2]; }
  std::int64_t blockColumns() const { return type.block.back(); }
  /// Whether there is one scale, which must be known before the first piece.
  bool hasOneScale() const { return type.block == shape; }
  /// Pieces begin at multiples of it in their matrix; 0: they are whole matrices.
  std::int64_t step() const {
    return axes == StoredAxes::Swapped ? 0 : hasOneScale() ? 1 : blockRows();
  }

  /// The type of a piece of `rows` rows as a matrix.
  numerics::ScaledType pieceType(std::int64_t rows) const;
  std::int64_t scaleCount(Piece piece) const;

  /// Whether several codes share a byte.
  bool packs() const { return isPacked && type.element->width() < 8; }
  /// Bytes of the codes of `rows` rows as they are stored.
  std::size_t storedCodes(std::int64_t rows) const;
  /// Puts codes, one a byte, of whole rows as they are stored. Precondition: packs().
  void pack(std::span<const std::byte> codes, std::byte* to) const;

  /// Room for the codes of a piece as they are stored, but row after row.
  std::span<std::byte> place(const Sink& sink, Piece piece, PageBuffer& buffer) const;
  /// Puts them in their place in the file.
  tl::expected<void, Error> writeStored(const Sink& sink, Piece piece,
                                        std::span<const std::byte> stored) const;
  /// The same of codes one a byte.
  tl::expected<void, Error> writeCodes(const Sink& sink, Piece piece,
                                       std::span<const std::byte> codes, PageBuffer& buffer) const;
  /// Puts the scales (codes of type.scale) of a piece in their place.
  tl::expected<void, Error> writeScales(const Sink& sink, Piece piece,
                                        std::span<const std::byte> scales) const;
  /// Puts the one number of the outer or the input scale, as it multiplies.
  tl::expected<void, Error> writeOuter(const Sink& sink, float outer) const;
};

enum class WithInputScale : std::uint8_t { No, Yes };

/// The formats that a layout writes, each once, in its order; of those that need a stored scale of
/// the activations none, where `need` is Optional.
std::vector<std::string_view> writtenFormats(const Layout& layout, InputScale need);

/// Why readers of the layout would not find a weight of this name and rank under its spelling: a
/// stack where they look for single matrices, or the reverse. Nothing where they would.
std::optional<std::string_view> misfit(const LayerSpelling& spelling, std::string_view module,
                                       std::string_view parameter, std::size_t rank);

/// The plan of a layer, or the reason why the spelling cannot say it, as a clause. `scaleDtype` is
/// the dtype of the scales where the spelling leaves it open.
tl::expected<LayerPlan, std::string>
planLayer(std::string_view module, std::string_view parameter, std::span<const std::int64_t> shape,
          const format::ScaledFormat& format, const LayerSpelling& spelling,
          const SafetensorsDtype& scaleDtype, WithInputScale input);

/// The number to store so that it multiplies as `multiplier`: itself, or a divisor whose inverse,
/// rounded to f32, is `multiplier`. Where no f32 is such a divisor, the nearest to 1 / multiplier.
float stored(float multiplier, Meaning meaning);

/// Whether what `stored` gives multiplies as `multiplier`.
bool isStoredExactly(float multiplier, Meaning meaning);

/// The note that the outer scales of `layers` (one or more names) are not stored exactly.
Finding roundedDivisors(std::span<const std::string> layers);

} // namespace octavo::checkpoint
