// The losses of a program's outputs, in the metrics of budgets (Analysis/Budget.h).
#pragma once

#include "octavo/Analysis/Budget.h"
#include "octavo/Analysis/FormatSearch.h"
#include "octavo/Numerics/Tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::session {

/// The most parts of one output, and of all outputs together after limitParts.
inline constexpr std::size_t kMostParts = 64, kMostPartsOfAll = 256;

/// Whether octavo can compute a metric of outputs of this type: float and complex types.
bool hasLoss(const numerics::ElementType& type);

/// Whether the rows of a tensor of this shape have one element, like a loss or a regression head. A
/// row spans the last axis; a tensor of rank 0 or 1 is one row. The cosine of such a row is always
/// 1 or -1.
bool hasRowsOfOne(std::span<const std::int64_t> shape);

/// The losses of an output, by analysis::lossOf. An output is one part, except for Cosine.
///
/// For Cosine, a part is a row, or the worst of neighbouring rows if there are more than
/// kMostParts. The cosine is 1 if both rows are zero, and 0 if one is. A row of one element with
/// relative error r counts as a longer row with an error of that size at right angles to it: 1 -
/// r^2 / 2, at least -1.
///
/// A part with a non-finite value has an infinite loss. If the shapes differ, which happens if
/// extents depend on values, all parts are infinite. Requires hasLoss, equal types, a finite
/// reference, and a metric other than Own.
analysis::Losses lossesOf(analysis::Metric metric, const numerics::Tensor& reference,
                          const numerics::Tensor& value);

/// Merges neighbouring parts, keeping the worst of each group, if there are more than `most`.
analysis::Losses limitParts(analysis::Losses losses, std::size_t most);

} // namespace octavo::session
