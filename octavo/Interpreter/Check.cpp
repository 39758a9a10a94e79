// Evaluates check.expect_*: expectations of self-checking programs (rule I18).
#include "octavo/Dialect/Check/Check.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Interpreter/ElementText.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Program/Values/Probes.h"

#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace octavo::interpreter {

namespace {

std::vector<std::int64_t> indexOf(const Tensor& tensor, std::int64_t i) {
  std::vector<std::int64_t> index(tensor.shape.size());
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = i % tensor.shape[axis];
    i /= tensor.shape[axis];
  }
  return index;
}

/// Compares element by element and reports the first mismatch.
llvm::Expected<Results> compare(mlir::Operation* op, const Tensor& found, const Tensor& expected,
                                Evaluation& evaluation, const std::string& limit,
                                llvm::function_ref<bool(std::int64_t)> fits) {
  if (found.type != expected.type || found.shape != expected.shape)
    return failure(op, "compares " + describe(Value(found)) + " with " + describe(Value(expected)));
  std::int64_t first = -1, count = 0;
  for (std::int64_t i = 0; i < found.size(); ++i)
    if (!fits(i) && count++ == 0)
      first = i;
  if (count == 0) {
    evaluation.hold();
    return Results{};
  }
  if (llvm::Error error = evaluation.fail({.function = evaluation.function().str(),
                                           .operation = op->getName().getStringRef().str(),
                                           .location = locationText(op->getLoc()),
                                           .index = indexOf(found, first),
                                           .expected = elementText(expected, first) + limit,
                                           .found = elementText(found, first),
                                           .count = count}))
    return std::move(error);
  return Results{};
}

llvm::Expected<Results> expectEqual(mlir::Operation* op, const Tensor& found,
                                    const Tensor& expected, Evaluation& evaluation) {
  return compare(op, found, expected, evaluation, "", [&](std::int64_t i) {
    return std::ranges::equal(found.element(i), expected.element(i));
  });
}

/// The parts of complex numbers as a float tensor of twice as many elements; other tensors
/// unchanged.
Tensor partsOf(const Tensor& tensor) {
  if (!tensor.type.isComplex())
    return tensor;
  return {tensor.type.part(), {2 * tensor.size()}, tensor.bytes};
}

llvm::Expected<Results> expectAlmostEqual(mlir::Operation* op, const Tensor& found,
                                          const Tensor& expected, double tolerance,
                                          Evaluation& evaluation) {
  const std::vector<double> x = decodeElements(partsOf(found));
  const std::vector<double> y = decodeElements(partsOf(expected));
  const std::int64_t parts = found.type.isComplex() ? 2 : 1;
  char text[64];
  const std::to_chars_result end = std::to_chars(text, std::end(text), tolerance);
  return compare(op, found, expected, evaluation, " +- " + std::string(text, end.ptr),
                 [&](std::int64_t i) {
                   bool fits = true;
                   for (std::int64_t part = i * parts; part < (i + 1) * parts; ++part) {
                     const double a = x[part], b = y[part];
                     const bool bothNan = a != a && b != b;
                     fits &= bothNan || a == b || std::fabs(a - b) <= tolerance;
                   }
                   return fits;
                 });
}

/// The number of values of the format between two codes, plus one. 0 for equal values and for two
/// NaNs. 2^64 - 1 if only one code is a NaN, or one is an infinity and the other is not.
std::uint64_t ulpDistance(const ElementFormat& format, std::uint64_t a, std::uint64_t b) {
  if (a == b || (format.isNan(a) && format.isNan(b)))
    return 0;
  if (format.isNan(a) || format.isNan(b) || format.isInf(a) || format.isInf(b))
    return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t sign = format.signMask();
  const std::uint64_t x = a & ~sign, y = b & ~sign;
  if ((a & sign) != (b & sign))
    return x + y;
  return x > y ? x - y : y - x;
}

/// For complex numbers, the larger of the distances of the parts.
std::uint64_t ulpDistance(const Tensor& a, const Tensor& b, std::int64_t i) {
  if (!a.type.isComplex())
    return ulpDistance(a.type.format(), a.code(i), b.code(i));
  std::uint64_t codes[2][2] = {};
  const auto size = static_cast<std::size_t>(a.type.bytes()) / 2;
  for (std::size_t part : {0, 1}) {
    std::memcpy(&codes[0][part], a.element(i).data() + part * size, size);
    std::memcpy(&codes[1][part], b.element(i).data() + part * size, size);
  }
  return std::max(ulpDistance(a.type.part(), codes[0][0], codes[1][0]),
                  ulpDistance(a.type.part(), codes[0][1], codes[1][1]));
}

llvm::Expected<Results> evaluateExpectEq(check::ExpectEqOp op, const Operands& operands,
                                         Evaluation& evaluation) {
  return expectEqual(op, operands[0].tensor(), operands[1].tensor(), evaluation);
}

llvm::Expected<Results> evaluateExpectEqConst(check::ExpectEqConstOp op, const Operands& operands,
                                              Evaluation& evaluation) {
  llvm::Expected<Tensor> expected = constantTensor(op, op.getValue());
  if (!expected)
    return expected.takeError();
  return expectEqual(op, operands[0].tensor(), *expected, evaluation);
}

llvm::Expected<Results> evaluateExpectAlmostEq(check::ExpectAlmostEqOp op, const Operands& operands,
                                               Evaluation& evaluation) {
  return expectAlmostEqual(op, operands[0].tensor(), operands[1].tensor(),
                           op.getTolerance().convertToDouble(), evaluation);
}

llvm::Expected<Results> evaluateExpectAlmostEqConst(check::ExpectAlmostEqConstOp op,
                                                    const Operands& operands,
                                                    Evaluation& evaluation) {
  llvm::Expected<Tensor> expected = constantTensor(op, op.getValue());
  if (!expected)
    return expected.takeError();
  return expectAlmostEqual(op, operands[0].tensor(), *expected, op.getTolerance().convertToDouble(),
                           evaluation);
}

llvm::Expected<Results> expectClose(mlir::Operation* op, const Tensor& found,
                                    const Tensor& expected, std::uint64_t least, std::uint64_t most,
                                    Evaluation& evaluation) {
  const std::string limit =
      least == 0 ? " +- " + std::to_string(most) + " ulp"
                 : ", " + std::to_string(least) + " to " + std::to_string(most) + " ulp away";
  return compare(op, found, expected, evaluation, limit, [&](std::int64_t i) {
    const std::uint64_t distance = ulpDistance(found, expected, i);
    return least <= distance && distance <= most;
  });
}

llvm::Expected<Results> evaluateExpectClose(check::ExpectCloseOp op, const Operands& operands,
                                            Evaluation& evaluation) {
  return expectClose(op, operands[0].tensor(), operands[1].tensor(), op.getMinUlpDifference(),
                     op.getMaxUlpDifference(), evaluation);
}

/// @check.eq, @check.expect_eq, @check.expect_almost_eq and @check.expect_close compare two tensors
/// of one type: found and expected. @check.eq returns a boolean, the others return nothing.
llvm::Expected<Results> checkCall(stablehlo::CustomCallOp op, const Operands& operands,
                                  Evaluation& evaluation) {
  const llvm::StringRef target = op.getCallTargetName();
  if (operands.size() != 2 || !operands[0].isTensor() || !operands[1].isTensor())
    return failure(op, "'" + target + "' takes two tensors, what is found and what is expected");
  const Tensor& found = operands[0].tensor();
  const Tensor& expected = operands[1].tensor();
  if (found.type != expected.type || found.shape != expected.shape)
    return failure(op, "compares " + describe(operands[0]) + " with " + describe(operands[1]));
  if (target == "check.expect_eq" || (target == "check.eq" && found.type.isInteger())) {
    llvm::Expected<Results> results = expectEqual(op, found, expected, evaluation);
    if (!results || target != "check.eq")
      return results;
  } else {
    if (!found.type.isFloat() && !found.type.isComplex())
      return failure(op, "'" + target + "' " + Undefined{found.type}.message());
    if (target == "check.expect_close")
      return expectClose(op, found, expected, 0, 3, evaluation);
    const bool givesTruth = target == "check.eq";
    llvm::Expected<Results> results =
        expectAlmostEqual(op, found, expected, givesTruth ? 1e-4 : 1e-3, evaluation);
    if (!results || !givesTruth)
      return results;
  }
  // As in StableHLO's own driver, a mismatch is in the report; the result is always true.
  Tensor truth = Tensor::zeros(kBoolean, {});
  truth.setCode(0, 1);
  return Results{Value(std::move(truth))};
}

llvm::Expected<Results> evaluateExpectSerializedEq(check::ExpectSerializedEqOp op,
                                                   const Operands& operands,
                                                   Evaluation& evaluation) {
  if (evaluation.host().probes == nullptr)
    return failure(op, "has nowhere to read from; `octavo run --probes FOLDER` says where");
  const auto probed =
      evaluation.host().probes->read(op.getProbeId(), static_cast<std::uint32_t>(op.getIteration()),
                                     mlir::debugString(op.getExpected().getType()));
  if (!probed)
    return failure(op, probed.error());
  return expectEqual(op, *probed, operands[0].tensor(), evaluation);
}

} // namespace

void registerCheckCalls(CustomCallTable& table) {
  for (const char* target :
       {"check.eq", "check.expect_almost_eq", "check.expect_close", "check.expect_eq"})
    table.add(target, checkCall);
}

void registerCheck(EvaluatorTable& table) {
  table.add<evaluateExpectAlmostEq>();
  table.add<evaluateExpectAlmostEqConst>();
  table.add<evaluateExpectClose>();
  table.add<evaluateExpectEq>();
  table.add<evaluateExpectEqConst>();
  table.add<evaluateExpectSerializedEq>();
}

} // namespace octavo::interpreter
