// How far a tensor is from a reference.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

/// The distance of a tensor from a reference, in f64 over decoded values. Elements that are NaN or
/// infinite in either tensor are left out of the three figures. `nonFinite` counts those that
/// differ; NaN equals NaN.
struct Comparison {
  double cosine;   ///< of the two as vectors; 1 if both are zero, 0 if one of them is
  double relative; ///< |value - reference| / |reference|, 2-norms; infinite for a zero reference
  double maximum;  ///< largest |value - reference|
  std::vector<std::int64_t> where; ///< index of its first element; empty if there are no elements
  std::int64_t nonFinite = 0;
};

/// Requires equal shapes, and that both tensors are complex or neither is. Integers and booleans
/// count as their values, a complex number as two. Differences between integers of one type are
/// exact. For tensors with one element the cosine is 1 or -1 and says nothing: do not show it.
Comparison compare(const numerics::Tensor& reference, const numerics::Tensor& value);

/// The largest distance between two values in steps of the format (for integers: in units), counted
/// exactly up to 2^53 and then rounded once. +0 equals -0, NaN equals NaN, and NaN is infinitely
/// far from all other values.
struct UlpDistance {
  double largest = 0;
  std::vector<std::int64_t> where = {}; ///< index of the first element with it; empty if it is 0
};

/// Requires equal types. Infinite if the shapes differ.
UlpDistance ulpDistance(const numerics::Tensor& reference, const numerics::Tensor& value);

/// The index vector of row-major element `i`.
std::vector<std::int64_t> indexOf(std::span<const std::int64_t> shape, std::int64_t i);

/// The tensor with real elements: a complex tensor gets a new last axis for its two parts; others
/// are returned unchanged.
numerics::Tensor realNumbers(const numerics::Tensor& tensor);

/// The value of element `i`. The tensor must not be complex. Integers beyond 2^53 are rounded.
double valueOf(const numerics::Tensor& tensor, std::int64_t i);

} // namespace octavo::program
