// What a calibration found of the activations of a program's dots, and the file that keeps it.
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

/// One side of a dot: what it was given over all runs.
struct CalibratedTensor {
  std::string dot;  ///< unique in its program: the second of a name has "#2" at its end
  std::string side; ///< "lhs" or "rhs"
  /// Extent of the contracted axis, of several their product; 0 where it was not always the same,
  /// or no value was seen.
  std::int64_t columns = 0;
  Magnitudes magnitudes = {};
  /// Largest magnitude of each column; empty where they were not asked for, or `columns` is 0.
  std::vector<float> columnAmax = {};

  /// Adds what was seen of the same side elsewhere.
  void merge(const CalibratedTensor& other);

  friend bool operator==(const CalibratedTensor&, const CalibratedTensor&) = default;
};

struct Calibration {
  std::int64_t inputSets = 0; ///< runs
  std::vector<CalibratedTensor> tensors;

  /// Null where there is none.
  const CalibratedTensor* find(std::string_view dot, std::string_view side) const;
  /// The names of all dots, each once.
  std::vector<std::string> dotNames() const;

  /// Adds another one of the same program: what one calibration over the inputs of both would have
  /// found. The error says which side only one has, or has with column_amax.
  tl::expected<void, std::string> merge(const Calibration& other);

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// JSON of this version, a line a tensor. Equal calibrations have equal text.
std::string calibrationText(const Calibration& calibration);

/// Reads what calibrationText writes; `file` stands for it in errors. Errors: no JSON, another
/// version, an unknown key, a value of another type or beyond its range, two entries for one side
/// of a dot, figures that contradict one another.
tl::expected<Calibration, checkpoint::Error> parseCalibration(std::string_view text,
                                                              const std::string& file);
/// The same of a regular file of at most 1 GiB.
tl::expected<Calibration, checkpoint::Error> readCalibration(const std::filesystem::path& path);

/// Writes it, whole or not at all.
tl::expected<void, checkpoint::Error> writeCalibration(const std::filesystem::path& path,
                                                       const Calibration& calibration);

} // namespace octavo::analysis
