// Whether two checkpoints say the same weights, whatever layouts they are in.
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

enum class Sameness : std::uint8_t {
  Identical,   ///< the same dtypes, shapes and bytes
  EqualValues, ///< every value is the same f32 (+0 and -0 are, and NaN and NaN)
  Different,   ///< some values differ
  OtherShape,  ///< the shapes differ
  OnlyInFirst,
  OnlyInSecond,
  Unreadable, ///< values cannot be had: bytes differ, or a scale is missing
};
std::string_view samenessName(Sameness sameness); ///< "identical", "equal values", ...

struct WeightDifference {
  std::string name;
  Sameness sameness;
  std::string first, second; ///< formats or dtypes; empty where there is none
  std::string why = {};      ///< of Unreadable, OtherShape, infinite figures and signs of zeros
  std::uint64_t elements = 0, differing = 0;
  std::uint64_t zeroSigns = 0; ///< zeros of another sign, which are equal
  double maxAbsolute =
      0; ///< largest |a - b|; infinite where one is NaN or infinite and the other not
  double maxRelative = 0; ///< largest |a - b| / |a| over a != 0
  double ofAmax = 0;      ///< maxAbsolute / largest |a|
  double rms = 0;         ///< |a - b| / |a| of the whole tensor (Euclidean)
};

struct DiffReport {
  std::string firstLayout, secondLayout;
  std::vector<WeightDifference> weights; ///< in the order of names, as people count

  std::uint64_t count(Sameness sameness) const;
  /// Whether every weight is in both and differs by at most `tolerance` times the first's amax. At
  /// 0 the sign of a zero counts.
  bool isWithin(double tolerance) const;
};

struct DiffOptions {
  /// Null: what the checkpoint says, or its tensors.
  const Layout *firstLayout = nullptr, *secondLayout = nullptr;
  WorkSettings work = {}; ///< progress hears of bytes of the first
};

/// Reads both in pieces. The figures depend on neither memory nor threads: sums are of f64, four
/// lanes over the values of a tile, then tile after tile in the order of the tensor.
DiffReport diff(const Folder& first, const Folder& second, const DiffOptions& options = {});

} // namespace octavo::checkpoint
