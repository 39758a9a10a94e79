// How much of a program's outputs is lost, in the metrics that budgets are in (Analysis/Budget.h).
#pragma once

#include "octavo/Analysis/Budget.h"
#include "octavo/Analysis/FormatSearch.h"
#include "octavo/Numerics/Tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::session {

/// The most parts that one output has, and all together have in limitParts.
inline constexpr std::size_t kMostParts = 64, kMostPartsOfAll = 256;

/// Whether a metric of octavo's own can be computed of outputs of this type: floats and complex.
bool hasLoss(const numerics::ElementType& type);

/// Whether the rows of a tensor of this shape have one element: a loss, a regression head. A row is
/// all that the last axis has; a tensor of rank 0 or 1 is one row. The cosine of such a row is 1 or
/// -1 whatever it loses.
bool hasRowsOfOne(std::span<const std::int64_t> shape);

/// What an output loses, by analysis::lossOf. Of Cosine a part is a row, or the worst of
/// neighbouring rows where there are more than kMostParts; a row has a cosine of 1 where it is zero
/// in both and of 0 where it is in one. A row of one element with the relative error r counts as
/// one of several elements whose error is as large and at right angles to it: as 1 - r^2 / 2, at
/// least -1. Of the other metrics the output is one part. A part in which the value is not finite
/// is infinite.
///
/// Of another shape than the reference, which an output has whose extents come from values, all
/// parts are infinite. Requires hasLoss, equal types, a finite reference, a metric that is not Own.
analysis::Losses lossesOf(analysis::Metric metric, const numerics::Tensor& reference,
                          const numerics::Tensor& value);

/// Of more than `most` parts the worst of neighbouring ones.
analysis::Losses limitParts(analysis::Losses losses, std::size_t most);

} // namespace octavo::session
