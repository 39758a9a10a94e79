// Inlines calls, as long as the program stays small enough to be compiled.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace octavo::compiler {

/// The most operations of a program after inlining. The second bound is for functions with matrix
/// products: if they stayed functions, their weights would be packed in each call.
inline constexpr std::uint64_t kMostInlined = std::uint64_t{1} << 15,
                               kMostInlinedProducts = std::uint64_t{1} << 18;

/// Inlines calls, from public functions down, so that each operation is copied once. If the program
/// would become too large, large functions with several calls stay functions (CalledFunction.h). So
/// the result is linear in the program, however deep its calls are.
///
/// Recursive functions, and calls that cannot be inlined, stay too. Private functions without
/// references are erased.
void inlineCalls(mlir::ModuleOp module, std::uint64_t mostInlined = kMostInlined,
                 std::uint64_t mostInlinedProducts = kMostInlinedProducts);

} // namespace octavo::compiler
