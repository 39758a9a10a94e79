// Cholesky's factorization and triangular systems (rule I22): computed in f64, rounded once.
#pragma once

#include "octavo/Program/Steps/Numbers.h"
#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// stablehlo.cholesky of `count` matrices [n, n]: L with a = L L^H if `isLower`, else U with a =
/// U^H U.
class CholeskyStep : public Step {
public:
  explicit CholeskyStep(OperationTextPtr op) : Step(std::move(op)) {}
  CholeskyStep(OperationTextPtr op, Numbers numbers, bool isLower, BatchExtent count,
               std::int64_t n, Slot from, Slot to)
      : Step(std::move(op)), numbers(numbers), isLower(isLower), count(count), n(n), from(from),
        to(to) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Cholesky; }
  void fields(ProgramFields& fields) override;

private:
  template <typename Number>
  void factor(const Frame& frame, Worker& worker, std::int64_t matrix) const;

  Numbers numbers;
  bool isLower = true;
  BatchExtent count;
  std::int64_t n = 0;
  Slot from, to;
};

/// stablehlo.triangular_solve: solves a x = b or x a = b for `count` pairs of matrices. `a` may be
/// transposed or conjugated.
class TriangularSolveStep : public Step {
public:
  explicit TriangularSolveStep(OperationTextPtr op) : Step(std::move(op)) {}
  struct System {
    bool isLeft = true;  ///< solves a x = b; else x a = b
    bool isLower = true; ///< which triangle of `a`, as stored, is read
    bool isUnitDiagonal = false;
    bool isTransposed = false, isConjugate = false;
  };
  TriangularSolveStep(OperationTextPtr op, Numbers numbers, System system, BatchExtent count,
                      std::int64_t n, std::int64_t others, Slot a, Slot b, Slot x)
      : Step(std::move(op)), numbers(numbers), system(system), count(count), n(n), others(others),
        a(a), b(b), x(x) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::TriangularSolve; }
  void fields(ProgramFields& fields) override;

private:
  template <typename Number>
  void solve(const Frame& frame, Worker& worker, std::int64_t matrix, std::int64_t first) const;

  Numbers numbers;
  System system;
  BatchExtent count;
  std::int64_t n = 0, others = 0; ///< rows of `a`; right-hand sides per matrix
  Slot a, b, x;
};

} // namespace octavo::program
