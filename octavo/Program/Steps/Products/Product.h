// Products of matrices by the kernels. What is multiplied again at each run is packed once.
#pragma once

#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Program/Steps/Kernel.h"
#include "octavo/Program/Steps/Products/GatheredWeight.h"
#include "octavo/Program/Steps/Products/MatrixBatch.h"
#include "octavo/Program/Steps/Products/RowGroups.h"
#include "octavo/Program/Steps/Products/ScaledParts.h"

#include <span>
#include <variant>

namespace octavo::program {

/// Products of more rows than this sum in one order, and those of bf16 have their weight decoded
/// ahead; of so many or fewer some read the codes where they lie and sum in another (rules D6 and
/// D8).
inline constexpr std::int64_t kFewRows = 16;

/// A product, and the kernel that finishes its rows, if it has one: its epilogue, which reads rows
/// of the result while they are in cache.
class ProductStep : public RowStep {
public:
  using RowStep::RowStep;
  /// Each row of the result is as many rows of the kernel, which read of the result that row alone.
  void finishWith(std::unique_ptr<KernelStep> kernel);
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const final;
  StepFacts facts() const final;
  std::vector<const Sequence*> nested() const override;
  void fields(ProgramFields& fields) final;

protected:
  /// Has the kernel go over rows of the result, counted from `first` on, as they become whole.
  class Finishing {
  public:
    Finishing(const KernelStep* kernel, const Frame& frame, Worker& worker, std::int64_t rows)
        : kernel(kernel), frame(frame), worker(worker), rows(rows) {}
    /// Of rows that are counted from `first` on.
    kernels::RowFinisher from(std::int64_t first);
    void finish(std::int64_t begin, std::int64_t end) const;

  private:
    const KernelStep* kernel;
    const Frame& frame;
    Worker& worker;
    std::int64_t rows, first = 0;
  };
  virtual Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                           const kernels::Execution& execution, Finishing finishing) const = 0;
  /// That `multiply` finishes; 0 where it leaves that for the end.
  virtual std::int64_t finishedRows(const Frame& frame) const = 0;
  virtual StepFacts productFacts() const = 0;
  /// Without the epilogue.
  virtual void productFields(ProgramFields& fields) = 0;

private:
  Sequence epilogue;
  const KernelStep* kernel = nullptr; ///< of the epilogue
};

/// Products of f32, bf16 or int8, [rows, depth] * [columns, depth]^T each; the result is row-major,
/// f32, of int8 int32. Its ranges are of rows, or of products where it has a batch. Of a batch, a
/// kernel may make the rows of the right side while they are multiplied, the product's prologue:
/// they are nowhere in memory as a whole.
class MatrixProductStep : public ProductStep {
public:
  explicit MatrixProductStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  struct Side {
    Slot slot;
    BatchExtent offset, stride, depthStride;
    /// Of a right side that is packed, floats of another format, whose values the product's type
    /// holds.
    const format::ElementFormat* from = nullptr;
    /// Of a right side of which there are several in the slot, so far apart, each packed once:
    /// which. Products of a batch have one each where they choose it themselves.
    IndexedSlice slices = {};
    std::int64_t sliceStride = 0;
  };
  /// `number` is of Frame::rights. With groups, each slice of the right side is as many matrices,
  /// one after the other.
  MatrixProductStep(OperationTextPtr op, kernels::PlainType type, Side left, Side right,
                    Slot result, BatchExtent rows, std::optional<RowGroups> groups,
                    BatchExtent depth, BatchExtent columns, MatrixBatch batch, int number)
      : ProductStep(std::move(op)), plainType(type), left(std::move(left)), right(std::move(right)),
        result(result), rows(rows), groups(groups), depth(depth), columns(columns),
        batch(std::move(batch)), number(number) {}
  Outcome bind(const Binding& binding) const override;
  /// Each row of the right side's memory, of which there are as many for each product, is as many
  /// rows of the kernel.
  void beginWith(std::unique_ptr<KernelStep> kernel);
  Outcome prepare(Frame& frame) const override;
  std::vector<const Sequence*> nested() const override;
  StepType type() const override { return StepType::MatrixProduct; }

private:
  /// What a run of so many items multiplies.
  struct Sizes {
    std::int64_t rows, depth, columns;
    std::int64_t leftOffset, leftStride, rightOffset, rightStride, rightDepthStride;

    /// Of the right side where its rows are made: elements of one, and rows of a product.
    std::int64_t madeElements() const { return rightDepthStride == 1 ? depth : columns; }
    std::int64_t madeRows() const { return rightDepthStride == 1 ? columns : depth; }
  };
  Sizes sizesOf(std::int64_t items) const;
  /// Whether the right side is packed in the same way for any number of items.
  bool isRightFixed() const;
  bool hasMadeRows() const;
  bool hasOneRight() const;
  /// Whether right sides are packed once: that of one product, or those that products choose.
  bool isPacked() const { return batch.isOne() || right.slices.isOfProduct(); }
  /// Matrices of each slice of the right side, and of all.
  std::int64_t ofSlice() const { return groups ? groups->count : 1; }
  std::int64_t rightCount() const { return right.slices.count() * ofSlice(); }
  kernels::BatchShape batchShape(const Sizes& now) const {
    return {.rows = now.rows,
            .depth = now.depth,
            .columns = now.columns,
            .leftStride = now.leftStride,
            .rightDepthStride = now.rightDepthStride,
            .rightColumnStride = now.rightStride,
            .cStride = now.columns};
  }
  template <typename T>
  void multiplyChosen(const Frame& frame, const T* a, const T* b, auto* c, RowRange products,
                      const kernels::Execution& execution, Finishing finishing) const;
  template <typename T>
  Outcome multiplyOne(const Frame& frame, const T* a, auto* c, RowRange range,
                      const kernels::PackedMatrix& matrix, const kernels::Execution& execution,
                      Finishing& finishing) const;
  template <typename T>
  Outcome multiplyGroups(const Frame& frame, const T* a, auto* c, RowRange range,
                         const kernels::Execution& execution, Finishing& finishing) const;
  /// Each matrix of the right side.
  using Packed = std::vector<kernels::PackedMatrix>;
  void formKey(const Sizes& now, PackedForms::Key& key) const;
  tl::expected<std::shared_ptr<const Packed>, std::string>
  formOf(const Value& value, const Sizes& now, PackedForms::Key& key) const;
  void placeBatch(std::vector<kernels::BatchOffsets>& all, std::int64_t items) const;
  std::int64_t beginOf(const Sizes& now, std::int64_t matrix) const {
    return now.rightOffset + matrix * right.sliceStride;
  }
  std::int64_t bytesOfRight() const; ///< of an element where it lies
  kernels::PackedMatrix pack(const std::byte* memory, const Sizes& now, std::int64_t matrix,
                             kernels::PackedMatrix&& old) const;
  tl::expected<kernels::PackedMatrix, std::string>
  pack(const UnreadTensor& tensor, const Sizes& now, std::int64_t matrix) const;
  template <typename T>
  Outcome multiplyAs(const Frame& frame, Worker& worker, RowRange range,
                     const kernels::Execution& execution, Finishing finishing) const;
  Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                   const kernels::Execution& execution, Finishing finishing) const override;
  std::int64_t finishedRows(const Frame& frame) const override {
    return rows.of(frame) * batch.products().of(frame);
  }
  StepFacts productFacts() const override;
  void productFields(ProgramFields& fields) override;

  kernels::PlainType plainType = kernels::PlainType::F32;
  Side left = {}, right = {};
  Slot result;
  BatchExtent rows;
  std::optional<RowGroups> groups;
  BatchExtent depth, columns;
  MatrixBatch batch;
  int number = 0;
  Sequence prologue;
  const KernelStep* maker = nullptr; ///< of the prologue
};

/// Activations packed for products with scaled weights, quantized where the plan's left side is: a
/// matrix, or those of a batch, one after the other.
class PackStep : public RowStep {
public:
  explicit PackStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// `packed` is of Worker::packed. With groups, the matrices are theirs, and have the rows
  /// together.
  PackStep(OperationTextPtr op, OpenPlan plan, std::optional<numerics::QuantizeOptions> options,
           Slot from, Matrices matrices, BatchExtent rows, std::optional<RowGroups> groups,
           int packed)
      : RowStep(std::move(op)), plan(std::move(plan)), options(std::move(options)), from(from),
        matrices(matrices), rows(rows), groups(groups), packed(packed) {}
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Pack; }
  void fields(ProgramFields& fields) override;

private:
  Outcome packRows(const kernels::ProductPlan& now, const float* values, std::int64_t count,
                   kernels::PackedOperand& target, const kernels::Execution& execution) const;

  OpenPlan plan;
  std::optional<numerics::QuantizeOptions> options;
  Slot from;
  Matrices matrices;
  BatchExtent rows;
  std::optional<RowGroups> groups;
  int packed = 0;
};

/// The left side of products, a scaled tensor among the values, packed for them.
class PackStoredStep : public Step {
public:
  explicit PackStoredStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// `packed` is of Worker::packed.
  PackStoredStep(OperationTextPtr op, OpenPlan plan, int from, Matrices matrices, BatchExtent rows,
                 int packed)
      : Step(std::move(op)), plan(std::move(plan)), from(from), matrices(matrices), rows(rows),
        packed(packed) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::PackStored; }
  void fields(ProgramFields& fields) override;

private:
  OpenPlan plan;
  int from = 0;
  Matrices matrices;
  BatchExtent rows;
  int packed = 0;
};

/// What a product of such operands multiplies.
Multiplied multipliedOf(kernels::PlainType type);

/// The scaled format of an operand, or what it is made of.
std::string formatName(const kernels::OperandFormat& operand, std::int64_t depth);
/// Bytes of rows of an operand, codes and scales.
double bytesOf(const kernels::OperandFormat& operand, std::int64_t rows, std::int64_t depth);

/// Products with a scaled weight. Its ranges are of rows, or of products where it has a batch.
class ScaledProductStep : public ProductStep {
public:
  explicit ScaledProductStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  /// A number among the values, or what lies in slots.
  using Weight = std::variant<int, PartSlots>;
  /// `packed` is of Worker::packed, each matrix of the weight, once it is moved, [columns, depth]
  /// or transposed, `number` of Frame::rights. With groups, the products are theirs.
  ScaledProductStep(OperationTextPtr op, OpenPlan plan, int packed, Weight weight,
                    std::optional<GatheredWeight> moved, Matrices matrices, bool isTransposed,
                    Slot result, BatchExtent rows, std::optional<RowGroups> groups,
                    BatchExtent columns, int number)
      : ProductStep(std::move(op)), plan(std::move(plan)), packed(packed), weight(weight),
        moved(std::move(moved)), matrices(matrices), isTransposed(isTransposed), result(result),
        rows(rows), groups(groups), columns(columns), number(number) {}
  Outcome bind(const Binding& binding) const override;
  Outcome prepare(Frame& frame) const override;
  StepType type() const override { return StepType::ScaledProduct; }

private:
  Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                   const kernels::Execution& execution, Finishing finishing) const override;
  std::int64_t finishedRows(const Frame& /*frame*/) const override { return 0; }
  StepFacts productFacts() const override;
  void productFields(ProgramFields& fields) override;
  void packedAhead(ProgramFields& fields);

  /// Each matrix of a weight; of one with slices, those of the first come first. What is packed for
  /// one run may have none of those that it does not choose.
  using Packed = std::vector<kernels::PackedOperand>;
  /// What a run of so many items multiplies.
  struct Sizes {
    kernels::ProductPlan plan;
    std::int64_t products, rows, columns;
    bool isDecoded; ///< whether the weight is decoded ahead
  };
  tl::expected<Sizes, std::string> sizesOf(std::int64_t items) const;
  /// Whether the weight is packed in the same way for any number of items.
  bool isWeightFixed() const;
  /// The first matrix as it lies.
  kernels::ScaledView first(const Sizes& now, const numerics::ScaledTensor& tensor) const;
  kernels::ScaledView first(const Sizes& now, const Frame& frame) const;
  kernels::PackedOperand pack(const Sizes& now, const kernels::ScaledView& matrix,
                              const kernels::Execution& execution, kernels::PackedOperand&& old,
                              kernels::PackedBytes* spare) const;
  void packOwn(const Sizes& now, const kernels::ScaledView& matrix,
               const kernels::Execution& execution, OwnOperand& own) const;
  std::int64_t slices() const { return moved ? moved->slices.count() : 1; }
  /// Matrices of each slice, where the weight is for so many products.
  std::int64_t ofSlice(std::int64_t products) const {
    return moved && moved->slices.isOfProduct() ? 1 : products;
  }
  /// The number of a product's matrix.
  std::int64_t matrixOf(const Frame& frame, std::int64_t product, std::int64_t products) const {
    const std::int64_t each = ofSlice(products);
    return (moved ? moved->slices.of(frame, product) * each : 0) + product % each;
  }
  void packSlice(const Sizes& now, const kernels::ScaledView& first, std::int64_t slice,
                 Packed& all) const;
  Packed packAll(const Sizes& now, const kernels::ScaledView& first) const;
  Packed packChosen(const Sizes& now, const Frame& frame) const;
  /// The right side of a product, in `made` where it is packed for it alone.
  const kernels::PackedOperand& rightOf(const Sizes& now, const Frame& frame, std::int64_t product,
                                        const kernels::Execution& execution,
                                        OwnOperand& made) const;
  Outcome multiplyGroups(const Sizes& now, const Frame& frame, Worker& worker, RowRange range,
                         const kernels::Execution& execution) const;
  /// The matrix of a product where it lies, if it lies as it is multiplied.
  std::optional<kernels::ScaledView> inPlace(const Sizes& now, const Frame& frame,
                                             std::int64_t product) const;
  using Form = tl::expected<std::shared_ptr<const Packed>, std::string>;
  /// What decides a form: the numbers of `now`, and whether it is decoded.
  void formKey(const Sizes& now, bool isDecoded, PackedForms::Key& key) const;
  /// The form that `owner`, the weight or its elements, keeps; `first()` is its first matrix as it
  /// lies. If the rows are open, the decoded form shares its memory with the other, if it can.
  template <typename First>
  Form formOf(const Sizes& now, const Value& owner, std::span<const Value* const> others,
              PackedForms::Key& key, const First& first) const;
  /// The same of a weight among the values.
  Form formOf(const Sizes& now, const Value& value, PackedForms::Key& key) const;

  OpenPlan plan;
  int packed = 0;
  Weight weight;
  std::optional<GatheredWeight> moved;
  Matrices matrices;
  bool isTransposed = false;
  Slot result;
  BatchExtent rows;
  std::optional<RowGroups> groups;
  BatchExtent columns;
  int number = 0;
  /// Whether the program was loaded, and its weights have packed forms alone.
  bool isPackedAhead = false;
};

} // namespace octavo::program
