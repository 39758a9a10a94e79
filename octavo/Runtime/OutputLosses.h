// How much of a program's outputs is lost, in the metrics that budgets are in (Tuning/Budget.h).
#pragma once

#include "octavo/Numerics/Tensor.h"
#include "octavo/Tuning/Budget.h"
#include "octavo/Tuning/FormatSearch.h"

#include <cstddef>

namespace octavo::runtime {

/// The most parts that one output has, and all together have in limitParts.
inline constexpr std::size_t kMostParts = 64, kMostPartsOfAll = 256;

/// Whether a metric of octavo's own can be computed of outputs of this type: floats and complex.
bool hasLoss(const numerics::ElementType& type);

/// What an output loses, by tuning::lossOf. Of Cosine a part is a row, which is all that the last
/// axis has (a tensor of rank 0 or 1 is one row), or the worst of neighbouring rows where there are
/// more than kMostParts; a row has a cosine of 1 where it is zero in both and of 0 where it is in
/// one. Of the other metrics the output is one part. A part in which the value is not finite is
/// infinite.
///
/// Requires hasLoss, equal types and shapes, a finite reference, a metric that is not Own.
tuning::Losses lossesOf(tuning::Metric metric, const numerics::Tensor& reference,
                        const numerics::Tensor& value);

/// Of more than `most` parts the worst of neighbouring ones.
tuning::Losses limitParts(tuning::Losses losses, std::size_t most);

} // namespace octavo::runtime
