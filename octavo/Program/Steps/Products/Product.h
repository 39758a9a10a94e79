// Matrix products by the kernel library. An operand that recurs in each run is packed once.
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

/// Products with more rows than this sum in one order, and bf16 products decode their weight ahead.
/// Products with at most this many rows may read codes in place and sum in another order (rules D6
/// and D8).
inline constexpr std::int64_t kFewRows = 16;

/// A product with an optional epilogue: a kernel that processes result rows while they are in
/// cache.
class ProductStep : public RowStep {
public:
  using RowStep::RowStep;
  /// Sets the epilogue. Its rows are a multiple of the result's rows, and each reads only the
  /// result row that it belongs to.
  void finishWith(std::unique_ptr<KernelStep> kernel);
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const final;
  StepFacts facts() const final;
  std::vector<const Sequence*> nested() const override;
  void fields(ProgramFields& fields) final;

protected:
  /// Calls the epilogue on result rows as they become complete. `first` is added to row numbers.
  class Finishing {
  public:
    Finishing(const KernelStep* kernel, const Frame& frame, Worker& worker, std::int64_t rows)
        : kernel(kernel), frame(frame), worker(worker), rows(rows) {}
    /// A callback for the kernel library, whose row 0 is result row `first`.
    kernels::RowFinisher from(std::int64_t first);
    void finish(std::int64_t begin, std::int64_t end) const;

  private:
    const KernelStep* kernel;
    const Frame& frame;
    Worker& worker;
    std::int64_t rows, first = 0;
  };
  /// Computes a range of the result. Passes complete rows to `finishing` if finishedRows is not 0.
  virtual Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                           const kernels::Execution& execution, Finishing finishing) const = 0;
  /// Rows that `multiply` passes to the epilogue itself; 0 if the epilogue runs after `multiply`.
  virtual std::int64_t finishedRows(const Frame& frame) const = 0;
  virtual StepFacts productFacts() const = 0;
  /// The fields without the epilogue.
  virtual void productFields(ProgramFields& fields) = 0;

private:
  Sequence epilogue;
  const KernelStep* kernel = nullptr; ///< the epilogue's kernel, or null
};

/// Matrix products [rows, depth] * [columns, depth]^T of f32, bf16 or int8. The result is
/// row-major, f32 (int32 for int8). Ranges count rows, or products if there is a batch. In a batch,
/// a prologue may make the rows of the right operand while they are multiplied, so that the whole
/// operand never exists in memory.
class MatrixProductStep : public ProductStep {
public:
  explicit MatrixProductStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  struct Side {
    Slot slot;
    BatchExtent offset, stride, depthStride;
    /// The stored float format of a packed right operand, if it differs from the product's type,
    /// which holds all its values. Null: the product's type.
    const format::ElementFormat* from = nullptr;
    /// Which of several right operands in the slot to use. They are `sliceStride` elements apart,
    /// each packed once. The products of a batch may each choose one.
    IndexedSlice slices = {};
    std::int64_t sliceStride = 0;
  };
  /// `number` is an index of Frame::rights. With groups, each slice of the right operand is one
  /// matrix per group, consecutively.
  MatrixProductStep(OperationTextPtr op, kernels::PlainType type, Side left, Side right,
                    Slot result, BatchExtent rows, std::optional<RowGroups> groups,
                    BatchExtent depth, BatchExtent columns, MatrixBatch batch, int number)
      : ProductStep(std::move(op)), plainType(type), left(std::move(left)), right(std::move(right)),
        result(result), rows(rows), groups(groups), depth(depth), columns(columns),
        batch(std::move(batch)), number(number) {}
  Outcome bind(const Binding& binding) const override;
  /// Sets the prologue. Its rows are a multiple of the rows of the right operand's memory, which
  /// are counted over all products.
  void beginWith(std::unique_ptr<KernelStep> kernel);
  Outcome prepare(Frame& frame) const override;
  std::vector<const Sequence*> nested() const override;
  StepType type() const override { return StepType::MatrixProduct; }

private:
  /// The extents and strides at one batch size.
  struct Sizes {
    std::int64_t rows, depth, columns;
    std::int64_t leftOffset, leftStride, rightOffset, rightStride, rightDepthStride;

    /// For a prologue: elements of one made row of the right operand, and rows of one product.
    std::int64_t madeElements() const { return rightDepthStride == 1 ? depth : columns; }
    std::int64_t madeRows() const { return rightDepthStride == 1 ? columns : depth; }
  };
  Sizes sizesOf(std::int64_t items) const;
  /// Whether the packed right operand does not depend on the batch size.
  bool isRightFixed() const;
  bool hasMadeRows() const;
  bool hasOneRight() const;
  /// Whether right operands are packed: that of a single product, or slices that products choose.
  bool isPacked() const { return batch.isOne() || right.slices.isOfProduct(); }
  /// Matrices of one slice of the right operand, and of all slices.
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
  /// One packed matrix per slice and group.
  using Packed = std::vector<kernels::PackedMatrix>;
  void formKey(const Sizes& now, PackedForms::Key& key) const;
  tl::expected<std::shared_ptr<const Packed>, std::string>
  formOf(const Value& value, const Sizes& now, PackedForms::Key& key) const;
  void placeBatch(std::vector<kernels::BatchOffsets>& all, std::int64_t items) const;
  std::int64_t beginOf(const Sizes& now, std::int64_t matrix) const {
    return now.rightOffset + matrix * right.sliceStride;
  }
  std::int64_t bytesOfRight() const; ///< bytes of a stored element of the right operand
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
  const KernelStep* maker = nullptr; ///< the prologue's kernel, or null
};

/// Packs activations as left operands of scaled products, and quantizes them if the plan's left
/// side is quantized. One matrix, or consecutive matrices of a batch.
class PackStep : public RowStep {
public:
  explicit PackStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// `packed` is an index of Worker::packed. With groups there is one matrix per group, and `rows`
  /// counts the rows of all groups together.
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

/// Packs a scaled tensor among the values as left operand of scaled products.
class PackStoredStep : public Step {
public:
  explicit PackStoredStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// `packed` is an index of Worker::packed.
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

/// The type in which a product of such operands multiplies.
Multiplied multipliedOf(kernels::PlainType type);

/// The name of an operand's format: a row of kScaledFormats, an element format, or elements, scales
/// and block in words.
std::string formatName(const kernels::OperandFormat& operand, std::int64_t depth);
/// Bytes of `rows` rows of an operand: codes and scales.
double bytesOf(const kernels::OperandFormat& operand, std::int64_t rows, std::int64_t depth);

/// Products of packed activations and a scaled weight. Ranges count rows, or products if there is a
/// batch.
class ScaledProductStep : public ProductStep {
public:
  explicit ScaledProductStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  /// An index of Frame::values, or the slots of the weight's parts.
  using Weight = std::variant<int, PartSlots>;
  /// `packed` is an index of Worker::packed and `number` of Frame::rights. Each matrix of the
  /// weight, after `moved` is applied, is [columns, depth], or its transpose if `isTransposed`.
  /// With groups there is one product per group.
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
  /// The fields of a weight that the file holds packed.
  void packedAhead(ProgramFields& fields);

  /// One packed matrix per slice and product, slice by slice. Matrices that no product of the run
  /// chooses may be left empty.
  using Packed = std::vector<kernels::PackedOperand>;
  /// The plan and extents at one batch size.
  struct Sizes {
    kernels::ProductPlan plan;
    std::int64_t products, rows, columns;
    bool isDecoded; ///< whether the weight is decoded before the product
  };
  tl::expected<Sizes, std::string> sizesOf(std::int64_t items) const;
  /// Whether the packed weight does not depend on the batch size.
  bool isWeightFixed() const;
  /// A view of the first matrix, as stored.
  kernels::ScaledView first(const Sizes& now, const numerics::ScaledTensor& tensor) const;
  kernels::ScaledView first(const Sizes& now, const Frame& frame) const;
  kernels::PackedOperand pack(const Sizes& now, const kernels::ScaledView& matrix,
                              const kernels::Execution& execution, kernels::PackedOperand&& old,
                              kernels::PackedBytes* spare) const;
  void packOwn(const Sizes& now, const kernels::ScaledView& matrix,
               const kernels::Execution& execution, OwnOperand& own) const;
  std::int64_t slices() const { return moved ? moved->slices.count() : 1; }
  /// Matrices of one slice, of `products` products in all.
  std::int64_t ofSlice(std::int64_t products) const {
    return moved && moved->slices.isOfProduct() ? 1 : products;
  }
  /// The index of a product's matrix in Packed.
  std::int64_t matrixOf(const Frame& frame, std::int64_t product, std::int64_t products) const {
    const std::int64_t each = ofSlice(products);
    return (moved ? moved->slices.of(frame, product) * each : 0) + product % each;
  }
  void packSlice(const Sizes& now, const kernels::ScaledView& first, std::int64_t slice,
                 Packed& all) const;
  Packed packAll(const Sizes& now, const kernels::ScaledView& first) const;
  Packed packChosen(const Sizes& now, const Frame& frame) const;
  /// The packed right operand of a product. It is packed into `made` if only this product uses it.
  const kernels::PackedOperand& rightOf(const Sizes& now, const Frame& frame, std::int64_t product,
                                        const kernels::Execution& execution,
                                        OwnOperand& made) const;
  Outcome multiplyGroups(const Sizes& now, const Frame& frame, Worker& worker, RowRange range,
                         const kernels::Execution& execution) const;
  /// A view of a product's stored matrix, if it is contiguous in the order of the product.
  std::optional<kernels::ScaledView> inPlace(const Sizes& now, const Frame& frame,
                                             std::int64_t product) const;
  using Form = tl::expected<std::shared_ptr<const Packed>, std::string>;
  /// Sets `key` to what identifies a packed form.
  void formKey(const Sizes& now, bool isDecoded, PackedForms::Key& key) const;
  /// The packed form kept by `owner`, which is the weight or its elements. `first()` returns a view
  /// of the first stored matrix. If the row count is open, the decoded form shares memory with the
  /// other form where it can.
  template <typename First>
  Form formOf(const Sizes& now, const Value& owner, std::span<const Value* const> others,
              PackedForms::Key& key, const First& first) const;
  /// The same for a weight among the values.
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
  /// Whether the program was loaded from a file that holds the packed weight only.
  bool isPackedAhead = false;
};

} // namespace octavo::program
