// check.expect_*: what a program expects of its own values (rule I18).
#include "octavo/Dialect/Check/Check.h"
#include "octavo/Reference/Constants.h"
#include "octavo/Reference/CustomCalls.h"
#include "octavo/Reference/Elements.h"
#include "octavo/Reference/Map.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace octavo::reference {

namespace {

std::string floatText(const ElementFormat& format, std::uint64_t code) {
  char text[64];
  const double value = numerics::decode(format, code);
  // The shortest text of an f32 names it; as a double it would have 17 digits.
  const std::to_chars_result end =
      format == kF64.format() ? std::to_chars(text, std::end(text), value)
                              : std::to_chars(text, std::end(text), static_cast<float>(value));
  return std::string(text, end.ptr) + " (0x" + llvm::utohexstr(code) + ")";
}

std::string integerText(IntegerType type, std::uint64_t code) {
  const std::uint64_t value = extend(type, code);
  return type.isUnsigned ? std::to_string(value) : std::to_string(static_cast<std::int64_t>(value));
}

std::string elementText(const Tensor& tensor, std::int64_t i) {
  const ElementType& type = tensor.type;
  if (type.isBoolean())
    return tensor.code(i) != 0 ? "true" : "false";
  if (type.isInteger())
    return integerText(type.integer(), tensor.code(i));
  if (type.isQuantized())
    return "storage " + integerText(type.quantized().storage, tensor.code(i));
  if (type.isFloat())
    return floatText(type.format(), tensor.code(i));
  // The parts of a complex number are a float tensor of twice as many elements.
  const Tensor parts{type.part(), {2 * tensor.size()}, tensor.bytes};
  return "(" + floatText(type.part(), parts.code(2 * i)) + ", " +
         floatText(type.part(), parts.code(2 * i + 1)) + ")";
}

std::vector<std::int64_t> indexOf(const Tensor& tensor, std::int64_t i) {
  std::vector<std::int64_t> index(tensor.shape.size());
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = i % tensor.shape[axis];
    i /= tensor.shape[axis];
  }
  return index;
}

/// Compares element by element and reports the first that does not fit.
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

llvm::Expected<Results> expectAlmostEqual(mlir::Operation* op, const Tensor& found,
                                          const Tensor& expected, double tolerance,
                                          Evaluation& evaluation) {
  const std::vector<double> x = decodeElements(found), y = decodeElements(expected);
  char text[64];
  const std::to_chars_result end = std::to_chars(text, std::end(text), tolerance);
  return compare(op, found, expected, evaluation, " +- " + std::string(text, end.ptr),
                 [&](std::int64_t i) {
                   const bool bothNan = x[i] != x[i] && y[i] != y[i];
                   return bothNan || x[i] == y[i] || std::fabs(x[i] - y[i]) <= tolerance;
                 });
}

/// Values of the format between two codes, plus one; 0 for equal values and two NaNs; the largest
/// number there is between a NaN and anything else.
std::uint64_t ulpDistance(const ElementFormat& format, std::uint64_t a, std::uint64_t b) {
  if (format.isNan(a) || format.isNan(b))
    return format.isNan(a) && format.isNan(b) ? 0 : std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t sign = format.signMask();
  const std::uint64_t x = a & ~sign, y = b & ~sign;
  if ((a & sign) != (b & sign))
    return x + y;
  return x > y ? x - y : y - x;
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
  std::uint64_t largest = 0;
  std::int64_t largestAt = 0;
  for (std::int64_t i = 0; i < found.size(); ++i)
    if (const std::uint64_t distance =
            ulpDistance(found.type.format(), found.code(i), expected.code(i));
        distance > largest) {
      largest = distance;
      largestAt = i;
    }
  const bool isTooClose = found.size() != 0 && largest < least;
  const std::string limit = isTooClose ? ", at least " + std::to_string(least) + " ulp away"
                                       : " +- " + std::to_string(most) + " ulp";
  return compare(op, found, expected, evaluation, limit, [&](std::int64_t i) {
    if (isTooClose)
      return i != largestAt;
    return ulpDistance(found.type.format(), found.code(i), expected.code(i)) <= most;
  });
}

llvm::Expected<Results> evaluateExpectClose(check::ExpectCloseOp op, const Operands& operands,
                                            Evaluation& evaluation) {
  return expectClose(op, operands[0].tensor(), operands[1].tensor(), op.getMinUlpDifference(),
                     op.getMaxUlpDifference(), evaluation);
}

/// @check.eq, @check.expect_eq, @check.expect_almost_eq and @check.expect_close: two tensors of one
/// type, what is found and what is expected. @check.eq gives a truth value, the others nothing.
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
    if (!found.type.isFloat())
      return failure(op, "'" + target + "' " + Undefined{found.type}.message());
    if (target == "check.expect_close")
      return expectClose(op, found, expected, 0, 3, evaluation);
    const bool givesTruth = target == "check.eq";
    llvm::Expected<Results> results =
        expectAlmostEqual(op, found, expected, givesTruth ? 1e-4 : 1e-3, evaluation);
    if (!results || !givesTruth)
      return results;
  }
  // As StableHLO's own driver: that it does not hold is in the report, not in the result.
  Tensor truth = Tensor::zeros(kBoolean, {});
  truth.setCode(0, 1);
  return Results{Value(std::move(truth))};
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
}

} // namespace octavo::reference
