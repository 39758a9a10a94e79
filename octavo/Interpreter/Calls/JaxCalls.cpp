// The custom calls of octavo.jax (rule I15). XLA runs them by python/bindings/JaxCalls.cpp.
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Interpreter/Products/DotGeneral.h"
#include "octavo/Interpreter/Products/ScaledDotGeneral.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Numerics/DelayedScaling.h"
#include "octavo/Numerics/OptionNames.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace octavo::interpreter {

namespace {

using Shape = std::vector<std::int64_t>;

/// The configuration of one call. A missing key or an unknown name is kept as an error.
class JaxCall {
public:
  explicit JaxCall(stablehlo::CustomCallOp op) : op(op) {}

  std::string text(llvm::StringRef name) {
    const auto value = llvm::dyn_cast_or_null<mlir::StringAttr>(configuration(op, name));
    if (!value)
      tell("has no text \"" + name.str() + "\"");
    return value ? value.str() : "";
  }
  std::int64_t number(llvm::StringRef name) {
    const auto value = llvm::dyn_cast_or_null<mlir::IntegerAttr>(configuration(op, name));
    if (!value)
      tell("has no number \"" + name.str() + "\"");
    return value ? value.getInt() : 1;
  }
  /// The value that `find` returns for the text of key `name`; nullopt if the text is empty or
  /// unknown.
  template <typename T>
  std::optional<T> named(llvm::StringRef name, std::optional<T> (*find)(std::string_view)) {
    const std::string given = text(name);
    if (given.empty())
      return std::nullopt;
    std::optional<T> found = find(given);
    if (!found)
      tell("has an unknown " + name.str() + ", \"" + given + "\"");
    return found;
  }
  /// The format that `find` returns for the text.
  template <typename Format>
  const Format* format(llvm::StringRef name, const Format* (*find)(std::string_view)) {
    const std::string given = text(name);
    const Format* found = find(given);
    if (!found)
      tell("has an unknown " + name.str() + ", \"" + given + "\"");
    return found;
  }
  void require(bool holds, const char* otherwise) {
    if (!holds)
      tell(otherwise);
  }
  void tell(const std::string& what) {
    if (refusal.empty())
      refusal = what;
  }

  bool isRefused() const { return !refusal.empty(); }
  llvm::Error error() { return failure(op, "'" + op.getCallTargetName() + "' " + refusal); }

private:
  stablehlo::CustomCallOp op;
  std::string refusal;
};

/// A batch of tensors of one scaled type. The batch axes are the leading axes that vmap adds.
struct Members {
  Shape shape; ///< of each tensor
  numerics::ScaledType type;
  std::int64_t count = 0;

  std::int64_t size() const { return numerics::elementCount(shape); }
  std::int64_t scales() const {
    return numerics::elementCount(format::scaleShape(shape, type.block));
  }
};

bool isF32(const Value& value) { return value.isTensor() && value.tensor().type == kF32; }

/// Whether `bits` has a 32-bit random number for each value.
bool areRandomBits(const Value& bits, const Tensor& values) {
  return bits.isTensor() && bits.tensor().type == ElementType(IntegerType{32, true}) &&
         bits.tensor().size() == values.size();
}

/// The batch for elements of shape `elements` and outer scales of shape `outer`.
Members membersOf(JaxCall& call, const format::ScaledFormat& format, const Shape& elements,
                  const Shape& outer) {
  const std::int64_t fromEnd = call.number("axis_from_end");
  Members members;
  const bool fits =
      elements.size() >= outer.size() && std::equal(outer.begin(), outer.end(), elements.begin());
  call.require(fits, "has outer scales of another batch than its elements");
  if (!fits)
    return members;
  members.shape.assign(elements.begin() + static_cast<std::ptrdiff_t>(outer.size()),
                       elements.end());
  const auto rank = static_cast<std::int64_t>(members.shape.size());
  call.require(rank == 0 || (fromEnd >= 1 && fromEnd <= rank), "has an axis out of range");
  if (call.isRefused())
    return members;
  members.type = {format.element, format.scale,
                  rank == 0
                      ? Shape()
                      : format::blockShape(format, members.shape, static_cast<int>(rank - fromEnd)),
                  format.hasOuterScale};
  members.count = numerics::elementCount(outer);
  return members;
}

ScaledTensor member(const Members& members, std::int64_t i, const Tensor& elements,
                    const Tensor& scales, const Tensor& outer) {
  ScaledTensor result{members.shape, members.type, {}, {}, outer.as<float>()[i]};
  const std::int64_t size = members.size(), blocks = members.scales();
  for (std::int64_t at = i * size; at < (i + 1) * size; ++at)
    result.elements.push_back(static_cast<std::uint8_t>(elements.code(at)));
  for (std::int64_t at = i * blocks; at < (i + 1) * blocks; ++at)
    result.scales.push_back(static_cast<std::uint32_t>(scales.code(at)));
  return result;
}

/// Whether `codes` are codes of the format, of its element type or as bytes.
bool areCodes(const Value& codes, const format::ElementFormat& format) {
  if (!codes.isTensor())
    return false;
  const ElementType& type = codes.tensor().type;
  return type.isFloat() ? type.format().name == format.name : type.bytes() == 1;
}

/// Requires that the parts fit `members`, and that each byte is a valid code: a byte has more bits
/// than a narrow code.
void requireParts(JaxCall& call, const Members& members, const Value& elements, const Value& scales,
                  const Value& outer) {
  const format::ElementFormat& element = *members.type.element;
  call.require(areCodes(elements, element) && areCodes(scales, *members.type.scale) &&
                   isF32(outer) && elements.tensor().size() == members.count * members.size() &&
                   scales.tensor().size() == members.count * members.scales(),
               "has parts that are not those of its format");
  if (call.isRefused() || elements.tensor().type.isFloat())
    return;
  for (std::int64_t i = 0; i < elements.tensor().size(); ++i)
    if (elements.tensor().code(i) >> element.width() != 0)
      return call.tell("has a byte that is no code of " + std::string(element.name) + ", " +
                       std::to_string(elements.tensor().code(i)) + " at index " +
                       std::to_string(i));
}

void quantizeForJax(JaxCall& call, const Operands& operands, std::vector<Tensor>& results) {
  call.require(operands.size() == 3 && isF32(operands[0]) && operands[1].isTensor() &&
                   isF32(operands[2]) && results.size() == 3,
               "takes values in f32, random bits and an outer scale, and gives three parts");
  const auto* format = call.format("format", format::findScaledFormat);
  if (call.isRefused())
    return;
  auto chosen = numerics::optionsOf(*format, {.preset = call.text("preset"),
                                              .rule = call.text("rule"),
                                              .rounding = call.text("rounding"),
                                              .overflow = call.text("overflow"),
                                              .nonFinite = call.text("nan")});
  if (!chosen)
    return call.tell("has an " + chosen.error());
  numerics::QuantizeOptions& options = *chosen;
  options.input = call.format("input", format::findElementFormat);
  const Tensor& x = operands[0].tensor();
  Tensor &elements = results[0], &scales = results[1], &outer = results[2];
  const Members members = membersOf(call, *format, x.shape, outer.shape);
  const bool isStochastic = options.rounding == numerics::Rounding::Stochastic;
  call.require(operands[2].tensor().size() == 0 || members.count == 0,
               "is given an outer scale, which octavo.jax evaluates alone: leave out outer=");
  call.require(!isStochastic || areRandomBits(operands[1], x),
               "needs a random number, a ui32, for each value");
  if (call.isRefused())
    return;
  requireParts(call, members, Value(elements), Value(scales), Value(outer));
  if (call.isRefused())
    return;
  const std::int64_t size = members.size();
  for (std::int64_t i = 0; i < members.count; ++i) {
    const auto from = static_cast<std::size_t>(i * size), n = static_cast<std::size_t>(size);
    const auto bits = isStochastic ? operands[1].tensor().as<std::uint32_t>().subspan(from, n)
                                   : std::span<const std::uint32_t>();
    const numerics::QuantizeResult made = numerics::quantize(
        x.as<float>().subspan(from, n), members.shape, members.type, options, bits);
    if (made.refused)
      return call.tell("quantizes " + std::to_string(made.refused->value) + " at index " +
                       std::to_string(made.refused->index) +
                       " of a tensor; nan=\"propagate\" makes its block NaN");
    for (std::int64_t at = 0; at < size; ++at)
      elements.setCode(i * size + at, made.tensor.elements[static_cast<std::size_t>(at)]);
    for (std::size_t at = 0; at < made.tensor.scales.size(); ++at)
      scales.setCode(i * members.scales() + static_cast<std::int64_t>(at), made.tensor.scales[at]);
    outer.as<float>()[static_cast<std::size_t>(i)] = made.tensor.outer;
  }
}

void dequantizeForJax(JaxCall& call, const Operands& operands, std::vector<Tensor>& results) {
  call.require(operands.size() == 3 && operands[0].isTensor() && isF32(operands[2]) &&
                   results.size() == 1 && results[0].type == kF32 &&
                   results[0].shape == operands[0].tensor().shape,
               "takes elements, scales and outer scales, and gives values in f32");
  const auto* format = call.format("format", format::findScaledFormat);
  if (call.isRefused())
    return;
  const Members members =
      membersOf(call, *format, operands[0].tensor().shape, operands[2].tensor().shape);
  if (!call.isRefused())
    requireParts(call, members, operands[0], operands[1], operands[2]);
  if (call.isRefused())
    return;
  float* to = results[0].as<float>().data();
  for (std::int64_t i = 0; i < members.count; ++i)
    to = std::ranges::copy(numerics::dequantize(member(members, i, operands[0].tensor(),
                                                       operands[1].tensor(), operands[2].tensor())),
                           to)
             .out;
}

void convertForJax(JaxCall& call, const Operands& operands, std::vector<Tensor>& results) {
  const auto* format = call.format("format", format::findElementFormat);
  const numerics::Conversion conversion = {
      .rounding = call.named("rounding", numerics::findRounding).value_or(numerics::Rounding()),
      .overflow = call.named("overflow", numerics::findOverflow).value_or(numerics::Overflow()),
      .nan = call.named("nan", numerics::findNanCode).value_or(numerics::NanCode())};
  const bool isStochastic = conversion.rounding == numerics::Rounding::Stochastic;
  call.require(operands.size() == 2 && isF32(operands[0]) && operands[1].isTensor() &&
                   results.size() == 1 && results[0].shape == operands[0].tensor().shape &&
                   results[0].type.bytes() == 1 &&
                   (!isStochastic || areRandomBits(operands[1], operands[0].tensor())),
               "takes values in f32 and their random bits, and gives as many codes");
  if (call.isRefused())
    return;
  const Tensor codes = convertElements(operands[0].tensor(), ElementType(*format), conversion,
                                       isStochastic ? operands[1].tensor().as<std::uint32_t>()
                                                    : std::span<const std::uint32_t>());
  for (std::int64_t i = 0; i < codes.size(); ++i)
    results[0].setCode(i, codes.code(i));
}

/// An operand [batch, rows, K] of a product: scaled, or in f32 if the configuration names no scaled
/// format.
struct Side {
  std::optional<Members> members;
  const Tensor *elements, *scales, *outer;
  std::int64_t rows = 0, depth = 0;

  Tensor plain(std::int64_t i) const {
    Tensor values = Tensor::zeros(kF32, {rows, depth});
    if (members)
      std::ranges::copy(numerics::dequantize(scaled(i)), values.as<float>().begin());
    else
      std::ranges::copy(elements->as<float>().subspan(static_cast<std::size_t>(i * rows * depth),
                                                      static_cast<std::size_t>(rows * depth)),
                        values.as<float>().begin());
    return values;
  }
  ScaledTensor scaled(std::int64_t i) const {
    return member(*members, i, *elements, *scales, *outer);
  }
};

Side sideOf(JaxCall& call, const std::string& name, const Value& elements, const Value& scales,
            const Value& outer) {
  Side side{{}, nullptr, nullptr, nullptr};
  const std::int64_t across = call.number(name + "_across"), along = call.number(name + "_along");
  const bool isScaled = !call.text(name + "_scale").empty();
  call.require(elements.isTensor() && scales.isTensor() && isF32(outer) &&
                   elements.tensor().shape.size() == outer.tensor().shape.size() + 2 &&
                   across >= 1 && along >= 1,
               "takes for each side matrices, scales and an outer scale for each");
  if (call.isRefused())
    return side;
  side.elements = &elements.tensor();
  side.scales = &scales.tensor();
  side.outer = &outer.tensor();
  side.rows = side.elements->shape[side.elements->shape.size() - 2];
  side.depth = side.elements->shape.back();
  if (!isScaled) {
    call.require(isF32(elements), "has a plain side that is not of f32");
    return side;
  }
  const auto* element = call.format(name + "_element", format::findElementFormat);
  const auto* scale = call.format(name + "_scale", format::findElementFormat);
  if (call.isRefused())
    return side;
  const auto within = [](std::int64_t block, std::int64_t extent) {
    return std::min(block, std::max<std::int64_t>(extent, 1));
  };
  side.members = Members{{side.rows, side.depth},
                         {element,
                          scale,
                          {within(across, side.rows), within(along, side.depth)},
                          /*hasOuterScale=*/true},
                         side.outer->size()};
  requireParts(call, *side.members, elements, scales, outer);
  return side;
}

void productForJax(JaxCall& call, const Operands& operands, std::vector<Tensor>& results) {
  call.require(operands.size() == 6 && results.size() == 1 && results[0].type == kF32,
               "takes the three parts of two sides and gives a product in f32");
  if (call.isRefused())
    return;
  const Side left = sideOf(call, "left", operands[0], operands[1], operands[2]);
  const Side right = sideOf(call, "right", operands[3], operands[4], operands[5]);
  if (call.isRefused())
    return;
  Tensor& product = results[0];
  call.require(left.outer->shape == right.outer->shape && left.depth == right.depth &&
                   product.size() == left.outer->size() * left.rows * right.rows,
               "has sides of different batches or depths");
  if (call.isRefused())
    return;
  const DotDimensions dimensions{{}, {}, {1}, {1}};
  float* to = product.as<float>().data();
  for (std::int64_t i = 0; i < left.outer->size(); ++i) {
    if (left.members && right.members)
      to = std::ranges::copy(scaledDotGeneral(left.scaled(i), right.scaled(i), dimensions), to).out;
    else
      to = std::ranges::copy(
               dotGeneral(left.plain(i), right.plain(i), dimensions, kF32, kF32).as<float>(), to)
               .out;
  }
}

void outerForJax(JaxCall& call, const Operands& operands, std::vector<Tensor>& results) {
  call.require(operands.size() == 3 && llvm::all_of(operands, isF32) && results.size() == 1 &&
                   results[0].type == kF32 && results[0].shape == operands[0].tensor().shape &&
                   operands[1].tensor().shape == operands[2].tensor().shape,
               "takes products and the outer scales of both sides, in f32");
  if (call.isRefused())
    return;
  const std::int64_t members = operands[1].tensor().size();
  const std::int64_t area = members == 0 ? 0 : results[0].size() / members;
  const auto sums = operands[0].tensor().as<float>();
  const std::span<float> to = results[0].as<float>();
  for (std::int64_t i = 0; i < results[0].size(); ++i) {
    const auto member = static_cast<std::size_t>(i / area), at = static_cast<std::size_t>(i);
    const float left = operands[1].tensor().as<float>()[member];
    const float right = operands[2].tensor().as<float>()[member];
    to[at] = std::isnormal(left * right) ? sums[at] * (left * right) : sums[at] * left * right;
  }
}

void delayedScalesForJax(JaxCall& call, const Operands& operands, std::vector<Tensor>& results) {
  const bool areFloats = operands.size() == 3 && llvm::all_of(operands, isF32) &&
                         results.size() == 1 && results[0].type == kF32;
  call.require(areFloats && !results[0].shape.empty() &&
                   results[0].shape == operands[0].tensor().shape,
               "takes scales, their histories and their seal, in f32");
  if (call.isRefused())
    return;
  const auto scales = operands[0].tensor().as<float>(), history = operands[1].tensor().as<float>(),
             seals = operands[2].tensor().as<float>();
  const auto n = static_cast<std::size_t>(results[0].shape.back());
  const std::size_t states = n == 0 ? 0 : scales.size() / n;
  const std::size_t slots = states == 0 ? 0 : history.size() / states;
  call.require(seals.size() == states * (n + 1) && history.size() == states * slots,
               "has histories and seals of other scales");
  for (std::size_t i = 0; !call.isRefused() && i < states; ++i) {
    const auto seal = seals.subspan(i * (n + 1), n + 1);
    if (numerics::stateSeal({scales.subspan(i * n, n), history.subspan(i * slots, slots),
                             seal.subspan(1)}) != seal.front())
      call.tell("refuses its operands: " + std::string(numerics::kBrokenSeal));
  }
  if (!call.isRefused())
    std::ranges::copy(scales, results[0].as<float>().begin());
}

/// The evaluator of a call. `evaluate` writes into results that are zeros of the result types.
template <void (*evaluate)(JaxCall&, const Operands&, std::vector<Tensor>&)>
llvm::Expected<Results> evaluated(stablehlo::CustomCallOp op, const Operands& operands,
                                  Evaluation&) {
  std::vector<Tensor> results;
  for (mlir::Type type : op->getResultTypes()) {
    llvm::Expected<TensorShape> shape = tensorShape(op, type);
    if (!shape)
      return shape.takeError();
    results.push_back(Tensor::zeros(shape->type, shape->shape));
  }
  JaxCall call(op);
  evaluate(call, operands, results);
  if (call.isRefused())
    return call.error();
  Results values;
  for (Tensor& result : results)
    values.push_back(Value(std::move(result)));
  return values;
}

} // namespace

void registerJaxCalls(CustomCallTable& table) {
  table.add("octavo_convert", evaluated<convertForJax>);
  table.add("octavo_delayed_scales", evaluated<delayedScalesForJax>);
  table.add("octavo_dequantize", evaluated<dequantizeForJax>);
  table.add("octavo_outer", evaluated<outerForJax>);
  table.add("octavo_product", evaluated<productForJax>);
  table.add("octavo_quantize", evaluated<quantizeForJax>);
}

} // namespace octavo::interpreter
