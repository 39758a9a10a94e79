#include "octavo/Transforms/DelayedScales.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Transforms/ProgramState.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <bit>
#include <cmath>
#include <limits>

namespace octavo::transforms {

namespace {

using mlir::RankedTensorType;

/// {0}: the type of the values, {1}: of the codes, {2}: all axes, {3}: one more argument, the
/// random bits, and {4}: how the conversion takes them; both empty where there are none.
constexpr const char* kQuantize = R"(
func.func private @octavo.quantize_delayed(%x: {0}, %scale: tensor<f32>{3}) -> ({1}, tensor<f32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %magnitudes = stablehlo.abs %x : {0}
  %amax = stablehlo.reduce(%magnitudes init: %zero) applies stablehlo.maximum across dimensions = [{2}]
    : ({0}, tensor<f32>) -> tensor<f32>
  %everywhere = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> {0}
  %scaled = stablehlo.multiply %x, %everywhere : {0}
  %codes = octavo.convert %scaled{4}, overflow = saturate : {0} -> {1}
  return %codes, %amax : {1}, tensor<f32>
})";

/// {0}: tensors, {1}: slots of a history, {2}: the largest value of each tensor's format, after its
/// margin, {3}: how the history rolls, {4}: the largest f32.
constexpr const char* kUpdate = R"(
func.func private @octavo.update_scales(%scales: tensor<{0}xf32>, %before: tensor<{0}x{1}xf32>,
    %amaxes: tensor<{0}x1xf32>) -> (tensor<{0}xf32>, tensor<{0}x{1}xf32>) {{
  %rest = stablehlo.slice %before [0:{0}, 1:{1}] : (tensor<{0}x{1}xf32>) -> tensor<{0}x{5}xf32>
  %history = stablehlo.concatenate %amaxes, %rest, dim = 1
    : (tensor<{0}x1xf32>, tensor<{0}x{5}xf32>) -> tensor<{0}x{1}xf32>
  %isNumber = stablehlo.compare EQ, %history, %history, FLOAT
    : (tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xi1>
  %none = stablehlo.constant dense<0.0> : tensor<{0}x{1}xf32>
  %counted = stablehlo.select %isNumber, %history, %none : tensor<{0}x{1}xi1>, tensor<{0}x{1}xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %amax = stablehlo.reduce(%counted init: %zero) applies stablehlo.maximum across dimensions = [1]
    : (tensor<{0}x{1}xf32>, tensor<f32>) -> tensor<{0}xf32>
  %most = stablehlo.constant dense<[{2}]> : tensor<{0}xf32>
  %quotient = stablehlo.divide %most, %amax : tensor<{0}xf32>
  %largest = stablehlo.constant dense<{4}> : tensor<{0}xf32>
  %limited = stablehlo.minimum %quotient, %largest : tensor<{0}xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<{0}xf32>
  %isPositive = stablehlo.compare GT, %amax, %zeros, FLOAT
    : (tensor<{0}xf32>, tensor<{0}xf32>) -> tensor<{0}xi1>
  %isFinite = stablehlo.compare LE, %amax, %largest, FLOAT
    : (tensor<{0}xf32>, tensor<{0}xf32>) -> tensor<{0}xi1>
  %decides = stablehlo.and %isPositive, %isFinite : tensor<{0}xi1>
  %next = stablehlo.select %decides, %limited, %scales : tensor<{0}xi1>, tensor<{0}xf32>
  %empty = stablehlo.constant dense<0.0> : tensor<{0}x1xf32>
{3}
  return %next, %rolled : tensor<{0}xf32>, tensor<{0}x{1}xf32>
})";

/// Rule F2: {0}: tensors, {1}: slots, {2}: those between the first and the last.
constexpr const char* kRoll = R"(
  %later = stablehlo.slice %history [0:{0}, 2:{1}] : (tensor<{0}x{1}xf32>) -> tensor<{0}x{2}xf32>
  %rolled = stablehlo.concatenate %empty, %later, %amaxes, dim = 1
    : (tensor<{0}x1xf32>, tensor<{0}x{2}xf32>, tensor<{0}x1xf32>) -> tensor<{0}x{1}xf32>)";
constexpr const char* kRollOne = R"(
  %rolled = stablehlo.add %empty, %empty : tensor<{0}x1xf32>)";

/// An f32 as MLIR reads it without rounding.
std::string bitsText(float value) {
  return "0x" + llvm::utohexstr(std::bit_cast<std::uint32_t>(value), /*LowerCase=*/false, 8);
}

/// A function that is in no module yet, under a name that nothing there has.
mlir::func::FuncOp insert(mlir::ModuleOp module, const std::string& text) {
  mlir::OwningOpRef<mlir::ModuleOp> parsed =
      mlir::parseSourceString<mlir::ModuleOp>(text, module.getContext());
  auto function = *parsed->getOps<mlir::func::FuncOp>().begin();
  function->remove();
  mlir::SymbolTable(module).insert(function);
  return function;
}

mlir::func::CallOp call(mlir::OpBuilder& builder, mlir::Location at, const std::string& text,
                        mlir::ValueRange operands) {
  mlir::Block* block = builder.getInsertionBlock();
  mlir::func::FuncOp function =
      insert(block->getParentOp()->getParentOfType<mlir::ModuleOp>(), text);
  return mlir::func::CallOp::create(builder, at, function, operands);
}

} // namespace

DelayedScales::DelayedScales(mlir::func::FuncOp function, std::int64_t history)
    : of(function), length(history) {
  // How many tensors there are is known at the end.
  const auto f32 = mlir::Float32Type::get(function.getContext());
  scales = appendState(function, "octavo.scales", RankedTensorType::get({0}, f32));
  histories = appendState(function, "octavo.histories", RankedTensorType::get({0, history}, f32));
}

DelayedScales::Codes DelayedScales::quantize(mlir::Value value, const format::ElementFormat& format,
                                             int margin, mlir::Value random) {
  mlir::OpBuilder builder(of.getContext());
  builder.setInsertionPointAfterValue(random ? random : value);
  const mlir::Location at = value.getLoc();
  const std::int64_t index = tensors();
  const auto most = static_cast<float>(numerics::maxValue(format));
  largest.push_back(std::ldexp(most, -margin));

  const auto scalar = RankedTensorType::get({}, builder.getF32Type());
  const mlir::Value one = stablehlo::SliceOp::create(
      builder, at, RankedTensorType::get({1}, builder.getF32Type()), scales,
      builder.getDenseI64ArrayAttr({index}), builder.getDenseI64ArrayAttr({index + 1}),
      builder.getDenseI64ArrayAttr({1}));
  const mlir::Value scale = stablehlo::ReshapeOp::create(builder, at, scalar, one);

  auto type = llvm::cast<RankedTensorType>(value.getType()).clone(builder.getF32Type());
  if (value.getType() != type)
    value = stablehlo::ConvertOp::create(builder, at, type, value);
  const auto codes = type.clone(mlirType(of.getContext(), format));
  const auto axes = llvm::map_range(llvm::seq<std::int64_t>(0, type.getRank()),
                                    [](std::int64_t axis) { return std::to_string(axis); });
  const std::string bits = random ? mlir::debugString(random.getType()) : "";
  llvm::SmallVector<mlir::Value> operands = {value, scale};
  if (random)
    operands.push_back(random);
  auto quantized =
      call(builder, at,
           llvm::formatv(kQuantize, mlir::debugString(type), mlir::debugString(codes),
                         llvm::join(axes, ", "), random ? ", %bits: " + bits : "",
                         random ? " random(%bits : " + bits + "), rounding = stochastic" : "")
               .str(),
           operands);
  amaxes.push_back(quantized.getResult(1));
  const mlir::Value unit = stablehlo::ConstantOp::create(
      builder, at, mlir::DenseElementsAttr::get(scalar, llvm::ArrayRef<float>{1.0f}));
  return {quantized.getResult(0), stablehlo::DivOp::create(builder, at, scalar, unit, scale)};
}

void DelayedScales::finish() {
  mlir::OpBuilder builder(of.getBody().front().getTerminator());
  const mlir::Location at = of.getLoc();
  const std::int64_t count = tensors();
  const auto shape = [&](llvm::ArrayRef<std::int64_t> extents) {
    return RankedTensorType::get(extents, builder.getF32Type());
  };
  scales.setType(shape({count}));
  histories.setType(shape({count, length}));

  llvm::SmallVector<mlir::Value> columns;
  for (mlir::Value amax : amaxes)
    columns.push_back(stablehlo::ReshapeOp::create(builder, at, shape({1, 1}), amax));
  const mlir::Value found = stablehlo::ConcatenateOp::create(builder, at, shape({count, 1}),
                                                             columns, builder.getI64IntegerAttr(0));
  const auto most = llvm::map_range(largest, bitsText);
  const std::string roll = llvm::formatv(length > 1 ? kRoll : kRollOne, count, length,
                                         std::max<std::int64_t>(length - 2, 0));
  auto updated = call(builder, at,
                      llvm::formatv(kUpdate, count, length, llvm::join(most, ", "), roll,
                                    bitsText(std::numeric_limits<float>::max()), length - 1)
                          .str(),
                      {scales, histories, found});

  returnState(scales, updated.getResult(0));
  returnState(histories, updated.getResult(1));
}

} // namespace octavo::transforms
