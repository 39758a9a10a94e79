// The amax that several tensors share, known before the first of them is quantized.
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

/// The largest |x| of all rows of several tensors, which share a scale. Error: a value that is not
/// finite, of which there is no amax.
class AmaxMeasurement final : public Measurement {
public:
  void add(std::shared_ptr<const ValueRows> rows);
  std::span<const Piece> pieces() const override { return all; }
  tl::expected<void, Error> measure(std::size_t piece, Scratch& scratch) override;
  float amax() const;

private:
  std::vector<std::shared_ptr<const ValueRows>> sources;
  std::vector<Piece> all;
  std::vector<std::size_t> sourceOf; ///< of each piece
  kernels::SharedMaximum greatest;
};

} // namespace octavo::checkpoint
