// Probes that see what quantized dots take and give.
#pragma once

#include "octavo/Numerics/Scaled.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::transforms {

/// What a probe of a dot sees: its operands before they are quantized, its result, and what it
/// gives in their format without quantization.
enum class DotValue : std::uint8_t { Lhs, Rhs, Result, WideResult };

/// How an operand is quantized.
struct OperandQuantization {
  numerics::ScaledType type;
  numerics::QuantizeOptions options;
};

struct ProbedDot {
  std::size_t number;
  std::array<std::optional<OperandQuantization>, 2> sides; ///< none: it is multiplied as it is
};

/// Puts interpreter.probe on every numbered dot that multiplies scaled tensors, in a module that
/// quantizeDots has rewritten with WeightTime::InProgram, of which all extents are known. The
/// program gives what it gave.
std::vector<ProbedDot> probeDots(mlir::ModuleOp module);

/// The dot's number and value that a probe's name stands for; none where probeDots has not made it.
std::optional<std::pair<std::size_t, DotValue>> probedValue(llvm::StringRef probe);

} // namespace octavo::transforms
