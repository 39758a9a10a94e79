// Probes that see what quantized dots take and give.
#pragma once

#include "octavo/Numerics/Scaled.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octavo::transforms {

/// What a probe of a dot sees: its operands before they are quantized, its result, what it gives
/// in their format without quantization, and its result in a program that nobody has quantized.
enum class DotValue : std::uint8_t { Lhs, Rhs, Result, WideResult, Unchanged };

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

/// Puts interpreter.probe on the results of those numbered dots of a module that is not quantized,
/// of which all extents are known.
void probeResults(mlir::ModuleOp module, llvm::function_ref<bool(std::size_t)> isWanted);

/// The name of a probe of that value, of the dot or the entry of a list of that number.
std::string dotProbeName(std::size_t number, DotValue value);
/// The number and value of a name that dotProbeName has made; none of another.
std::optional<std::pair<std::size_t, DotValue>> probedValue(llvm::StringRef probe);

} // namespace octavo::transforms
