// Values of a layer, in pieces: codes and scales as octavo has them, and f32.
#pragma once

#include "octavo/Checkpoint/Layer.h"
#include "octavo/Kernels/Execution.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// Reads a layer by rows: [E, N, K] counts as E * N rows of K (blocks never cross an expert).
class LayerReader {
public:
  /// Errors: parts missing, or whose shapes or dtypes do not agree with the layer's.
  static tl::expected<LayerReader, Error> open(const Layer& layer);

  std::int64_t rows() const;
  std::int64_t columns() const;
  /// Rows of one row of blocks; pieces begin at multiples of it.
  std::int64_t rowsInBlock() const;
  /// The outer scale as it multiplies (a stored divisor is inverted: 1 / stored, in f32; where that
  /// is what the layout's owner computes, see docs/checkpoints.md).
  float outer() const;

  /// The codes of rows [begin, end), one a byte, row-major. `begin` is a multiple of rowsInBlock().
  void codes(std::int64_t begin, std::int64_t end, std::uint8_t* codes) const;
  /// The scale codes of the blocks of those rows, in containers of type.scale->bytes().
  void scales(std::int64_t begin, std::int64_t end, void* scales) const;
  /// The values of those rows.
  void values(std::int64_t begin, std::int64_t end, float* values,
              const kernels::Execution& execution = {}) const;
  /// Lets the mapped pages of those rows go.
  void release(std::int64_t begin, std::int64_t end) const;

  const Layer& layer() const { return *source; }

private:
  explicit LayerReader(const Layer& layer) : source(&layer) {}
  const Layer* source;
};

} // namespace octavo::checkpoint
