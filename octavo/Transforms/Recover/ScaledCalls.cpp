#include "octavo/Transforms/Recover/ScaledCalls.h"

#include "octavo/Dialect/ConfigurationJson.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using stablehlo::DotDimensionNumbersAttr;

/// Whether octavo.dot_general takes the value as a plain side.
bool isPlain(mlir::Value value) {
  const mlir::Type element = mlir::getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isBF16() || element.isF16();
}

bool hasKnownExtents(mlir::Value value) { return static_cast<bool>(typeOf(value)); }

/// Elements with a grid of scales; nullopt if they do not fit.
std::optional<Dequantized> inBlocks(mlir::Value elements, mlir::Value scales) {
  if (!isCodes(elements) || !canBeScale(scales) ||
      shapeOf(elements).size() != shapeOf(scales).size())
    return {};
  Dequantized parts{elements, scales};
  for (auto [extent, blocks] : llvm::zip_equal(shapeOf(elements), shapeOf(scales))) {
    if (blocks < 1 || extent < 1 || extent % blocks != 0)
      return {};
    parts.block.push_back(extent / blocks);
  }
  return parts;
}

/// Parts with blocks of `size` along the last axis. There may be more scales than the elements
/// need.
std::optional<Dequantized> alongLast(mlir::Operation* op, mlir::Value elements, mlir::Value scales,
                                     std::optional<std::int64_t> size) {
  const auto extents = shapeOf(elements), given = shapeOf(scales);
  if (!isCodes(elements) || !canBeScale(scales) || extents.empty() ||
      extents.size() != given.size() || extents.back() < 1 || given.back() < 1)
    return {};
  if (!size && extents.back() % given.back() == 0)
    size = extents.back() / given.back();
  if (!size || *size < 1)
    return {};
  Extents grid(extents);
  grid.back() = (extents.back() + *size - 1) / *size;
  for (auto [needed, found] : llvm::zip_equal(grid, given))
    if (found < needed)
      return {};
  Dequantized parts{elements, scales, Extents(extents.size(), 1)};
  parts.block.back() = std::min(*size, extents.back());
  if (llvm::ArrayRef(grid) != given) {
    mlir::OpBuilder builder(op);
    const Extents zeros(grid.size(), 0), ones(grid.size(), 1);
    parts.scales = stablehlo::SliceOp::create(builder, op->getLoc(), typeOf(scales).clone(grid),
                                              scales, zeros, grid, ones);
  }
  return parts;
}

/// The block size in a backend_config. XLA reads the key block_scaled_dot_backend_config; JAX
/// writes scaled_dot_backend_config, which XLA ignores.
std::optional<std::int64_t> configuredBlockSize(stablehlo::CustomCallOp op) {
  auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(op.getBackendConfigAttr());
  const std::optional<llvm::json::Value> json = configurationJson(text ? text.getValue() : "");
  if (!json)
    return {};
  const llvm::json::Object* config = json->getAsObject();
  const llvm::json::Object* own =
      config != nullptr ? config->getObject("block_scaled_dot_backend_config") : nullptr;
  const auto size = own != nullptr ? own->getInteger("block_size") : std::nullopt;
  return size && *size > 0 ? std::optional<std::int64_t>(*size) : std::nullopt;
}

/// Whether a custom sharding rule is ([i, j, k], [i, l, k], [i, j, k], [i, l, k])->([i, j, l]).
bool isRuleOfScaledMatmul(sdy::OpShardingRuleAttr rule) {
  constexpr std::int64_t kRule[5][3] = {{0, 1, 2}, {0, 3, 2}, {0, 1, 2}, {0, 3, 2}, {0, 1, 3}};
  if (!rule || !rule.getIsCustomRule() || rule.getOperandMappings().size() != 4 ||
      rule.getResultMappings().size() != 1)
    return false;
  for (std::size_t i = 0; i < 5; ++i) {
    const auto axes =
        (i < 4 ? rule.getOperandMappings()[i] : rule.getResultMappings()[0]).getDimMappings();
    if (axes.size() != 3)
      return false;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (axes[axis].getFactorIndices() != llvm::ArrayRef(kRule[i][axis]))
        return false;
  }
  return true;
}

bool isPartitionedMatmul(stablehlo::CustomCallOp op) {
  return op.getCallTargetName() == "CustomSPMDPartitioning" && op->getNumResults() == 1 &&
         isRuleOfScaledMatmul(op->getAttrOfType<sdy::OpShardingRuleAttr>("sdy.sharding_rule")) &&
         llvm::all_of(op->getOperands(), hasKnownExtents) && isCodes(op->getOperand(0)) &&
         isCodes(op->getOperand(1)) && canBeScale(op->getOperand(2)) &&
         canBeScale(op->getOperand(3)) && isPlain(op->getResult(0));
}

std::optional<Extents> axesOf(mlir::Attribute attribute) {
  Extents axes;
  auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  if (!list)
    return {};
  for (mlir::Attribute each : list) {
    auto number = llvm::dyn_cast<mlir::IntegerAttr>(each);
    if (!number)
      return {};
    axes.push_back(number.getInt());
  }
  return axes;
}

std::string typeName(mlir::Value value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::getElementTypeOrSelf(value.getType()).print(out);
  return text;
}

Obstacle hasResultOf(mlir::Operation* op) {
  return {op, "has a result of " + typeName(op->getResult(0)),
          "multiply to f32, and convert the result"};
}

Obstacle fitsNoBlock(mlir::Operation* op) {
  return {op, "has scales of a shape that fits no block",
          "give as many scales as divide the extent"};
}

Obstacle hasOpenExtents(mlir::Operation* op) {
  return {op, "has extents that are not known",
          "give the arguments types of known extents, as --octavo-refine-shapes does"};
}

/// Reads jax.lax.scaled_dot. dimension_numbers = [[lhs contracting, rhs contracting], [lhs batch,
/// rhs batch]].
std::variant<ScaledCall, Obstacle> readComposite(stablehlo::CompositeOp op) {
  std::optional<Extents> axes[4];
  auto numbers =
      llvm::dyn_cast_or_null<mlir::ArrayAttr>(op.getCompositeAttributes().get("dimension_numbers"));
  for (std::size_t i = 0; numbers && numbers.size() == 2 && i < 4; ++i) {
    auto both = llvm::dyn_cast<mlir::ArrayAttr>(numbers[i / 2]);
    if (both && both.size() == 2)
      axes[i] = axesOf(both[i % 2]);
  }
  if (op.getNumOperands() != 4 || op.getNumResults() != 1 ||
      !llvm::all_of(axes, [](auto& each) { return each.has_value(); }))
    return Obstacle{op, "is not as JAX writes it", "call jax.lax.scaled_dot"};
  if (!llvm::all_of(op.getOperands(), hasKnownExtents))
    return hasOpenExtents(op);
  if (!isPlain(op.getResult(0)))
    return hasResultOf(op);
  ScaledCall call;
  call.dimensions =
      DotDimensionNumbersAttr::get(op.getContext(), *axes[2], *axes[3], *axes[0], *axes[1]);
  for (unsigned i = 0; i < 2; ++i) {
    const mlir::Value side = op.getOperand(i), scales = op.getOperand(i + 2);
    if (isPlain(side)) { // JAX gives a side without scales a scale of 1
      if (splatNumber(scales) != 1.0)
        return Obstacle{op, "scales values of " + typeName(side), "quantize them"};
      call.sides[i].wide = side;
      continue;
    }
    call.sides[i].parts = inBlocks(side, scales);
    if (!call.sides[i].parts)
      return fitsNoBlock(op);
  }
  return call;
}

/// A tensor of one element as a scalar of type `element`.
mlir::Value scalarOf(mlir::Operation* op, mlir::Value one, mlir::Type element) {
  mlir::OpBuilder builder(op);
  const mlir::RankedTensorType type = mlir::RankedTensorType::get({}, element);
  if (typeOf(one).getElementType() != element)
    one = stablehlo::ConvertOp::create(builder, op->getLoc(), typeOf(one).clone(element), one);
  return one.getType() == type ? one
                               : stablehlo::ReshapeOp::create(builder, op->getLoc(), type, one);
}

/// Reads [B,] M, K times [B,] N, K, with scales of the left, scales of the right, and a global
/// scale of the result.
std::variant<ScaledCall, Obstacle> readBlockScaledDot(stablehlo::CustomCallOp op) {
  const std::size_t operands = op.getNumOperands();
  if (!llvm::all_of(op.getOperands(), hasKnownExtents))
    return hasOpenExtents(op);
  const std::int64_t rank = operands > 0 ? typeOf(op.getOperand(0)).getRank() : 0;
  if (operands < 3 || operands > 5 || (rank != 2 && rank != 3) || op.getNumResults() != 1 ||
      !isPlain(op.getResult(0)) || typeOf(op.getOperand(1)).getRank() != rank)
    return Obstacle{op, "has operands or a result of other types than XLA's call",
                    "call it as jax.nn.scaled_matmul does"};
  const Extents batching(rank == 3 ? 1 : 0, 0), contracting(1, rank - 1);
  ScaledCall call;
  call.dimensions =
      DotDimensionNumbersAttr::get(op.getContext(), batching, batching, contracting, contracting);
  if (operands == 5) {
    call.global = op.getOperand(4);
    if (elementCount(shapeOf(call.global)) != 1 || elementFormatOf(call.global) == nullptr)
      return Obstacle{op, "has a global scale that is not one number", "give it one"};
    call.global = scalarOf(op, call.global, typeOf(op.getResult(0)).getElementType());
  }
  const std::optional<std::int64_t> blockSize = configuredBlockSize(op);
  for (unsigned i = 0; i < 2; ++i) {
    const mlir::Value side = op.getOperand(i);
    ScaledCall::Side& read = call.sides[i];
    if (i + 2 >= operands && isPlain(side))
      read.wide = side;
    else if (i + 2 >= operands)
      read.parts = Dequantized{side};
    else
      read.parts = alongLast(op, side, op.getOperand(i + 2), blockSize);
    if (!read.wide && !read.parts)
      return fitsNoBlock(op);
  }
  // A global scale becomes an outer scale (D5). If the program multiplies two outer scales to make
  // it, each side gets one of them.
  const auto takesOuter = [](const ScaledCall::Side& side) {
    const format::ElementFormat* scales =
        side.parts && side.parts->scales ? elementFormatOf(side.parts->scales) : nullptr;
    return scales != nullptr && scales->isNarrow() && scales->trailingSignificandBits > 0;
  };
  if (call.global && llvm::all_of(call.sides, takesOuter) &&
      call.global.getType() ==
          mlir::RankedTensorType::get({}, mlir::Float32Type::get(op.getContext())) &&
      mlir::getElementTypeOrSelf(op.getResult(0).getType()).isF32()) {
    auto product = call.global.getDefiningOp<stablehlo::MulOp>();
    call.sides[0].parts->outer = product ? product.getLhs() : call.global;
    if (product)
      call.sides[1].parts->outer = product.getRhs();
    call.global = {};
  }
  return call;
}

} // namespace

bool isScaledCall(mlir::Operation* op) {
  if (auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op))
    return composite.getName() == "xla.scaled_dot";
  auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op);
  return call && (call.getCallTargetName() == "__op$block_scaled_dot" || isPartitionedMatmul(call));
}

std::variant<ScaledCall, Obstacle> scaledCall(mlir::Operation* op) {
  if (auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op))
    return readComposite(composite);
  return readBlockScaledDot(llvm::cast<stablehlo::CustomCallOp>(op));
}

} // namespace octavo::transforms
