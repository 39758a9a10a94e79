// A convolution as products of what its windows see: lines of the input as they lie, or patches of
// it, which are laid out a few rows at a time, so that they stay in cache. The weight is packed
// once.
#pragma once

#include "octavo/Steps/Product.h"

#include <vector>

namespace octavo::steps {

/// How the window slides along one spatial axis. Strides are in elements, and may be negative.
struct PatchAxis {
  std::int64_t extent, window, places; ///< of the input, the kernel and the result
  std::int64_t step, low, inputDilation, windowDilation;
  std::int64_t inputStride = 0, weightStride = 0;

  /// Where a place lies in the input that is counted from its first element on, with the zeros that
  /// dilation puts in; -1 where it is one of them, or padded.
  std::int64_t inInput(std::int64_t place) const {
    if (inputDilation != 1) {
      if (place % inputDilation != 0)
        return -1;
      place /= inputDilation;
    }
    return place >= 0 && place < extent ? place : -1;
  }
  /// Of a place of the result and one of the window.
  std::int64_t inInput(std::int64_t place, std::int64_t inWindow) const {
    return inInput(place * step + inWindow * windowDilation - low);
  }
};

/// There are at least one and at most so many.
inline constexpr std::size_t kMostPatchAxes = 8;

struct PatchShape {
  kernels::PlainType type;        ///< of input and weight; the result is f32
  ItemNumber batch;               ///< of the result's rows
  std::int64_t features, outputs; ///< of one group; of all groups
  std::int64_t inputGroups = 1;   ///< groups of input features
  std::int64_t batchGroups = 1;
  std::vector<PatchAxis> axes;
  /// Elements from the beginning of the input to its first, and from one image to the next; the
  /// features of one place are neighbours.
  std::int64_t inputOffset = 0, imageStride = 0;
  std::int64_t weightOffset = 0, weightInputStride = 0, weightOutputStride = 0;

  ItemNumber rows() const;    ///< places of the result
  std::int64_t depth() const; ///< elements of a patch
  std::int64_t groups() const { return inputGroups * batchGroups; }
};

/// The result is [batch, places, features], row-major. Rule P10 in the order of the window's places
/// and then of the features; what is padded is multiplied like any other zero.
class ConvolutionStep : public ProductStep {
public:
  explicit ConvolutionStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  /// `number` is of Frame::rights.
  ConvolutionStep(OperationTextPtr op, PatchShape shape, Slot input, Slot weight, Slot result,
                  int number)
      : ProductStep(std::move(op)), shape(std::move(shape)), input(input), weight(weight),
        result(result), number(number) {}
  Outcome bind(const Binding& binding) const override;
  Outcome prepare(Frame& frame) const override;
  StepType type() const override { return StepType::Convolution; }

private:
  Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                   const kernels::Execution& execution, Finishing finishing) const override;
  std::int64_t finishedRows(const Frame& frame) const override { return shape.rows().of(frame); }
  StepFacts productFacts() const override;
  void productFields(ProgramFields& fields) override;
  using Weights = std::vector<kernels::PackedMatrix>; ///< of each group
  template <typename T> void packAs(const T* values, Weights& packed) const;
  void pack(const std::byte* memory, Weights& packed) const;
  tl::expected<std::shared_ptr<const Weights>, std::string> formOf(const Value& value) const;
  template <typename T>
  void layOut(const T* values, std::int64_t group, std::int64_t row, std::int64_t count,
              T* patches) const;
  void multiplyLines(const Worker& worker, const Weights& weights, std::int64_t begin,
                     std::int64_t end, kernels::Isa isa, const Finishing& finishing) const;
  template <typename T>
  void multiplyPatches(const Worker& worker, const Weights& weights, std::int64_t begin,
                       std::int64_t end, kernels::Isa isa, const Finishing& finishing) const;

  PatchShape shape = {};
  Slot input, weight, result;
  int number = 0;
  std::shared_ptr<const Weights> ahead; ///< of a program that was loaded, packed
};

} // namespace octavo::steps
