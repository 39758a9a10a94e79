// Cholesky's factorization and triangular systems (rule I22): computed in f64, rounded once.
#pragma once

#include "octavo/Program/Steps/Numbers.h"
#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// Of `count` matrices of `n` rows: L with a = L L^H where it `isLower`, else U with a = U^H U.
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

/// x of a x = b, or of x a = b, for `count` pairs of matrices; `a` may be transposed, and
/// conjugate.
class TriangularSolveStep : public Step {
public:
  explicit TriangularSolveStep(OperationTextPtr op) : Step(std::move(op)) {}
  struct System {
    bool isLeft = true;  ///< a x = b
    bool isLower = true; ///< the triangle, as it lies, that is read
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
  std::int64_t n = 0, others = 0; ///< rows of `a`, and how many systems have it
  Slot a, b, x;
};

} // namespace octavo::program
