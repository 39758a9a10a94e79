// Calls inlined, as far as that leaves a program of a size that can be compiled.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace octavo::compiler {

/// How many operations a program may become when all calls are inlined; of functions that multiply
/// matrices, whose weights would be packed in each call, more.
inline constexpr std::uint64_t kMostInlined = std::uint64_t{1} << 15,
                               kMostInlinedProducts = std::uint64_t{1} << 18;

/// Inlines calls, from public functions down, so that each operation is copied once. Where the
/// program would become too large, large functions that are called more than once stay functions
/// (CalledFunction.h): what is inlined is linear in the program, however deep its calls are.
/// Functions that call themselves, and what cannot be inlined, stay too. Private functions that
/// nothing refers to any more are erased.
void inlineCalls(mlir::ModuleOp module, std::uint64_t mostInlined = kMostInlined,
                 std::uint64_t mostInlinedProducts = kMostInlinedProducts);

} // namespace octavo::compiler
