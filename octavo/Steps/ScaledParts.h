// Scaled matrices that products take as codes and scales where they lie.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Steps/Chain.h"

#include <optional>
#include <vector>

namespace octavo::steps {

/// A scaled tensor whose parts lie in slots: elements one a byte, scales in containers of their
/// format.
struct ScaledParts {
  Slot elements, scales;
  std::optional<Slot> outer;
  std::vector<std::int64_t> shape;
  numerics::ScaledType type;

  float outerScale(const Worker& worker) const { return outer ? *worker.at<float>(*outer) : 1.0f; }
};

/// A copy of it.
numerics::ScaledTensor tensorOf(const Worker& worker, const ScaledParts& parts);

/// Packs rows of a left operand that lies in parts.
class PackPartsStep : public RowStep {
public:
  explicit PackPartsStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// `packed` is of Worker::packed.
  PackPartsStep(OperationTextPtr op, kernels::ProductPlan plan, ScaledParts from, std::int64_t rows,
                int packed)
      : RowStep(std::move(op)), plan(std::move(plan)), from(std::move(from)), rows(rows),
        packed(packed) {}
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::PackParts; }
  void fields(ProgramFields& fields) override;

private:
  kernels::ProductPlan plan = {};
  ScaledParts from = {};
  std::int64_t rows = 0;
  int packed = 0;
};

} // namespace octavo::steps
