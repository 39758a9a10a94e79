// What the probes of a calibration pass on, as figures.
#pragma once

#include "octavo/Analysis/Calibration.h"
#include "octavo/Program/Values/Probes.h"
#include "octavo/Transforms/Quantize/CalibrationProbes.h"

#include <mutex>
#include <string>
#include <vector>

namespace octavo::session {

/// Takes the tensors of addCalibrationProbes' probes; those of other probes are let go.
class RangeRecorder : public program::Probes {
public:
  enum class Columns : std::uint8_t { Leave, Record };

  RangeRecorder(std::vector<transforms::CalibratedSide> probed, Columns columns);

  /// The error names the side and the place of a NaN or an Inf.
  program::Outcome write(std::string_view id, std::string_view type,
                         const program::Tensor& tensor) override;
  tl::expected<program::Tensor, std::string> read(std::string_view id, std::uint32_t iteration,
                                                  std::string_view type) override;

  /// Counts a run that is over.
  void endRun() {
    const std::lock_guard lock(mutex);
    ++found.inputSets;
  }
  /// Of the runs so far; others may be under way.
  analysis::Calibration calibration() const;

private:
  std::vector<transforms::CalibratedSide> probed;
  Columns columns;
  mutable std::mutex mutex;
  analysis::Calibration found;
  /// What probes of columns alone have seen, by the same numbers.
  std::vector<analysis::CalibratedTensor> ofColumns;
};

} // namespace octavo::session
