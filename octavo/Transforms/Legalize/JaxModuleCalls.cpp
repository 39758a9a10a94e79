#include "octavo/Transforms/Legalize/JaxModuleCalls.h"

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Numerics/OptionNames.h"
#include "octavo/Transforms/Legalize/ArithmeticWriter.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace octavo::transforms {

namespace {

using format::ScaledFormat;

/// A call, its attributes, and the place where its replacement is written.
class JaxModuleCall {
public:
  JaxModuleCall(stablehlo::CustomCallOp op, mlir::OpBuilder& builder) : op(op), builder(builder) {}

  /// The values that replace the results; nullopt if the call is left.
  std::optional<llvm::SmallVector<mlir::Value>> opened() {
    const auto isKnown = [](mlir::Value value) {
      return typeOf(value) && typeOf(value).hasStaticShape();
    };
    if (!llvm::all_of(op->getOperands(), isKnown) || !llvm::all_of(op->getResults(), isKnown))
      return std::nullopt;
    const llvm::StringRef target = op.getCallTargetName();
    const auto is = [&](llvm::StringRef name, unsigned operands, unsigned results) {
      return target == name && op->getNumOperands() == operands && op->getNumResults() == results;
    };
    return is("octavo_quantize", 3, 3)     ? quantized()
           : is("octavo_dequantize", 3, 1) ? dequantized()
           : is("octavo_convert", 2, 1)    ? converted()
           : is("octavo_product", 6, 1)    ? multiplied()
           : is("octavo_outer", 3, 1)      ? timesOuter()
                                           : std::nullopt;
  }

private:
  using Values = std::optional<llvm::SmallVector<mlir::Value>>;

  llvm::StringRef text(llvm::StringRef name) const {
    const auto attribute =
        llvm::dyn_cast_or_null<mlir::StringAttr>(interpreter::configuration(op, name));
    return attribute ? attribute.getValue() : llvm::StringRef();
  }

  std::int64_t number(llvm::StringRef name) const {
    const auto attribute =
        llvm::dyn_cast_or_null<mlir::IntegerAttr>(interpreter::configuration(op, name));
    return attribute ? attribute.getInt() : 0;
  }

  /// Whether outer scales are multiplied into scales of this format (f32): only types with 8-bit
  /// scales have an outer scale.
  static bool areFolded(const format::ElementFormat& scale) { return !scale.isNarrow(); }

  /// The type of a batch of tensors. The `lead` first axes, those of the outer scales, are the
  /// batch; `block` is that of one sample. Null if there is no such type.
  static ir::ScaledType typeOfBatch(mlir::Value elements, std::int64_t lead,
                                    const format::ElementFormat* element,
                                    const format::ElementFormat* scale,
                                    llvm::ArrayRef<std::int64_t> block, bool hasOuter) {
    llvm::SmallVector<std::int64_t> whole(lead, 1);
    llvm::append_range(whole, block);
    const mlir::ScopedDiagnosticHandler quiet(elements.getContext(), [](mlir::Diagnostic&) {});
    const auto emitError = [&] { return mlir::emitError(elements.getLoc()); };
    const bool isAbove = hasOuter && !areFolded(*scale);
    if (failed(
            ir::ScaledType::verify(emitError, shapeOf(elements), element, scale, whole, isAbove)))
      return {};
    return ir::ScaledType::get(elements.getContext(), shapeOf(elements), element, scale, whole,
                               isAbove);
  }

  /// As typeOfBatch, for the scaled format that the attribute names.
  ir::ScaledType typeOfFormat(mlir::Value elements, std::int64_t lead, bool hasOuter) const {
    const ScaledFormat* format = format::findScaledFormat(text("format").str());
    if (lead > typeOf(elements).getRank())
      return {};
    const auto member = shapeOf(elements).drop_front(lead);
    const std::int64_t axis = static_cast<std::int64_t>(member.size()) - number("axis_from_end");
    if (format == nullptr || axis < 0 || axis >= static_cast<std::int64_t>(member.size()))
      return {};
    return typeOfBatch(elements, lead, format->element, format->scale,
                       ir::ScaledType::blockOf(*format, member, axis), hasOuter);
  }

  /// Whether outer scales are known to be 1.
  static bool areOnes(mlir::Value outer) { return splatNumber(outer) == 1.0; }

  /// Scales times the outer scale of each sample.
  mlir::Value folded(mlir::Value scales, mlir::Value outer) {
    const auto lead = llvm::to_vector(llvm::seq<std::int64_t>(0, typeOf(outer).getRank()));
    const mlir::Value factors = stablehlo::BroadcastInDimOp::create(
        builder, op.getLoc(), typeOf(scales), outer, builder.getDenseI64ArrayAttr(lead));
    return stablehlo::MulOp::create(builder, op.getLoc(), scales, factors);
  }

  /// Packs the parts that a call is given; null if octavo has no type for them.
  mlir::Value packed(ir::ScaledType type, mlir::Value elements, mlir::Value scales,
                     mlir::Value outer) {
    if (!type || type.getElementsType() != elements.getType() ||
        type.getScalesType() != scales.getType() ||
        (type.getHasOuterScale() && typeOf(outer).getRank() != 0))
      return {};
    if (areFolded(*type.getScale()) && !areOnes(outer))
      scales = folded(scales, outer);
    return ir::PackOp::create(builder, op.getLoc(), type, elements, scales,
                              type.getHasOuterScale() ? outer : mlir::Value());
  }

  Values quantized() {
    const mlir::Value elements = op->getResult(0);
    const mlir::RankedTensorType outerType = typeOf(op->getResult(2));
    const std::int64_t lead = outerType.getRank();
    const ScaledFormat* format = format::findScaledFormat(text("format").str());
    if (format == nullptr)
      return std::nullopt;
    const auto chosen = numerics::optionsOf(*format, {.preset = text("preset").str(),
                                                      .rule = text("rule").str(),
                                                      .rounding = text("rounding").str(),
                                                      .overflow = text("overflow").str(),
                                                      .nonFinite = text("nan").str()});
    if (!chosen || typeOf(op->getOperand(2)).getRank() == lead ||
        (format->hasOuterScale && lead != 0))
      return std::nullopt;
    const ir::ScaledType type = typeOfFormat(elements, lead, format->hasOuterScale);
    if (!type || type.getElementsType() != elements.getType() ||
        type.getScalesType() != op->getResult(1).getType())
      return std::nullopt;

    mlir::Value x = op->getOperand(0); // in f32, whatever the call's input
    const llvm::StringRef input = text("input");
    if (input == "bf16" || input == "f16")
      x = stablehlo::ConvertOp::create(builder, op.getLoc(),
                                       typeOf(x).clone(input == "f16"
                                                           ? mlir::Type(builder.getF16Type())
                                                           : builder.getBF16Type()),
                                       x);
    const bool isStochastic = chosen->rounding == numerics::Rounding::Stochastic;
    const mlir::Value made = ir::QuantizeOp::create(
        builder, op.getLoc(), type, x, isStochastic ? op->getOperand(1) : mlir::Value(),
        ir::QuantizationAttr::get(builder.getContext(), *chosen));
    auto parts = ir::UnpackOp::create(builder, op.getLoc(), made);
    const mlir::Value outer =
        parts.getOuter() ? parts.getOuter()
                         : stablehlo::ConstantOp::create(
                               builder, op.getLoc(),
                               mlir::DenseElementsAttr::get(outerType, builder.getF32FloatAttr(1)));
    return llvm::SmallVector<mlir::Value>{parts.getElements(), parts.getScales(), outer};
  }

  Values dequantized() {
    const mlir::Value elements = op->getOperand(0), outer = op->getOperand(2);
    const mlir::Value scaled =
        packed(typeOfFormat(elements, typeOf(outer).getRank(), !areOnes(outer)), elements,
               op->getOperand(1), outer);
    if (!scaled)
      return std::nullopt;
    return llvm::SmallVector<mlir::Value>{
        ir::DequantizeOp::create(builder, op.getLoc(), op->getResult(0).getType(), scaled)};
  }

  Values converted() {
    const auto rounding = numerics::findRounding(text("rounding").str());
    const auto overflow = numerics::findOverflow(text("overflow").str());
    const auto nan = numerics::findNanCode(text("nan").str());
    const mlir::RankedTensorType type = typeOf(op->getResult(0));
    if (!rounding || !overflow || !nan || !llvm::isa<mlir::FloatType>(type.getElementType()))
      return std::nullopt;
    const numerics::Conversion conversion = {
        .rounding = *rounding, .overflow = *overflow, .nan = *nan};
    const bool isStochastic = *rounding == numerics::Rounding::Stochastic;
    return llvm::SmallVector<mlir::Value>{
        ir::ConvertOp::create(builder, op.getLoc(), type, op->getOperand(0),
                              isStochastic ? op->getOperand(1) : mlir::Value(),
                              ir::ConversionAttr::get(builder.getContext(), conversion))};
  }

  /// A side of a product, [batch.., rows, depth]; null if the call is left.
  mlir::Value side(const std::string& name, unsigned first, std::int64_t lead) {
    const mlir::Value elements = op->getOperand(first), outer = op->getOperand(first + 2);
    if (text(name + "_scale").empty())
      return elements;
    const format::ElementFormat* element = format::findElementFormat(text(name + "_element").str());
    const format::ElementFormat* scale = format::findElementFormat(text(name + "_scale").str());
    const std::int64_t across = number(name + "_across"), along = number(name + "_along");
    if (element == nullptr || scale == nullptr || across < 1 || along < 1 ||
        typeOf(elements).getRank() != lead + 2 || typeOf(outer).getRank() != lead)
      return {};
    const auto matrix = shapeOf(elements).drop_front(lead);
    const std::array<std::int64_t, 2> block = {
        std::min(across, std::max<std::int64_t>(matrix[0], 1)),
        std::min(along, std::max<std::int64_t>(matrix[1], 1))};
    return packed(typeOfBatch(elements, lead, element, scale, block, !areOnes(outer)), elements,
                  op->getOperand(first + 1), outer);
  }

  Values multiplied() {
    const std::int64_t lead = typeOf(op->getOperand(2)).getRank();
    const mlir::Value left = side("left", 0, lead), right = side("right", 3, lead);
    if (!left || !right || text("right_scale").empty())
      return std::nullopt;
    const auto batch = llvm::to_vector(llvm::seq<std::int64_t>(0, lead));
    const auto numbers = stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), batch, batch,
                                                                 {lead + 1}, {lead + 1});
    return llvm::SmallVector<mlir::Value>{ir::DotGeneralOp::create(
        builder, op.getLoc(), op->getResult(0).getType(), left, right, numbers, mlir::TypeAttr())};
  }

  /// Products times both outer scales: in one multiplication if the product of the scales is a
  /// normal number.
  Values timesOuter() {
    const mlir::Value sums = op->getOperand(0), left = op->getOperand(1), right = op->getOperand(2);
    const mlir::Type f32 = builder.getF32Type();
    if (typeOf(sums).getElementType() != f32 || typeOf(left).getElementType() != f32 ||
        left.getType() != right.getType() || sums.getType() != op->getResult(0).getType() ||
        typeOf(left).getRank() > typeOf(sums).getRank())
      return std::nullopt;
    if (areOnes(left) && areOnes(right))
      return llvm::SmallVector<mlir::Value>{sums};
    ArithmeticWriter writer(builder, op.getLoc());
    using Direction = stablehlo::ComparisonDirection;
    const auto lead = llvm::to_vector(llvm::seq<std::int64_t>(0, typeOf(left).getRank()));
    const auto times = [&](mlir::Value value, mlir::Value outer) {
      return writer.write("multiply",
                          {value, writer.broadcast(outer, lead, typeOf(sums).getShape())});
    };
    const mlir::Value both = writer.write("multiply", {left, right});
    const mlir::Value magnitude = writer.write("abs", both);
    const mlir::Value least = writer.number(std::numeric_limits<float>::min(), both);
    const mlir::Value most = writer.number(std::numeric_limits<float>::max(), both);
    const mlir::Value isNormal =
        writer.write("and", {writer.compare(Direction::GE, magnitude, least),
                             writer.compare(Direction::LE, magnitude, most)});
    return llvm::SmallVector<mlir::Value>{
        writer.write("select", {writer.broadcast(isNormal, lead, typeOf(sums).getShape()),
                                times(sums, both), times(times(sums, left), right)})};
  }

  stablehlo::CustomCallOp op;
  mlir::OpBuilder& builder;
};

} // namespace

bool openJaxModuleCalls(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getContext());
  bool hasOpened = false;
  module.walk([&](stablehlo::CustomCallOp op) {
    if (!op.getCallTargetName().starts_with("octavo_"))
      return;
    builder.setInsertionPoint(op);
    if (auto values = JaxModuleCall(op, builder).opened()) {
      op->replaceAllUsesWith(*values);
      op.erase();
      hasOpened = true;
    }
  });
  return hasOpened;
}

} // namespace octavo::transforms
