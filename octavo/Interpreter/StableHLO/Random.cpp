// Evaluates StableHLO's random family.
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Interpreter/Tensor/RandomBits.h"
#include "octavo/Numerics/Threefry.h"

#include <cmath>
#include <numbers>

namespace octavo::interpreter {

namespace {

llvm::Expected<Results> evaluateRngBitGenerator(stablehlo::RngBitGeneratorOp op,
                                                const Operands& operands, Evaluation&) {
  const std::vector<std::uint64_t> state = decodeIntegers(operands[0].tensor());
  llvm::Expected<TensorShape> output = tensorShape(op, op.getOutput().getType());
  if (!output)
    return output.takeError();
  const bool isThreefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  if (state.size() != 2 && (isThreefry || state.size() != 3))
    return failure(op, "takes a state of 2 numbers, or of 3 for PHILOX; found " +
                           describe(operands[0]));
  const int width = output->type.width();
  // DEFAULT is the algorithm that XLA uses on all processors but the TPU.
  const RandomBits random = isThreefry ? threefryBits(state, output->shape, width)
                                       : philoxBits(state, output->shape, width);
  Tensor bits = Tensor::zeros(output->type, output->shape);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  for (std::size_t i = 0; i < random.bits.size(); ++i)
    bits.setCode(static_cast<std::int64_t>(i), random.bits[i] & mask);
  const Tensor& given = operands[0].tensor();
  return Results{Value(encodeIntegers(given.type.integer(), given.shape, random.state)),
                 Value(std::move(bits))};
}

/// A number in [0, 1) from 64 random bits.
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// The specification prescribes neither algorithm nor state; this is Philox on a counter of the
/// evaluation.
llvm::Expected<Value> evaluateRng(stablehlo::RngOp op, const Operands& operands,
                                  Evaluation& evaluation) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  std::vector<std::int64_t> shape;
  for (std::uint64_t extent : decodeIntegers(operands[2].tensor()))
    shape.push_back(static_cast<std::int64_t>(extent));
  for (std::int64_t extent : shape)
    if (extent < 0)
      return failure(op, "is given a shape with a negative extent, " + llvm::Twine(extent));
  if (llvm::Error error = checkResultShape(op, shape))
    return std::move(error);
  const Tensor& a = operands[0].tensor();
  const Tensor& b = operands[1].tensor();
  const std::uint64_t state[] = {evaluation.nextRandomStream(), 0};
  std::vector<std::int64_t> drawn = shape;
  const bool isNormal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
  if (isNormal)
    drawn.push_back(2);
  const std::vector<std::uint64_t> bits = philoxBits(state, drawn, 64).bits;
  if (type->isInteger()) {
    const IntegerType integer = type->integer();
    const std::uint64_t low = decodeIntegers(a).front(), high = decodeIntegers(b).front();
    const bool isEmpty = isNegative(integer, low) == isNegative(integer, high)
                             ? high <= low
                             : isNegative(integer, high);
    if (isEmpty)
      return failure(op, "draws from an empty range: a must be below b");
    std::vector<std::uint64_t> values;
    for (std::uint64_t x : bits)
      values.push_back(low + x % (high - low));
    return Value(encodeIntegers(integer, shape, values));
  }
  const double low = decodeElements(a).front(), high = decodeElements(b).front();
  std::vector<double> values;
  if (isNormal) {
    // Box-Muller transform: two uniform numbers give a normal one.
    for (std::size_t i = 0; i < bits.size(); i += 2)
      values.push_back(low + high * std::sqrt(-2.0 * std::log(1.0 - fraction(bits[i]))) *
                                 std::cos(2.0 * std::numbers::pi * fraction(bits[i + 1])));
  } else {
    if (!(low < high))
      return failure(op, "draws from an empty range: a must be below b");
    for (std::uint64_t x : bits)
      values.push_back(low + (high - low) * fraction(x));
  }
  Tensor result = encodeElements(type->format(), shape, std::span<const double>(values));
  if (!isNormal) {
    // A value that rounds up to b is outside the interval.
    const std::vector<double> rounded = decodeElements(result);
    for (std::size_t i = 0; i < rounded.size(); ++i)
      if (!(rounded[i] < high))
        result.setCode(static_cast<std::int64_t>(i), a.code(0));
  }
  return Value(std::move(result));
}

/// Operands: four tensors of one shape, the words of a key and of a counter for each element.
llvm::Expected<Results> threefryCall(stablehlo::CustomCallOp op, const Operands& operands,
                                     Evaluation&) {
  const auto isWords = [&](const Value& value) {
    return value.isTensor() && value.tensor().type == ElementType(IntegerType{32, true}) &&
           value.tensor().shape == operands[0].tensor().shape;
  };
  if (operands.size() != 4 || op.getNumResults() != 2 || !operands[0].isTensor() ||
      !llvm::all_of(operands, isWords))
    return failure(op, "'" + op.getCallTargetName() +
                           "' takes four tensors of ui32 of one shape and gives two");
  Tensor first = operands[2].tensor(), second = operands[3].tensor();
  for (std::size_t i = 0; i < static_cast<std::size_t>(first.size()); ++i) {
    const auto word = [&](std::size_t operand) {
      return operands[operand].tensor().as<std::uint32_t>()[i];
    };
    const auto bits = numerics::threefry({word(2), word(3)}, {word(0), word(1)});
    first.as<std::uint32_t>()[i] = bits[0];
    second.as<std::uint32_t>()[i] = bits[1];
  }
  return Results{Value(std::move(first)), Value(std::move(second))};
}

} // namespace

void registerRandomCalls(CustomCallTable& table) {
  table.add("cu_threefry2x32_ffi", threefryCall);
  table.add("hip_threefry2x32_ffi", threefryCall);
}

void registerRandom(EvaluatorTable& table) {
  table.add<evaluateRng>();
  table.add<evaluateRngBitGenerator>();
}

} // namespace octavo::interpreter
