// A convolution as matrix products. The left operand is lines of the input in place
// (WindowLines.h), or patches. Patches are laid out a few rows at a time, so that they stay in
// cache. The weight is packed once.
#pragma once

#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Program/Steps/Products/Product.h"

#include <optional>
#include <vector>

namespace octavo::program {

/// How the window slides along one spatial axis. Strides are in elements and may be negative.
template <typename Number> struct PatchAxisOf {
  Number extent, window, places; ///< extents of the input, the window and the result
  std::int64_t step;
  Number low;
  std::int64_t inputDilation, windowDilation;
  Number inputStride = 0, weightStride = 0;

  /// The input index of a position in the padded, dilated input, counted from the first input
  /// element; -1 if the position is padding or a dilation zero.
  std::int64_t inInput(std::int64_t place) const {
    if (inputDilation != 1) {
      if (place % inputDilation != 0)
        return -1;
      place /= inputDilation;
    }
    return place >= 0 && place < extent ? place : -1;
  }
  /// The same for a position of the result and a position of the window.
  std::int64_t inInput(std::int64_t place, std::int64_t inWindow) const {
    return inInput(place * step + inWindow * windowDilation - low);
  }
};

using PatchAxis = PatchAxisOf<std::int64_t>;

/// A convolution has 1 to kMostPatchAxes spatial axes.
inline constexpr std::size_t kMostPatchAxes = 8;

/// The extents and strides of a convolution.
template <typename Number> struct PatchShapeOf {
  kernels::PlainType type;      ///< type of input and weight; the result is f32
  Number batch;                 ///< batch extent of the result
  Number features, outputs;     ///< input features of one group; output features of all groups
  std::int64_t inputGroups = 1; ///< groups of input features
  std::int64_t batchGroups = 1;
  /// `inputOffset`: elements to the first element of the input; `imageStride`: from one image to
  /// the next. Features are contiguous.
  Number inputOffset = 0, imageStride = 0;
  Number weightOffset = 0, weightInputStride = 0, weightOutputStride = 0;

  std::int64_t groups() const { return inputGroups * batchGroups; }
};

/// The shape for one batch size.
struct PatchShape : PatchShapeOf<std::int64_t> {
  kernels::ThreadVector<PatchAxis> axes;

  std::int64_t rows() const;  ///< positions of the result, in all images
  std::int64_t depth() const; ///< elements of one patch
};

/// The shape for any batch size, on which any extent may depend.
struct OpenPatchShape : PatchShapeOf<BatchExtent> {
  std::vector<PatchAxisOf<BatchExtent>> axes;

  PatchShape of(std::int64_t items) const;
  /// Positions of the result. nullopt if the product overflows.
  std::optional<BatchExtent> rows() const;
  /// Whether the packed weight does not depend on the batch size.
  bool isWeightFixed() const;
};

/// The result is [batch, positions, features], row-major. Sums follow rule P10, over the window's
/// positions and then the features. Padding is multiplied like any other zero.
class ConvolutionStep : public ProductStep {
public:
  explicit ConvolutionStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  /// `number` is an index of Frame::rights.
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
  using Weights = std::vector<kernels::PackedMatrix>; ///< one matrix per group
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
