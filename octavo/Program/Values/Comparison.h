// How far a tensor is from a reference.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

/// Distance of a tensor from a reference, in f64 over the decoded values. Elements of which either
/// is NaN or infinite are left out of the three figures; those of them that are not the same in
/// both (NaN is the same as NaN) are counted in `nonFinite`.
struct Comparison {
  double cosine;   ///< of the two as vectors; 1 if both are zero, 0 if one is
  double relative; ///< |value - reference| / |reference|, 2-norms; infinite for a zero reference
  double maximum;  ///< largest |value - reference|
  std::vector<std::int64_t> where; ///< index of the first element that has it; empty for no element
  std::int64_t nonFinite = 0;
};

/// Requires that shapes are equal and that both tensors are complex or neither. Integers and
/// booleans count as their values, complex numbers as two. Differences of integers of one type are
/// counted in integers. The cosine of one number with another is 1 or -1 and says nothing of their
/// distance: it is not to be shown where a tensor has one element.
Comparison compare(const numerics::Tensor& reference, const numerics::Tensor& value);

/// The largest distance in codes of the format from one value to the other (integers: of the
/// values), counted in integers: a distance of 1 is 1 at any magnitude, those beyond 2^53 are
/// rounded once. Zeros are one value, and so are NaN; NaN is infinitely far from all else.
struct UlpDistance {
  double largest = 0;
  std::vector<std::int64_t> where = {}; ///< of the first element that has it; empty where it is 0
};

/// Requires that the types are equal; of other shapes than the reference's, the distance is
/// infinite.
UlpDistance ulpDistance(const numerics::Tensor& reference, const numerics::Tensor& value);

/// The index of row-major element `i`.
std::vector<std::int64_t> indexOf(std::span<const std::int64_t> shape, std::int64_t i);

/// The tensor as one of real numbers: a complex one with its parts along a new last axis, any other
/// as it is.
numerics::Tensor realNumbers(const numerics::Tensor& tensor);

/// The value of element `i` of a tensor that is not complex; integers beyond 2^53 are rounded.
double valueOf(const numerics::Tensor& tensor, std::int64_t i);

} // namespace octavo::program
