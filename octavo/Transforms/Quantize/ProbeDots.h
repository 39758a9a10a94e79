// Adds probes to the operands and results of quantized dots.
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

/// The value that a probe reports:
/// - Lhs, Rhs: the operands before they are quantized;
/// - Result: the dot's result;
/// - WideResult: the result of the same operands without quantization;
/// - Unchanged: the result in a program that is not quantized.
enum class DotValue : std::uint8_t { Lhs, Rhs, Result, WideResult, Unchanged };

/// How an operand is quantized.
struct OperandQuantization {
  numerics::ScaledType type;
  numerics::QuantizeOptions options;
};

/// A dot that has probes, by its number (numberDots).
struct ProbedDot {
  std::size_t number;
  std::array<std::optional<OperandQuantization>, 2> sides; ///< nullopt: the side is not quantized
};

/// Adds an interpreter.probe to every numbered dot of scaled tensors. The module must come from
/// quantizeDots with WeightTime::InProgram, with all extents known. The program's results do not
/// change.
std::vector<ProbedDot> probeDots(mlir::ModuleOp module);

/// Adds an interpreter.probe to the results of the numbered dots that are wanted, in a module that
/// is not quantized and whose extents are known.
void probeResults(mlir::ModuleOp module, llvm::function_ref<bool(std::size_t)> isWanted);

/// The name of the probe of `value`; `number` is that of the dot or of an entry of a list.
std::string dotProbeName(std::size_t number, DotValue value);
/// Inverse of dotProbeName; nullopt for other names.
std::optional<std::pair<std::size_t, DotValue>> probedValue(llvm::StringRef probe);

} // namespace octavo::transforms
