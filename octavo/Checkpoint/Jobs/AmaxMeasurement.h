// Measures the amax that several tensors share, before the first of them is quantized.
#pragma once

#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/ValueRows.h"
#include "octavo/Kernels/Execution.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// The largest |x| over several tensors that share a scale. Error of measure: a value that is not
/// finite.
class AmaxMeasurement final : public Measurement {
public:
  /// Adds a tensor. Precondition: nothing has been measured yet.
  void add(std::shared_ptr<const ValueRows> rows);
  std::span<const Piece> pieces() const override { return all; }
  tl::expected<void, Error> measure(std::size_t piece, Scratch& scratch) override;
  /// The result, after all pieces were measured.
  float amax() const;

private:
  std::vector<std::shared_ptr<const ValueRows>> sources;
  std::vector<Piece> all;
  std::vector<std::size_t> sourceOf; ///< index in `sources` of each piece
  kernels::SharedMaximum greatest;
};

} // namespace octavo::checkpoint
