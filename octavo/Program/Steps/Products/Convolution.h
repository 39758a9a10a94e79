// A convolution as products of what its windows see: lines of the input as they lie, or patches of
// it, which are laid out a few rows at a time, so that they stay in cache. The weight is packed
// once.
#pragma once

#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Program/Steps/Products/Product.h"

#include <optional>
#include <vector>

namespace octavo::program {

/// How the window slides along one spatial axis. Strides are in elements, and may be negative.
template <typename Number> struct PatchAxisOf {
  Number extent, window, places; ///< of the input, the kernel and the result
  std::int64_t step;
  Number low;
  std::int64_t inputDilation, windowDilation;
  Number inputStride = 0, weightStride = 0;

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

using PatchAxis = PatchAxisOf<std::int64_t>;

/// There are at least one and at most so many.
inline constexpr std::size_t kMostPatchAxes = 8;

template <typename Number> struct PatchShapeOf {
  kernels::PlainType type;      ///< of input and weight; the result is f32
  Number batch;                 ///< of the result's rows
  Number features, outputs;     ///< of one group; of all groups
  std::int64_t inputGroups = 1; ///< groups of input features
  std::int64_t batchGroups = 1;
  /// Elements from the beginning of the input to its first, and from one image to the next; the
  /// features of one place are neighbours.
  Number inputOffset = 0, imageStride = 0;
  Number weightOffset = 0, weightInputStride = 0, weightOutputStride = 0;

  std::int64_t groups() const { return inputGroups * batchGroups; }
};

/// Of so many items.
struct PatchShape : PatchShapeOf<std::int64_t> {
  kernels::ThreadVector<PatchAxis> axes;

  std::int64_t rows() const;  ///< places of the result
  std::int64_t depth() const; ///< elements of a patch
};

/// Of any number of them, which may be any of its extents.
struct OpenPatchShape : PatchShapeOf<BatchExtent> {
  std::vector<PatchAxisOf<BatchExtent>> axes;

  PatchShape of(std::int64_t items) const;
  /// Places of the result.
  std::optional<BatchExtent> rows() const;
  /// Whether the weight is packed in the same way for any number of items.
  bool isWeightFixed() const;
};

/// The result is [batch, places, features], row-major. Rule P10 in the order of the window's places
/// and then of the features; what is padded is multiplied like any other zero.
class ConvolutionStep : public ProductStep {
public:
  explicit ConvolutionStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  /// `number` is of Frame::rights.
  ConvolutionStep(OperationTextPtr op, OpenPatchShape shape, Slot input, Slot weight, Slot result,
                  int number)
      : ProductStep(std::move(op)), shape(std::move(shape)), input(input), weight(weight),
        result(result), number(number) {}
  Outcome bind(const Binding& binding) const override;
  Outcome prepare(Frame& frame) const override;
  StepType type() const override { return StepType::Convolution; }

private:
  Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                   const kernels::Execution& execution, Finishing finishing) const override;
  std::int64_t finishedRows(const Frame& frame) const override { return shape.rows()->of(frame); }
  StepFacts productFacts() const override;
  void productFields(ProgramFields& fields) override;
  using Weights = std::vector<kernels::PackedMatrix>; ///< of each group
  static void formKey(const PatchShape& now, PackedForms::Key& key);
  static tl::expected<std::shared_ptr<const Weights>, std::string>
  formOf(const PatchShape& now, const Value& value, PackedForms::Key& key);
  void multiplyLines(const PatchShape& now, const Worker& worker, const Weights& weights,
                     std::int64_t begin, std::int64_t end, kernels::Isa isa,
                     const Finishing& finishing) const;
  template <typename T>
  void multiplyPatches(const PatchShape& now, const Worker& worker, const Weights& weights,
                       std::int64_t begin, std::int64_t end, kernels::Isa isa,
                       const Finishing& finishing) const;

  OpenPatchShape shape = {};
  Slot input, weight, result;
  int number = 0;
};

} // namespace octavo::program
