// Compares the weights of two checkpoints, in whatever layouts they are.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Folder.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Work.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The result of comparing one weight.
enum class Sameness : std::uint8_t {
  Identical,   ///< same dtypes, shapes and bytes
  EqualValues, ///< every value is the same f32; +0 and -0 count as equal, and NaN and NaN
  Different,   ///< some values differ
  OtherShape,  ///< the shapes differ
  OnlyInFirst,
  OnlyInSecond,
  Unreadable, ///< the values cannot be read (a scale is missing, say) and the bytes differ
};
std::string_view samenessName(Sameness sameness); ///< "identical", "equal values", ...

/// The comparison of one weight. |a - b| is taken over f32 values a of the first and b of the
/// second.
struct WeightDifference {
  std::string name;
  Sameness sameness;
  std::string first, second; ///< format or dtype in each; empty if the weight is missing there
  std::string why = {};      ///< of Unreadable, OtherShape, infinite figures, zero signs
  std::uint64_t elements = 0, differing = 0;
  std::uint64_t zeroSigns = 0; ///< pairs +0 and -0, which count as equal
  double maxAbsolute = 0;      ///< largest |a - b|; infinite if only one of a pair is finite
  double maxRelative = 0;      ///< largest |a - b| / |a| over a != 0
  double ofAmax = 0;           ///< maxAbsolute / largest |a|
  double rms = 0;              ///< Euclidean norm of a - b, divided by that of a
};

/// The comparison of two checkpoints.
struct DiffReport {
  std::string firstLayout, secondLayout;
  std::vector<WeightDifference> weights; ///< sorted by name, numbers by value

  std::uint64_t count(Sameness sameness) const;
  /// Whether every weight is in both and differs by at most `tolerance` times the amax of the
  /// first. A tolerance of 0 requires equal signs of zeros too.
  bool isWithin(double tolerance) const;
};

/// Options of diff.
struct DiffOptions {
  /// Null: detected from the configuration or the tensors.
  const Layout *firstLayout = nullptr, *secondLayout = nullptr;
  WorkSettings work = {}; ///< progress counts bytes of the first
};

/// Compares two checkpoints, reading both in pieces. The figures do not depend on memory or
/// threads: sums are f64, in four lanes over the values of a tile, then tile by tile in tensor
/// order.
DiffReport diff(const Folder& first, const Folder& second, const DiffOptions& options = {});

} // namespace octavo::checkpoint
