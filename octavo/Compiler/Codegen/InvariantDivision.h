// Replaces divisions of a row's elements by one number, as in softmax, by multiplications.
#pragma once

#include "llvm/IR/PassManager.h"

namespace octavo::compiler {

/// Replaces each division x / s in a loop over a row, with invariant s, by a multiplication and two
/// fused multiply-adds with r = 1 / s. The bits are the same:
///
///     q = x * r,  e = q * s - x,  x / s = q - e * r      (each rounded once)
///
/// (P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, IBM
/// Journal of Research and Development 34, 1990; N. Brisebarre, J.-M. Muller and S. K. Raina,
/// Accelerating correctly rounded floating-point division when the divisor is known in advance,
/// IEEE Transactions on Computers 53, 2004.)
///
/// Let s and x be from 1 to 2, and u = 2^-24. The error of r is at most u / 2; the error of q is
/// less than u + u / 2 if x < s, else less than 2 u. So |e| is either less than 3 u in units of
/// 2^-47, of which rounding may lose one, or less than 4 u in units of 2^-46 and exact. Before
/// rounding, the last step is off by less than 7 * 2^-49, or 4 * 2^-49. For each s only few
/// quotients lie that near to a tie; test_kernel_passes.py checks all of them.
///
/// Nothing underflows or overflows if s is from 2^-24 to 2^24, and x is NaN, 0 (whose sign s > 0
/// keeps) or from 2^-100 to 2^100 in magnitude. The loop checks all x; a row with others is
/// computed again by the original loop.
class InvariantDivision : public llvm::PassInfoMixin<InvariantDivision> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace octavo::compiler
