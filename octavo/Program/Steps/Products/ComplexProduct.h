// Complex matrix products, bit-exact with the interpreter (rule I12).
#pragma once

#include "octavo/Program/Steps/Products/Product.h"

namespace octavo::program {

/// [rows, depth] * [columns, depth]^T for each product of the batch. The result is row-major, of
/// the operands' type. Ranges are as for a MatrixProductStep.
class ComplexProductStep : public ProductStep {
public:
  explicit ComplexProductStep(OperationTextPtr op) : ProductStep(std::move(op)) {}
  struct Side {
    Slot slot;
    BatchExtent offset, stride, depthStride;
  };
  ComplexProductStep(OperationTextPtr op, bool isF64, Side left, Side right, Slot result,
                     BatchExtent rows, BatchExtent depth, BatchExtent columns, MatrixBatch batch)
      : ProductStep(std::move(op)), isF64(isF64), left(left), right(right), result(result),
        rows(rows), depth(depth), columns(columns), batch(std::move(batch)) {}
  StepType type() const override { return StepType::ComplexProduct; }

private:
  template <typename Part>
  Outcome multiplyAs(const Frame& frame, Worker& worker, RowRange range,
                     const kernels::Execution& execution, Finishing finishing) const;
  Outcome multiply(const Frame& frame, Worker& worker, RowRange range,
                   const kernels::Execution& execution, Finishing finishing) const override;
  std::int64_t finishedRows(const Frame& frame) const override {
    return rows.of(frame) * batch.products().of(frame);
  }
  StepFacts productFacts() const override;
  void productFields(ProgramFields& fields) override;

  bool isF64 = false;
  Side left = {}, right = {};
  Slot result;
  BatchExtent rows;
  BatchExtent depth, columns;
  MatrixBatch batch;
};

} // namespace octavo::program
