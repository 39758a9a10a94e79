#include "octavo/Transforms/ScaleArithmetic.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <utility>

namespace octavo::transforms {

namespace {

using format::ElementFormat;
using format::ScaleRule;
using mlir::RankedTensorType;
using mlir::Value;

const ElementFormat& kE8m0 = format::element("e8m0fnu");

/// Writes operations at one place.
class Writer {
public:
  Writer(mlir::OpBuilder& builder, mlir::Location at) : builder(builder), at(at) {}

  static RankedTensorType typeOf(Value value) {
    return llvm::cast<RankedTensorType>(value.getType());
  }

  Value write(llvm::StringRef operation, mlir::ValueRange operands, mlir::Type type) {
    mlir::OperationState state(at, ("stablehlo." + operation).str(), operands, type);
    return builder.create(state)->getResult(0);
  }
  /// An operation whose result is of its operands' type.
  Value write(llvm::StringRef operation, mlir::ValueRange operands) {
    return write(operation, operands, operands.back().getType());
  }

  Value constant(double number, RankedTensorType type) {
    return stablehlo::ConstantOp::create(
        builder, at,
        mlir::DenseElementsAttr::get(
            type, mlir::Attribute(builder.getFloatAttr(type.getElementType(), number))));
  }
  /// A number in every place of a tensor like `like`.
  Value number(double number, Value like) { return constant(number, typeOf(like)); }
  Value integer(std::uint32_t number, Value like) {
    const RankedTensorType type = typeOf(like);
    return stablehlo::ConstantOp::create(
        builder, at,
        mlir::DenseElementsAttr::get(type, llvm::APInt(type.getElementTypeBitWidth(), number)));
  }
  /// As `number`, kept from simplifications that make a division by it a product.
  Value divisor(double number, Value like) {
    return write("optimization_barrier", this->number(number, like));
  }

  Value convert(Value value, mlir::Type element) {
    const RankedTensorType type = typeOf(value).clone(element);
    return type == value.getType()
               ? value
               : stablehlo::ConvertOp::create(builder, at, type, value).getResult();
  }
  Value bits(Value value, mlir::Type element) {
    return write("bitcast_convert", value, typeOf(value).clone(element));
  }
  Value compare(stablehlo::ComparisonDirection direction, Value lhs, Value rhs) {
    return stablehlo::CompareOp::create(builder, at, typeOf(lhs).clone(builder.getI1Type()), lhs,
                                        rhs, direction, stablehlo::ComparisonTypeAttr());
  }
  Value reshape(Value value, llvm::ArrayRef<std::int64_t> shape) {
    const RankedTensorType type = typeOf(value).clone(shape);
    return type == value.getType()
               ? value
               : stablehlo::ReshapeOp::create(builder, at, type, value).getResult();
  }
  Value broadcast(Value value, llvm::ArrayRef<std::int64_t> axes,
                  llvm::ArrayRef<std::int64_t> shape) {
    return stablehlo::BroadcastInDimOp::create(builder, at, typeOf(value).clone(shape), value,
                                               builder.getDenseI64ArrayAttr(axes));
  }
  /// The largest along axes of a tensor that is nowhere negative.
  Value largest(Value value, llvm::ArrayRef<std::int64_t> axes) {
    llvm::SmallVector<std::int64_t> kept;
    for (const auto [axis, extent] : llvm::enumerate(typeOf(value).getShape()))
      if (!llvm::is_contained(axes, static_cast<std::int64_t>(axis)))
        kept.push_back(extent);
    const auto scalar = RankedTensorType::get({}, typeOf(value).getElementType());
    auto reduce = stablehlo::ReduceOp::create(
        builder, at, mlir::TypeRange(typeOf(value).clone(kept)), mlir::ValueRange(value),
        mlir::ValueRange(constant(0, scalar)), builder.getDenseI64ArrayAttr(axes));
    mlir::Block& body = reduce.getBody().emplaceBlock();
    body.addArguments({scalar, scalar}, {at, at});
    mlir::OpBuilder inner = mlir::OpBuilder::atBlockBegin(&body);
    const Value larger =
        stablehlo::MaxOp::create(inner, at, scalar, body.getArgument(0), body.getArgument(1));
    stablehlo::ReturnOp::create(inner, at, larger);
    return reduce.getResult(0);
  }

  mlir::OpBuilder& builder;
  const mlir::Location at;
};

/// A tensor in blocks: for each axis an axis of blocks and one of places within a block. The last
/// block of an axis may be short.
struct Blocks {
  explicit Blocks(ir::ScaledType type)
      : shape(type.getShape()), block(type.getBlock()), grid(type.getScaleShape()) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      whole.push_back(grid[axis] * block[axis]);
      split.append({grid[axis], block[axis]});
      outerAxes.push_back(static_cast<std::int64_t>(2 * axis));
      innerAxes.push_back(static_cast<std::int64_t>(2 * axis + 1));
    }
  }

  bool hasShortBlock() const { return llvm::ArrayRef(whole) != shape; }

  /// Tensor of scales to tensor of values.
  Value spread(Writer& writer, Value scales) const {
    const Value values = writer.reshape(writer.broadcast(scales, outerAxes, split), whole);
    if (!hasShortBlock())
      return values;
    const llvm::SmallVector<std::int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
    mlir::OpBuilder& b = writer.builder;
    return stablehlo::SliceOp::create(b, writer.at, Writer::typeOf(values).clone(shape), values,
                                      b.getDenseI64ArrayAttr(zeros), b.getDenseI64ArrayAttr(shape),
                                      b.getDenseI64ArrayAttr(ones));
  }

  /// The largest of each block of magnitudes.
  Value largest(Writer& writer, Value magnitudes) const {
    if (hasShortBlock()) {
      const llvm::SmallVector<std::int64_t> zeros(shape.size(), 0);
      llvm::SmallVector<std::int64_t> high;
      for (const auto [all, some] : llvm::zip_equal(whole, shape))
        high.push_back(all - some);
      mlir::OpBuilder& b = writer.builder;
      const RankedTensorType type = Writer::typeOf(magnitudes);
      const Value zero = stablehlo::ConstantOp::create(
          b, writer.at,
          mlir::DenseElementsAttr::get(
              RankedTensorType::get({}, type.getElementType()),
              mlir::Attribute(b.getFloatAttr(type.getElementType(), 0.0))));
      magnitudes = stablehlo::PadOp::create(
          b, writer.at, type.clone(whole), magnitudes, zero, b.getDenseI64ArrayAttr(zeros),
          b.getDenseI64ArrayAttr(high), b.getDenseI64ArrayAttr(zeros));
    }
    return writer.largest(writer.reshape(magnitudes, split), innerAxes);
  }

  llvm::ArrayRef<std::int64_t> shape, block;
  llvm::SmallVector<std::int64_t> grid, whole, split, outerAxes, innerAxes;
};

/// The exponent field, as ui32, of the power of two that a rule gives for amax: 0 to 254.
Value scaleField(Writer& writer, ScaleRule rule, const ElementFormat& element, Value amax) {
  using Direction = stablehlo::ComparisonDirection;
  mlir::OpBuilder& b = writer.builder;
  const mlir::Type ui32 = b.getIntegerType(32, false);
  const int emax = element.emax();
  Value number = amax;
  if (rule == ScaleRule::RoundUp)
    number = writer.write(
        "multiply",
        {amax, writer.number(1.0F / static_cast<float>(numerics::maxValue(element)), amax)});
  const Value bits = writer.bits(number, ui32);
  const Value field = writer.write("shift_right_logical", {bits, writer.integer(23, bits)});
  const Value trailing = writer.write("and", {bits, writer.integer(0x7FFFFF, bits)});
  const Value half = writer.integer(0x400000, bits);
  const Value zero = writer.integer(0, bits);
  const auto below = [&](Value value, int exponent) { // max(value - exponent, 0)
    const Value offset = writer.integer(static_cast<std::uint32_t>(exponent), bits);
    return writer.write("subtract", {writer.write("maximum", {value, offset}), offset});
  };
  const auto asNumber = [&](Value condition) { return writer.convert(condition, ui32); };
  // A subnormal has the exponent field 0, and is above 2^-127 where its trailing bits are.
  const Value subnormal = writer.compare(Direction::EQ, field, zero);
  const Value aboveLeast = asNumber(writer.compare(Direction::GT, trailing, half));
  const auto select = [&](Value condition, Value then, Value otherwise) {
    return writer.write("select", {condition, then, otherwise});
  };
  Value result;
  if (rule == ScaleRule::Floor)
    return below(field, emax);
  if (rule == ScaleRule::RoundUp) {
    const Value up = asNumber(writer.compare(Direction::NE, trailing, zero));
    result = select(subnormal, aboveLeast, writer.write("add", {field, up}));
  } else if (rule == ScaleRule::Ceil || rule == ScaleRule::Even) {
    // From m = 2 - 2^-(M + 1) on `even` goes up, from the next value after 1 on `ceil` (S3). Of
    // subnormals those from 2^-127 on, whose m has a bit less, reach a scale above the least.
    const int kept = element.trailingSignificandBits - (element.isInteger() ? 1 : 0);
    const auto from = [&](int ownBits) {
      return rule == ScaleRule::Ceil ? std::uint32_t{1} : 0x800000U - (1U << (ownBits - 1 - kept));
    };
    const auto isFrom = [&](std::uint32_t least) {
      return asNumber(writer.compare(Direction::GE, trailing, writer.integer(least, trailing)));
    };
    const Value normal = below(writer.write("add", {field, isFrom(from(23))}), emax);
    const Value least = rule == ScaleRule::Ceil ? aboveLeast : isFrom(from(22));
    result = select(subnormal, emax == 0 ? least : zero, normal);
  } else { // nearest: 1.5 goes up, and between the two smallest scales everything does (N7)
    const Value least = writer.integer(static_cast<std::uint32_t>(emax), bits);
    const Value up = asNumber(writer.compare(Direction::GE, trailing, half));
    const Value any = asNumber(writer.compare(Direction::NE, trailing, zero));
    const Value normal = select(writer.compare(Direction::GT, field, least),
                                writer.write("add", {below(field, emax), up}),
                                select(writer.compare(Direction::EQ, field, least), any, zero));
    result = select(subnormal, emax == 0 ? aboveLeast : zero, normal);
  }
  return writer.write("minimum", {result, writer.integer(254, bits)});
}

/// 1 / 2^(field - 127) as a product of two f32 that are normal for every field.
std::pair<Value, Value> inverseFactors(Writer& writer, Value field) {
  const mlir::Type f32 = writer.builder.getF32Type();
  const auto power = [&](Value exponentField) {
    return writer.bits(
        writer.write("shift_left", {exponentField, writer.integer(23, exponentField)}), f32);
  };
  const Value half = writer.write("shift_right_logical", {field, writer.integer(1, field)});
  const Value rest = writer.write("subtract", {field, half});
  // 2^(63 - half) * 2^(64 - rest)
  return {power(writer.write("subtract", {writer.integer(127 + 63, field), half})),
          power(writer.write("subtract", {writer.integer(127 + 64, field), rest}))};
}

/// Values divided by their scale as elements, saturating, ties to even.
Value asElements(Writer& writer, Value quotient, const ElementFormat& element) {
  const double max = numerics::maxValue(element);
  if (element.isInteger()) {
    const double unit = std::ldexp(1.0, element.bias);
    quotient = writer.write("round_nearest_even",
                            writer.write("multiply", {quotient, writer.number(unit, quotient)}));
    quotient = writer.write(
        "clamp",
        {writer.number(-max * unit, quotient), quotient, writer.number(max * unit, quotient)},
        quotient.getType());
    return writer.convert(quotient, writer.builder.getI8Type());
  }
  const Value clamped =
      writer.write("clamp", {writer.number(-max, quotient), quotient, writer.number(max, quotient)},
                   quotient.getType());
  return writer.convert(clamped, mlirType(writer.builder.getContext(), element));
}

/// The rule of scales with a significand (S5), for amax of each block.
Value significandScales(Writer& writer, const ElementFormat& element, const ElementFormat& scale,
                        Value amax, Value outer) {
  using Direction = stablehlo::ComparisonDirection;
  Value ratio = writer.write("divide", {amax, writer.divisor(numerics::maxValue(element), amax)});
  if (outer)
    ratio = writer.write("divide",
                         {ratio, writer.broadcast(outer, {}, Writer::typeOf(amax).getShape())});
  ratio = writer.write("minimum", {ratio, writer.number(numerics::maxValue(scale), ratio)});
  const mlir::Type type = mlirType(writer.builder.getContext(), scale);
  const mlir::Type f32 = writer.builder.getF32Type();
  const Value rounded = writer.convert(writer.convert(ratio, type), f32);
  const Value zero = writer.number(0, amax);
  const Value positive =
      writer.write("select", {writer.compare(Direction::EQ, rounded, zero),
                              writer.number(numerics::minPositive(scale), amax), rounded});
  const Value result = writer.write(
      "select", {writer.compare(Direction::EQ, amax, zero), writer.number(1, amax), positive});
  return writer.convert(result, type);
}

/// The outer scale (S6) from the amax of each block, or from one that is given.
Value outerScale(Writer& writer, const ElementFormat& element, const ElementFormat& scale,
                 Value amax, std::optional<float> given, const AmaxOfWhole& whole) {
  const auto axes = llvm::to_vector(llvm::seq<std::int64_t>(0, Writer::typeOf(amax).getRank()));
  Value all = given
                  ? writer.constant(*given, RankedTensorType::get({}, writer.builder.getF32Type()))
                  : writer.largest(amax, axes);
  if (whole.ofTensor && !given)
    all = whole.ofTensor(all);
  const auto product = static_cast<float>(numerics::maxValue(element) * numerics::maxValue(scale));
  const Value ratio = writer.write("divide", {all, writer.divisor(product, all)});
  const Value isZero =
      writer.compare(stablehlo::ComparisonDirection::EQ, ratio, writer.number(0, ratio));
  return writer.write("select", {isZero, writer.number(1, ratio), ratio});
}

} // namespace

Value emitWiden(mlir::OpBuilder& builder, mlir::Location location, Value value) {
  return Writer(builder, location).convert(value, builder.getF32Type());
}

/// The rule and a given amax, and all other settings at their defaults.
static numerics::QuantizeOptions arithmeticOptions(const numerics::QuantizeOptions& options) {
  return {.rule = options.rule, .amax = options.amax, .input = options.input};
}

bool isArithmetic(ir::ScaledType type, ir::QuantizationAttr quantization, mlir::Type input) {
  const numerics::QuantizeOptions options = quantization.getOptions(type, *elementFormat(input));
  return options == arithmeticOptions(options) &&
         !(type.getHasOuterScale() && *type.getScale() == kE8m0);
}

mlir::FailureOr<ScaledParts> emitQuantize(mlir::OpBuilder& builder, mlir::Location location,
                                          Value operand, ir::ScaledType type,
                                          ir::QuantizationAttr quantization,
                                          const AmaxOfWhole& whole) {
  Writer writer(builder, location);
  const ElementFormat& input = *elementFormat(Writer::typeOf(operand).getElementType());
  const numerics::QuantizeOptions options = quantization.getOptions(type, input);
  if (options != arithmeticOptions(options))
    return mlir::emitError(location)
           << "octavo-emit writes the scale rules with all other settings at their defaults; found "
           << quantization;
  const ElementFormat& element = *type.getElement();
  const ElementFormat& scale = *type.getScale();
  const Blocks blocks(type);
  const mlir::Type f32 = builder.getF32Type();
  const Value x = writer.convert(operand, f32);
  // That of the values decides block scales below an outer one, too.
  const bool isGiven = options.amax && !type.getHasOuterScale();
  Value amax = isGiven ? writer.constant(*options.amax, RankedTensorType::get(blocks.grid, f32))
                       : blocks.largest(writer, writer.write("abs", x));
  if (whole.ofBlocks && !isGiven)
    amax = whole.ofBlocks(amax);

  if (scale == kE8m0 && !type.getHasOuterScale()) {
    const Value field = scaleField(writer, options.rule, element, amax);
    const Value codes = writer.convert(field, builder.getIntegerType(8, false));
    const auto [first, second] = inverseFactors(writer, field);
    Value quotient = writer.write("multiply", {x, blocks.spread(writer, first)});
    quotient = writer.write("multiply", {quotient, blocks.spread(writer, second)});
    return ScaledParts{asElements(writer, quotient, element),
                       writer.bits(codes, mlirType(builder.getContext(), scale)), nullptr};
  }
  if (scale == kE8m0)
    return mlir::emitError(location) << "octavo-emit does not write E8M0 scales below an outer one";
  const Value outer = type.getHasOuterScale()
                          ? outerScale(writer, element, scale, amax, options.amax, whole)
                          : Value();
  const Value scales = significandScales(writer, element, scale, amax, outer);
  Value divisor = writer.convert(scales, f32);
  if (outer)
    divisor = writer.write("multiply", {divisor, writer.broadcast(outer, {}, blocks.grid)});
  const Value isZero =
      writer.compare(stablehlo::ComparisonDirection::EQ, divisor, writer.number(0, divisor));
  divisor = writer.write(
      "select",
      {isZero, writer.number(numerics::minPositive(format::element("f32")), divisor), divisor});
  const Value quotient = writer.write("divide", {x, blocks.spread(writer, divisor)});
  return ScaledParts{asElements(writer, quotient, element), scales, outer};
}

Value emitDequantize(mlir::OpBuilder& builder, mlir::Location location, const ScaledParts& parts,
                     ir::ScaledType type) {
  Writer writer(builder, location);
  const mlir::Type f32 = builder.getF32Type();
  Value elements = writer.convert(parts.elements, f32);
  if (type.getElement()->isInteger())
    elements = writer.write(
        "multiply", {elements, writer.number(std::ldexp(1.0, -type.getElement()->bias), elements)});
  const Blocks blocks(type);
  Value result = writer.write("multiply",
                              {elements, blocks.spread(writer, writer.convert(parts.scales, f32))});
  if (parts.outer)
    result = writer.write("multiply", {result, writer.broadcast(parts.outer, {}, type.getShape())});
  return result;
}

Value emitDot(mlir::OpBuilder& builder, mlir::Location location, Value lhs, Value rhs,
              stablehlo::DotDimensionNumbersAttr dimensions, RankedTensorType result) {
  const Value dot = stablehlo::DotGeneralOp::create(
      builder, location, result.clone(builder.getF32Type()), lhs, rhs, dimensions,
      mlir::ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return Writer(builder, location).convert(dot, result.getElementType());
}

namespace {

/// What rule N5 rounds f32 values to, overflow apart, for a format whose values f32 has.
Value roundAtRandom(Writer& writer, Value value, Value random, const ElementFormat& format) {
  const mlir::Type f32 = writer.builder.getF32Type();
  const Value code = writer.bits(value, Writer::typeOf(random).getElementType());
  const Value exponent = writer.write("and", {code, writer.integer(0x7F800000, code)});
  Value power = writer.bits(exponent, f32);
  power = writer.write("maximum", {power, writer.number(std::ldexp(1.0, format.emin()), power)});
  power = writer.write("minimum", {power, writer.number(std::ldexp(1.0, format.emax()), power)});
  // Powers of two, and what is left of a number: all of it is exact.
  const Value unit = writer.write(
      "multiply", {power, writer.number(std::ldexp(1.0, -format.trailingSignificandBits), power)});
  const Value units = writer.write("divide", {writer.write("abs", value), unit});
  const Value low = writer.write("floor", units);
  const Value fraction = writer.write("subtract", {units, low});
  const Value limit = writer.write(
      "ceil", writer.write("multiply", {fraction, writer.number(std::ldexp(1.0, 32), fraction)}));
  const Value isAway =
      writer.compare(stablehlo::ComparisonDirection::LT, random,
                     writer.convert(limit, Writer::typeOf(random).getElementType()));
  const Value high = writer.write("add", {low, writer.number(1, low)});
  const Value rounded =
      writer.write("multiply", {writer.write("select", {isAway, high, low}), unit});
  const Value sign = writer.write("and", {code, writer.integer(0x80000000, code)});
  return writer.bits(
      writer.write("or", {writer.bits(rounded, Writer::typeOf(code).getElementType()), sign}), f32);
}

} // namespace

mlir::FailureOr<Value> emitConvert(mlir::OpBuilder& builder, ir::ConvertOp op) {
  if (op.getOperand().getType() == op.getResult().getType())
    return op.getOperand(); // codes stay, beyond the limits too
  Writer writer(builder, op.getLoc());
  const numerics::Conversion conversion = op.getConversion().getConversion();
  const bool isRandom = conversion.rounding == numerics::Rounding::Stochastic;
  if ((!isRandom && conversion.rounding != numerics::Rounding::TiesToEven) ||
      conversion.nan != numerics::NanCode::NegativeZero)
    return op.emitError()
           << "octavo-emit writes conversions that round ties to even or "
              "stochastically and give NaN the code of -0 where there is none; found "
           << op.getConversion();
  if (!Writer::typeOf(op.getOperand()).hasStaticShape())
    return op.emitError() << "octavo-emit takes known extents; found " << op.getOperand().getType()
                          << " (octavo-refine-shapes makes them known)";
  const mlir::Type to = Writer::typeOf(op.getResult()).getElementType();
  const ElementFormat& format = *elementFormat(to);
  const unsigned width = elementFormat(Writer::typeOf(op.getOperand()).getElementType())->width();
  if (isRandom && (width > 32 || format.width() > 16 || !format.hasZero()))
    return op.emitError() << "octavo-emit rounds f32 and narrower floats stochastically, to floats "
                             "of at most 16 bits that have a zero; found "
                          << op.getOperand().getType() << " and " << op.getResult().getType();
  Value value = op.getOperand();
  // f32 holds the limits of all formats but f64, and what stochastic rounding computes with.
  if (width < 32 && (isRandom || conversion.overflow == numerics::Overflow::Saturate))
    value = writer.convert(value, builder.getF32Type());
  if (conversion.overflow == numerics::Overflow::Saturate) {
    const double max = numerics::maxValue(format);
    if (format == format::element("f64"))
      return op.emitError("octavo-emit does not write conversions to f64 that saturate");
    value = writer.write("minimum", {value, writer.number(max, value)});
    if (format.isSigned())
      value = writer.write("maximum", {value, writer.number(-max, value)});
  }
  if (isRandom)
    value = roundAtRandom(writer, value, op.getRandomBits(), format);
  return writer.convert(value, to);
}

} // namespace octavo::transforms
