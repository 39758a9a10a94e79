// The calls that octavo.jax makes in programs (rule I15), which XLA runs by
// python/bindings/JaxCalls.cpp.
#include "octavo/Numerics/Preset.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/CustomCalls.h"
#include "octavo/Reference/DotGeneral.h"
#include "octavo/Reference/ScaledDotGeneral.h"

#include <algorithm>
#include <numeric>

namespace octavo::reference {

namespace {

using Shape = std::vector<std::int64_t>;

/// The configuration of one call. What is missing or no known name is kept as an error.
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
  /// What `find` gives for the text, if it is not empty.
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

  bool isRefused() const { return !refusal.empty(); }
  llvm::Error error() { return failure(op, "'" + op.getCallTargetName() + "' " + refusal); }

private:
  void tell(const std::string& what) {
    if (refusal.empty())
      refusal = what;
  }

  stablehlo::CustomCallOp op;
  std::string refusal;
};

/// Tensors of one scaled type, one a member of a batch: the leading axes that vmap adds.
struct Members {
  Shape shape; ///< of each
  numerics::ScaledType type;
  std::int64_t count = 0;

  std::int64_t size() const { return numerics::elementCount(shape); }
  std::int64_t scales() const {
    return numerics::elementCount(format::scaleShape(shape, type.block));
  }
};

bool isF32(const Value& value) { return value.isTensor() && value.tensor().type == kF32; }

/// Those of elements of this shape, of outer scales of that one.
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

bool areParts(const Members& members, const Value& elements, const Value& scales,
              const Value& outer) {
  return elements.isTensor() && scales.isTensor() && isF32(outer) &&
         elements.tensor().size() == members.count * members.size() &&
         elements.tensor().type.bytes() == 1 &&
         scales.tensor().type.bytes() == members.type.scale->bytes() &&
         scales.tensor().size() == members.count * members.scales();
}

/// Zeros of the types of the results.
llvm::Expected<std::vector<Tensor>> emptyResults(stablehlo::CustomCallOp op) {
  std::vector<Tensor> results;
  for (mlir::Type type : op->getResultTypes()) {
    llvm::Expected<TensorShape> shape = tensorShape(op, type);
    if (!shape)
      return shape.takeError();
    results.push_back(Tensor::zeros(shape->type, shape->shape));
  }
  return results;
}

llvm::Expected<Results> quantizeForJax(stablehlo::CustomCallOp op, const Operands& operands,
                                       Evaluation&) {
  JaxCall call(op);
  llvm::Expected<std::vector<Tensor>> results = emptyResults(op);
  if (!results)
    return results.takeError();
  call.require(operands.size() == 3 && isF32(operands[0]) && operands[1].isTensor() &&
                   isF32(operands[2]) && results->size() == 3,
               "takes values in f32, random bits and an outer scale, and gives three parts");
  const auto* format = call.format("format", format::findScaledFormat);
  if (call.isRefused())
    return call.error();
  numerics::QuantizeOptions options = {.rule = format->rule};
  if (const std::string preset = call.text("preset"); !preset.empty()) {
    const numerics::Preset* found = numerics::findPreset(preset, *format);
    call.require(found != nullptr, "has a preset that is none of the format's");
    if (found)
      options = found->options;
  }
  options.rule = call.named("rule", format::findScaleRule).value_or(options.rule);
  options.rounding = call.named("rounding", numerics::findRounding).value_or(options.rounding);
  options.overflow = call.named("overflow", numerics::findOverflow).value_or(options.overflow);
  options.nonFinite = call.named("nan", numerics::findNonFinite).value_or(options.nonFinite);
  options.input = call.format("input", format::findElementFormat);
  const Tensor& x = operands[0].tensor();
  Tensor &elements = (*results)[0], &scales = (*results)[1], &outer = (*results)[2];
  const Members members = membersOf(call, *format, x.shape, outer.shape);
  const bool isStochastic = options.rounding == numerics::Rounding::Stochastic;
  call.require(operands[2].tensor().size() == 0 || members.count == 0,
               "is given an outer scale, which octavo.jax evaluates alone: leave out outer=");
  call.require(!isStochastic || operands[1].tensor().size() == x.size(),
               "needs a random number for each value");
  if (call.isRefused())
    return call.error();
  if (!areParts(members, Value(elements), Value(scales), Value(outer)))
    return failure(op, "has results that are not the parts of " + std::string(format->name));
  const std::int64_t size = members.size();
  for (std::int64_t i = 0; i < members.count; ++i) {
    const auto from = static_cast<std::size_t>(i * size), n = static_cast<std::size_t>(size);
    const auto bits = isStochastic ? operands[1].tensor().as<std::uint32_t>().subspan(from, n)
                                   : std::span<const std::uint32_t>();
    const numerics::QuantizeResult made = numerics::quantize(
        x.as<float>().subspan(from, n), members.shape, members.type, options, bits);
    if (made.refused)
      return failure(op, llvm::Twine("quantizes ") + std::to_string(made.refused->value) +
                             " at index " + llvm::Twine(made.refused->index) +
                             " of a tensor; nan=\"propagate\" makes its block NaN");
    for (std::int64_t at = 0; at < size; ++at)
      elements.setCode(i * size + at, made.tensor.elements[static_cast<std::size_t>(at)]);
    for (std::size_t at = 0; at < made.tensor.scales.size(); ++at)
      scales.setCode(i * members.scales() + static_cast<std::int64_t>(at), made.tensor.scales[at]);
    outer.as<float>()[static_cast<std::size_t>(i)] = made.tensor.outer;
  }
  return Results{Value(std::move(elements)), Value(std::move(scales)), Value(std::move(outer))};
}

llvm::Expected<Results> dequantizeForJax(stablehlo::CustomCallOp op, const Operands& operands,
                                         Evaluation&) {
  JaxCall call(op);
  llvm::Expected<std::vector<Tensor>> results = emptyResults(op);
  if (!results)
    return results.takeError();
  call.require(operands.size() == 3 && operands[0].isTensor() && isF32(operands[2]) &&
                   results->size() == 1 && (*results)[0].type == kF32,
               "takes elements, scales and outer scales, and gives values in f32");
  const auto* format = call.format("format", format::findScaledFormat);
  if (call.isRefused())
    return call.error();
  const Members members =
      membersOf(call, *format, operands[0].tensor().shape, operands[2].tensor().shape);
  call.require(!call.isRefused() && areParts(members, operands[0], operands[1], operands[2]) &&
                   (*results)[0].shape == operands[0].tensor().shape,
               "has parts that are not those of its format");
  if (call.isRefused())
    return call.error();
  float* to = (*results)[0].as<float>().data();
  for (std::int64_t i = 0; i < members.count; ++i)
    to = std::ranges::copy(numerics::dequantize(member(members, i, operands[0].tensor(),
                                                       operands[1].tensor(), operands[2].tensor())),
                           to)
             .out;
  return Results{Value(std::move((*results)[0]))};
}

llvm::Expected<Results> convertForJax(stablehlo::CustomCallOp op, const Operands& operands,
                                      Evaluation&) {
  JaxCall call(op);
  llvm::Expected<std::vector<Tensor>> results = emptyResults(op);
  if (!results)
    return results.takeError();
  const auto* format = call.format("format", format::findElementFormat);
  const numerics::Conversion conversion = {
      .rounding = call.named("rounding", numerics::findRounding).value_or(numerics::Rounding()),
      .overflow = call.named("overflow", numerics::findOverflow).value_or(numerics::Overflow()),
      .nan = call.named("nan", numerics::findNanCode).value_or(numerics::NanCode())};
  const bool isStochastic = conversion.rounding == numerics::Rounding::Stochastic;
  call.require(operands.size() == 2 && isF32(operands[0]) && operands[1].isTensor() &&
                   results->size() == 1 && (*results)[0].shape == operands[0].tensor().shape &&
                   (*results)[0].type.bytes() == 1 &&
                   (!isStochastic || operands[1].tensor().size() == operands[0].tensor().size()),
               "takes values in f32 and their random bits, and gives as many codes");
  if (call.isRefused())
    return call.error();
  const Tensor codes = convertElements(operands[0].tensor(), ElementType(*format), conversion,
                                       isStochastic ? operands[1].tensor().as<std::uint32_t>()
                                                    : std::span<const std::uint32_t>());
  for (std::int64_t i = 0; i < codes.size(); ++i)
    (*results)[0].setCode(i, codes.code(i));
  return Results{Value(std::move((*results)[0]))};
}

/// A side [batch, rows, K] of a product: scaled, or, without a name of scales, in f32.
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
  call.require(areParts(*side.members, elements, scales, outer),
               "has a side that is not of its format");
  return side;
}

llvm::Expected<Results> productForJax(stablehlo::CustomCallOp op, const Operands& operands,
                                      Evaluation&) {
  JaxCall call(op);
  llvm::Expected<std::vector<Tensor>> results = emptyResults(op);
  if (!results)
    return results.takeError();
  call.require(operands.size() == 6 && results->size() == 1 && (*results)[0].type == kF32,
               "takes the three parts of two sides and gives a product in f32");
  if (call.isRefused())
    return call.error();
  const Side left = sideOf(call, "left", operands[0], operands[1], operands[2]);
  const Side right = sideOf(call, "right", operands[3], operands[4], operands[5]);
  if (call.isRefused())
    return call.error();
  Tensor& product = (*results)[0];
  call.require(left.outer->shape == right.outer->shape && left.depth == right.depth &&
                   product.size() == left.outer->size() * left.rows * right.rows,
               "has sides of different batches or depths");
  if (call.isRefused())
    return call.error();
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
  return Results{Value(std::move(product))};
}

} // namespace

void registerJaxCalls(CustomCallTable& table) {
  table.add("octavo_convert", convertForJax);
  table.add("octavo_dequantize", dequantizeForJax);
  table.add("octavo_product", productForJax);
  table.add("octavo_quantize", quantizeForJax);
}

} // namespace octavo::reference
