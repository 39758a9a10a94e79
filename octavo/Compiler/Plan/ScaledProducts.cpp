#include "octavo/Compiler/Plan/ScaledProducts.h"

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <tl/expected.hpp>
#include <tuple>

namespace octavo::compiler {

/// On a quantization whose input was converted to f32: the type before.
static constexpr llvm::StringLiteral kCameIn = "came_in";

void widenInput(ir::QuantizeOp quantize) {
  const mlir::Value given = quantize.getOperand();
  mlir::OpBuilder builder(quantize);
  quantize->setAttr(kCameIn, mlir::TypeAttr::get(elementOf(given)));
  quantize->setOperand(0, stablehlo::ConvertOp::create(
                              builder, quantize.getLoc(),
                              mlir::RankedTensorType::get(shapeOf(given), builder.getF32Type()),
                              given));
}

numerics::QuantizeOptions optionsOf(ir::QuantizeOp quantize) {
  const auto cameIn = quantize->getAttrOfType<mlir::TypeAttr>(kCameIn);
  const format::ElementFormat* input =
      elementFormat(cameIn ? cameIn.getValue() : elementOf(quantize.getOperand()));
  return quantize.getQuantization().getOptions(
      mlir::cast<ir::ScaledType>(quantize.getResult().getType()), *input);
}

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

/// A product's form, or why the kernels have none.
template <typename T> using Form = tl::expected<T, std::string>;

tl::unexpected<std::string> none(llvm::StringRef why) { return tl::make_unexpected(why.str()); }

template <typename T> std::optional<T> formOr(Form<T> form, std::string* why) {
  if (form)
    return std::move(*form);
  if (why != nullptr)
    *why = std::move(form.error());
  return std::nullopt;
}

/// Whether blocks have extent 1 on each of some axes, or span all of these axes.
struct BlocksOnAxes {
  bool areOne, areWhole;
  BlocksOnAxes(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> block)
      : areOne(llvm::all_of(block, [](std::int64_t extent) { return extent == 1; })),
        areWhole(shape == block) {}
};

/// A scaled side of a dot as the kernels take it: the matrices of a batch, one after the other.
struct ScaledSide {
  kernels::OperandFormat format;
  std::int64_t count, rows, depth;
  bool isTransposed; ///< each matrix is [depth, rows]
  bool sharesScales; ///< all matrices use the scales of the first
};

Form<ScaledSide> scaledSide(ir::ScaledType type, llvm::ArrayRef<std::int64_t> batching,
                            llvm::ArrayRef<std::int64_t> contracting) {
  if (!type.hasStaticShape())
    return none("the kernels multiply scaled tensors of known extents");
  if (contracting.size() != 1)
    return none("the kernels contract one axis");
  if (!areFirst(batching))
    return none("the axes of its batch are not the first ones");
  const std::size_t batch = batching.size();
  ScaledSide side{};
  side.isTransposed = !contractsLast(contracting, type.getShape().size());
  if (side.isTransposed && contracting.front() != static_cast<std::int64_t>(batch))
    return none("the kernels contract the first or the last axis of a matrix");
  const auto shape = llvm::ArrayRef(type.getShape()), block = llvm::ArrayRef(type.getBlock());
  const auto ofMatrix = [&](llvm::ArrayRef<std::int64_t> extents) {
    extents = extents.drop_front(batch);
    return side.isTransposed ? std::pair(extents.drop_front(), extents.front())
                             : std::pair(extents.drop_back(), extents.back());
  };
  const auto [free, depth] = ofMatrix(shape);
  const auto [across, along] = ofMatrix(block);
  side.depth = depth;
  side.count = numerics::elementCount(shape.take_front(batch));
  side.rows = numerics::elementCount(free);
  if (depth == 0)
    return none("the kernels contract an axis that has elements");
  const BlocksOnAxes ofBatch(shape.take_front(batch), block.take_front(batch));
  side.sharesScales = !ofBatch.areOne;
  if (side.sharesScales && !ofBatch.areWhole)
    return none("its blocks lie across some of its batch");
  const BlocksOnAxes ofFree(free, across);
  side.format = {&*type.getElement(), &*type.getScale(), 1, along};
  if (ofFree.areOne)
    return side;
  if (free.size() != 1 && !ofFree.areWhole)
    return none("the kernels have no form for blocks across some of its axes");
  // One scale for all rows holds for any number of rows, so an open batch can vary it
  // (OpenBatch.h).
  side.format.across = ofFree.areWhole ? format::kWholeAxis : across.front();
  return side;
}

/// The rank of a side of a dot, scaled or not.
std::size_t axesOf(mlir::Value side) {
  const auto scaled = mlir::dyn_cast<ir::ScaledType>(side.getType());
  return scaled ? scaled.getShape().size() : shapeOf(side).size();
}

/// The rows_of_groups that is the only reader of a dot over the matrices of all groups. Null if
/// there is none, or if the dot has no form that the grouped product takes.
ir::RowsOfGroupsOp rowsOfGroups(ir::DotGeneralOp dot) {
  const auto numbers = dot.getDotDimensionNumbers();
  auto rows = dot->hasOneUse() ? llvm::dyn_cast<ir::RowsOfGroupsOp>(*dot->user_begin())
                               : ir::RowsOfGroupsOp();
  const auto right = mlir::dyn_cast<ir::ScaledType>(dot.getRhs().getType());
  const auto freeAxes = [](std::size_t rank, llvm::ArrayRef<std::int64_t> contracting) {
    Axes free;
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis)
      if (!llvm::is_contained(contracting, axis))
        free.push_back(axis);
    return free;
  };
  if (!rows || rows->getBlock() != dot->getBlock() || !right ||
      !numbers.getLhsBatchingDimensions().empty() ||
      freeAxes(axesOf(dot.getLhs()), numbers.getLhsContractingDimensions()).size() != 1)
    return {};
  const Axes columns = freeAxes(right.getShape().size(), numbers.getRhsContractingDimensions());
  const auto sizes = rows.getGroupSizes().getType();
  return !columns.empty() && columns.front() == 0 && right.getShape().front() > 0 &&
                 sizes.getElementType().getIntOrFloatBitWidth() >= 8
             ? rows
             : ir::RowsOfGroupsOp();
}

/// The axes of the right side that count its matrices.
Axes axesOfMatrices(ir::DotGeneralOp dot) {
  return rowsOfGroups(dot) ? Axes{0}
                           : Axes(dot.getDotDimensionNumbers().getRhsBatchingDimensions());
}

/// Whether the scales of each row of a quantized tensor depend on that row alone.
bool isQuantizedByRow(ir::QuantizeOp quantize) {
  const auto type = mlir::cast<ir::ScaledType>(quantize.getResult().getType());
  return type.getBlock().front() == 1 &&
         !(type.getHasOuterScale() && numerics::needsWholeTensor(optionsOf(quantize), true));
}

/// The right side of a product of scaled tensors. Fails if it is not scaled or the result is not
/// f32.
Form<ScaledSide> rightSide(ir::DotGeneralOp dot) {
  const auto numbers = dot.getDotDimensionNumbers();
  const auto type = mlir::dyn_cast<ir::ScaledType>(dot.getRhs().getType());
  if (!type)
    return none("the kernels multiply by a scaled tensor on the right");
  if (!isF32(dot.getResult()))
    return none("the kernels' products of scaled tensors are f32");
  return scaledSide(type, axesOfMatrices(dot), numbers.getRhsContractingDimensions());
}

/// The left side, which must be a scaled tensor.
Form<ScaledSide> leftSide(ir::DotGeneralOp dot) {
  const auto numbers = dot.getDotDimensionNumbers();
  Form<ScaledSide> side =
      scaledSide(mlir::cast<ir::ScaledType>(dot.getLhs().getType()),
                 numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
  if (side && side->isTransposed)
    return none("the kernels contract the last axis of the left side");
  return side;
}

/// The pack operation that makes `side` in the block of the dot; else null.
ir::PackOp packedBeside(ir::DotGeneralOp dot, mlir::Value side) {
  auto pack = side.getDefiningOp<ir::PackOp>();
  return pack && pack->getBlock() == dot->getBlock() ? pack : ir::PackOp();
}

/// Whether the scales of each matrix of a quantized side depend on that matrix alone.
bool isQuantizedByMatrix(ir::QuantizeOp quantize, const ScaledSide& side) {
  const auto type = mlir::cast<ir::ScaledType>(quantize.getResult().getType());
  return side.count == 1 ||
         (!side.sharesScales &&
          !(type.getHasOuterScale() && numerics::needsWholeTensor(optionsOf(quantize), true)));
}

Form<ScaledProduct> scaledForm(ir::DotGeneralOp dot) {
  const Form<ScaledSide> right = rightSide(dot);
  if (!right)
    return tl::make_unexpected(right.error());
  ir::RowsOfGroupsOp rowsOf = rowsOfGroups(dot);
  ScaledProduct product{
      .plan = {},
      .batch = {.count = rowsOf ? 1 : right->count, .sharesRightScales = right->sharesScales},
      .quantize = {},
      .leftParts = {},
      .rightParts = packedBeside(dot, dot.getRhs()),
      .moved = std::nullopt,
      .activations = dot.getLhs(),
      .weight = dot.getRhs(),
      .isTransposed = right->isTransposed,
      .rows = 0,
      .columns = right->rows};
  if (product.rightParts)
    product.moved = movedSide(product.rightParts, matrixAxes(dot));
  if (rowsOf) {
    product.groups = {rowsOf.getGroupSizes(), right->count};
    if (product.moved && isOfProduct(product.moved->choices))
      return none("its groups have matrices that indices choose");
  }
  kernels::OperandFormat format = kernels::floatOperand();
  if (mlir::isa<ir::ScaledType>(dot.getLhs().getType())) {
    product.leftParts = packedBeside(dot, dot.getLhs());
    product.quantize = dot.getLhs().getDefiningOp<ir::QuantizeOp>();
    if (!product.quantize && !product.leftParts)
      return none("its left side is neither quantized nor packed beside it");
    if (product.quantize && product.quantize.getRandomBits())
      return none("its left side is rounded by random bits");
    const Form<ScaledSide> left = leftSide(dot);
    if (!left)
      return tl::make_unexpected(left.error());
    if (product.quantize && !isQuantizedByMatrix(product.quantize, *left))
      return none("its left side is quantized under scales of the whole batch");
    const bool isByRow =
        product.quantize ? isQuantizedByRow(product.quantize)
                         : left->format.across == 1 || left->format.across == format::kWholeAxis;
    if (product.groups && !isByRow)
      return none("its left side has scales of some rows, which may be of several groups");
    format = left->format;
    const auto type = mlir::cast<ir::ScaledType>(dot.getLhs().getType());
    if (product.quantize && type.getHasOuterScale() != (format.scale->name == "e4m3fn"))
      return none("products quantize with an outer scale under E4M3 scales, and under these alone");
    product.batch.sharesLeftScales = left->sharesScales;
    product.activations =
        product.quantize ? product.quantize.getOperand() : product.leftParts.getElements();
  }
  const auto numbers = dot.getDotDimensionNumbers();
  if (!product.leftParts && !isF32(product.activations))
    return none("its left side is not of f32");
  if (!areFirst(numbers.getLhsBatchingDimensions()))
    return none("the axes of its batch are not the first ones");
  if (!contractsLast(numbers.getLhsContractingDimensions(), shapeOf(product.activations).size()))
    return none("the kernels contract the last axis of the left side");
  auto plan = kernels::productPlan(format, right->format, right->depth);
  if (!plan)
    return none(plan.error());
  product.plan = std::move(*plan);
  product.rows = numerics::elementCount(shapeOf(product.activations)
                                            .drop_front(numbers.getLhsBatchingDimensions().size())
                                            .drop_back());
  return product;
}

Form<StoredProduct> storedForm(ir::DotGeneralOp dot) {
  const Form<ScaledSide> right = rightSide(dot);
  if (!right)
    return tl::make_unexpected(right.error());
  if (rowsOfGroups(dot))
    return none("it has groups of rows");
  if (!mlir::isa<ir::ScaledType>(dot.getLhs().getType())) {
    const Form<ScaledProduct> product = scaledForm(dot);
    return product ? none("its left side is no scaled tensor")
                   : tl::make_unexpected(product.error());
  }
  const Form<ScaledSide> left = leftSide(dot);
  if (!left)
    return tl::make_unexpected(left.error());
  const auto plan = kernels::productPlan(left->format, right->format, right->depth);
  if (!plan)
    return none(plan.error());
  return StoredProduct{*plan,
                       {right->count, left->sharesScales, right->sharesScales},
                       right->isTransposed,
                       left->rows,
                       right->rows};
}

} // namespace

std::optional<ScaledProduct> scaledProduct(ir::DotGeneralOp dot, std::string* why) {
  return formOr(scaledForm(dot), why);
}

std::optional<StoredProduct> storedProduct(ir::DotGeneralOp dot, std::string* why) {
  return formOr(storedForm(dot), why);
}

llvm::SmallVector<mlir::Value> ScaledProduct::leftReads() const {
  return leftParts ? llvm::SmallVector<mlir::Value>(leftParts->getOperands())
                   : llvm::SmallVector<mlir::Value>{activations};
}

llvm::SmallVector<mlir::Value> ScaledProduct::rightReads() const {
  llvm::SmallVector<mlir::Value> reads;
  if (moved) {
    reads = moved->parts;
    if (moved->whole)
      reads.push_back(moved->whole);
    for (const Choice& choice : moved->choices)
      reads.push_back(choice.index);
  } else if (rightParts) {
    reads.append(rightParts->operand_begin(), rightParts->operand_end());
  } else {
    reads.push_back(weight);
  }
  if (groups)
    reads.push_back(groups->sizes);
  return reads;
}

std::size_t matrixAxes(ir::DotGeneralOp dot) { return axesOfMatrices(dot).size(); }

ir::RowsOfGroupsOp takenWith(ir::DotGeneralOp dot) {
  return scaledProduct(dot) ? rowsOfGroups(dot) : ir::RowsOfGroupsOp();
}

void takeApart(ir::DotGeneralOp dot) {
  auto quantize = dot.getLhs().getDefiningOp<ir::QuantizeOp>();
  if (!quantize || !rowsOfGroups(dot) || isQuantizedByRow(quantize))
    return;
  mlir::OpBuilder builder(dot);
  builder.setInsertionPointAfter(quantize);
  auto parts = ir::UnpackOp::create(builder, dot.getLoc(), quantize.getResult());
  builder.setInsertionPoint(dot);
  dot.getLhsMutable().assign(ir::PackOp::create(builder, dot.getLoc(),
                                                quantize.getResult().getType(), parts.getElements(),
                                                parts.getScales(), parts.getOuter()));
}

void layOutParts(ir::PackOp op) {
  for (mlir::OpOperand& part : op->getOpOperands()) {
    auto broadcast = part.get().getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!broadcast || sizeOf(part.get()) != sizeOf(broadcast.getOperand()) ||
        !llvm::is_sorted(broadcast.getBroadcastDimensions()))
      continue;
    mlir::OpBuilder builder(op);
    part.set(stablehlo::ReshapeOp::create(builder, op->getLoc(), part.get().getType(),
                                          broadcast.getOperand()));
  }
}

bool isTakenInParts(ir::PackOp op) {
  return llvm::all_of(op.getResult().getUsers(), [&](mlir::Operation* user) {
    auto dot = mlir::dyn_cast<ir::DotGeneralOp>(user);
    const std::optional<ScaledProduct> product =
        dot && dot->getBlock() == op->getBlock() ? scaledProduct(dot) : std::nullopt;
    return product && (!product->quantize || isPackedForProducts(product->quantize));
  });
}

static thread_local KnownPackings* knownPackings = nullptr;

KnownPackings::KnownPackings() : around(std::exchange(knownPackings, this)) {}
KnownPackings::~KnownPackings() { knownPackings = around; }

static bool areProductsOfOnePlan(ir::QuantizeOp op) {
  std::optional<ScaledProduct> first;
  return llvm::all_of(op.getResult().getUsers(), [&](mlir::Operation* user) {
    auto dot = mlir::dyn_cast<ir::DotGeneralOp>(user);
    if (!dot || dot.getLhs() != op.getResult() || dot.getRhs() == op.getResult())
      return false;
    const std::optional<ScaledProduct> product = scaledProduct(dot);
    if (!product)
      return false;
    const kernels::OperandFormat& right = product->plan.right;
    const bool isSame =
        !first ||
        (first->plan.right.element == right.element && first->plan.right.scale == right.scale &&
         first->plan.right.across == right.across && first->plan.right.along == right.along &&
         first->plan.depth == product->plan.depth && first->batch.count == product->batch.count &&
         first->groups == product->groups);
    first = product;
    return isSame;
  });
}

bool isPackedForProducts(ir::QuantizeOp op) {
  if (knownPackings == nullptr)
    return areProductsOfOnePlan(op);
  const auto found = knownPackings->known.find(op);
  if (found != knownPackings->known.end())
    return found->second;
  const bool isPacked = areProductsOfOnePlan(op);
  knownPackings->known[op] = isPacked;
  return isPacked;
}

QuantizationSource quantizationSource(ir::QuantizeOp op) {
  const QuantizationSource plain{op.getOperand(), op.getRandomBits(), false};
  const auto given = [](mlir::Value value) {
    auto transpose =
        value ? value.getDefiningOp<stablehlo::TransposeOp>() : stablehlo::TransposeOp();
    return transpose && transpose.getPermutation() == llvm::ArrayRef<std::int64_t>{1, 0}
               ? transpose.getOperand()
               : mlir::Value();
  };
  if (!isF32(plain.values) || isPackedForProducts(op))
    return plain;
  const mlir::Value values = given(plain.values), bits = given(plain.randomBits);
  QuantizationSource source = plain;
  if (values && (!plain.randomBits || bits))
    source = {values, bits, true};
  if (!source.randomBits)
    source.kept = keptSlice(source.values);
  return source;
}

} // namespace octavo::compiler
