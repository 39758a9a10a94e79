// Arbitrary bytes as a calibration file: an error, or figures that can be used and written again.

#include "octavo/Analysis/Calibration.h"

#include <cmath>
#include <cstdlib>

using namespace octavo;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = analysis::parseCalibration(text, "file");
  if (!read) {
    require(read.error().message().size() >= 10);
    return 0;
  }
  for (const analysis::CalibratedTensor& tensor : read->tensors) {
    const float percentile = tensor.magnitudes.percentile(99);
    require(percentile >= 0 && percentile <= tensor.magnitudes.amax());
    require(std::isfinite(tensor.magnitudes.amax()));
  }
  const auto again = analysis::parseCalibration(analysis::calibrationText(*read), "file");
  require(again && *again == *read);
  analysis::Calibration merged = *read;
  require(merged.merge(*read).has_value());
  return 0;
}
