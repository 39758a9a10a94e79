// What a calibration measures of the activations of a program's dots, and its file.
#pragma once

#include "octavo/Analysis/Magnitudes.h"
#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::analysis {

/// One side of a dot: its values over all runs.
struct CalibratedTensor {
  std::string dot;  ///< unique in its program; the second of a name ends in "#2"
  std::string side; ///< "lhs" or "rhs"
  /// Extent of the contracted axis, or product of the contracted axes. 0 if it differed between
  /// runs, or no value was seen.
  std::int64_t columns = 0;
  Magnitudes magnitudes = {};
  /// Largest magnitude of each column. Empty if not requested, or if `columns` is 0.
  std::vector<float> columnAmax = {};

  /// Adds the values that `other` saw for the same side.
  void merge(const CalibratedTensor& other);

  friend bool operator==(const CalibratedTensor&, const CalibratedTensor&) = default;
};

/// The measurements of one program.
struct Calibration {
  std::int64_t inputSets = 0; ///< number of runs
  std::vector<CalibratedTensor> tensors;

  /// Null if there is no such side.
  const CalibratedTensor* find(std::string_view dot, std::string_view side) const;
  /// The names of all dots, each once.
  std::vector<std::string> dotNames() const;

  /// Adds another calibration of the same program: the result is that of one calibration over the
  /// inputs of both. The error names a side that only one has, or that only one has column_amax
  /// for.
  tl::expected<void, std::string> merge(const Calibration& other);

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// Writes JSON of this version, one line for each tensor. Equal calibrations have equal text.
std::string calibrationText(const Calibration& calibration);

/// Reads the text of calibrationText. `file` names it in errors. Fails for:
/// - text that is not JSON, or is another version
/// - an unknown or missing key
/// - a value of another type or out of range
/// - two entries for one side of a dot
/// - figures that contradict each other
tl::expected<Calibration, checkpoint::Error> parseCalibration(std::string_view text,
                                                              const std::string& file);
/// Reads a regular file of at most 1 GiB in the same way.
tl::expected<Calibration, checkpoint::Error> readCalibration(const std::filesystem::path& path);

/// Writes the file, whole or not at all.
tl::expected<void, checkpoint::Error> writeCalibration(const std::filesystem::path& path,
                                                       const Calibration& calibration);

} // namespace octavo::analysis
