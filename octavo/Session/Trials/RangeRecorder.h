// Records the ranges of tensors that a calibration's probes see.
#pragma once

#include "octavo/Analysis/Calibration.h"
#include "octavo/Program/Values/Probes.h"
#include "octavo/Transforms/Quantize/CalibrationProbes.h"

#include <mutex>
#include <string>
#include <vector>

namespace octavo::session {

/// Receives the tensors of the probes of addCalibrationProbes. Tensors of other probes are ignored.
class RangeRecorder : public program::Probes {
public:
  enum class Columns : std::uint8_t { Leave, Record };

  RangeRecorder(std::vector<transforms::CalibratedSide> probed, Columns columns);

  /// Fails on a NaN or an Inf; the error names the side and the index.
  program::Outcome write(std::string_view id, std::string_view type,
                         const program::Tensor& tensor) override;
  tl::expected<program::Tensor, std::string> read(std::string_view id, std::uint32_t iteration,
                                                  std::string_view type) override;

  /// Counts a finished run.
  void endRun() {
    const std::lock_guard lock(mutex);
    ++found.inputSets;
  }
  /// The calibration from all runs so far. Other runs may be in progress.
  analysis::Calibration calibration() const;

private:
  std::vector<transforms::CalibratedSide> probed;
  Columns columns;
  mutable std::mutex mutex;
  analysis::Calibration found;
  /// Ranges from probes that only record columns, by the same indices.
  std::vector<analysis::CalibratedTensor> ofColumns;
};

} // namespace octavo::session
