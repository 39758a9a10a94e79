// Divisions of a row's elements by one number, as softmax has them, without dividing.
#pragma once

#include "llvm/IR/PassManager.h"

namespace octavo::compiler {

/// Makes each division x / s in a loop over a row, where s does not change, three fused
/// multiply-adds by r = 1 / s, with the same bits:
///
///     q = x * r,  e = q * s - x,  x / s = q - e * r      (each rounded once)
///
/// (P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, IBM
/// Journal of Research and Development 34, 1990; N. Brisebarre, J.-M. Muller and S. K. Raina,
/// Accelerating correctly rounded floating-point division when the divisor is known in advance,
/// IEEE Transactions on Computers 53, 2004.) Let s and x be from 1 to 2, and u = 2^-24: r is off by
/// at most u / 2, and q by less than u + u / 2 where x < s, else than 2 u. So |e| is less than 3 u,
/// of units of 2^-47 that rounding may leave one of, or less than 4 u, of units of 2^-46 and exact.
/// Before it is rounded, the last step is off by less than 7 * 2^-49, or 4 * 2^-49. Of quotients
/// nearer than that to a tie each s has few: test_kernel_passes.py has all of them.
///
/// Nothing underflows or overflows on the way where s is from 2^-24 to 2^24, and x from 2^-100 to
/// 2^100 or 0, whose sign s > 0 keeps, or NaN; the loop looks at all x. A row that has others is
/// gone over again by the loop as it was.
class InvariantDivision : public llvm::PassInfoMixin<InvariantDivision> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace octavo::compiler
