// The pass octavo-narrow-collectives: collectives exchange codes and scales instead of wide values.
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Transforms/Export/CollectiveWriting.h"
#include "octavo/Transforms/Legalize/ScaleArithmetic.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_NARROWCOLLECTIVES
#include "octavo/Transforms/Passes.h.inc"

namespace {

std::int64_t bytes(mlir::Value value) {
  return elementCount(shapeOf(value)) * typeOf(value).getElementTypeBitWidth() / 8;
}

bool isExchange(mlir::Operation* op) {
  return llvm::isa<stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
                   stablehlo::CollectiveBroadcastOp>(op);
}

/// Bytes that are exchanged for the parts; scales that every process has are not exchanged.
std::int64_t exchangedBytes(const Dequantized& parts) {
  const bool moves = parts.scales && parts.scales.getDefiningOp() != nullptr &&
                     isExchange(parts.scales.getDefiningOp());
  return bytes(parts.elements) + (moves ? bytes(parts.scales) : 0);
}

/// Whether a reduction's function adds its arguments.
bool isSum(mlir::Region& region) {
  mlir::Block& body = region.front();
  return llvm::hasNItems(body, 2) && llvm::isa<stablehlo::AddOp>(body.front()) &&
         body.front().getOperand(0) != body.front().getOperand(1) &&
         llvm::all_of(body.front().getOperands(),
                      [](mlir::Value each) { return llvm::isa<mlir::BlockArgument>(each); });
}

/// Whether an all_to_all can have the groups of such an operation: with one replica, or without a
/// channel.
bool hasGroupsOfAllToAll(mlir::Operation* op, bool isGlobal, bool hasChannel) {
  const auto replicas =
      op->getParentOfType<mlir::ModuleOp>()->getAttrOfType<mlir::IntegerAttr>("mhlo.num_replicas");
  return !hasChannel || (isGlobal && (!replicas || replicas.getInt() == 1));
}

/// How the part of one process in an all_gather along an axis can be quantized before it.
struct PartQuantization {
  bool isBeyond = false;  ///< blocks extend beyond the part
  bool needsAmax = false; ///< scales need the amax of all parts
  std::string obstacle = {};
};

PartQuantization partQuantization(ir::ScaledType type, ir::QuantizationAttr quantization,
                                  mlir::Type element, std::size_t axis, std::int64_t extent) {
  const std::int64_t block = type.getBlock()[axis];
  PartQuantization part{.isBeyond = block >= type.getShape()[axis]};
  const bool isGiven = quantization.getOptions(type, *elementFormat(element)).amax.has_value();
  part.needsAmax = (part.isBeyond || type.getHasOuterScale()) && !isGiven;
  if (!part.isBeyond && extent % block != 0)
    part.obstacle = llvm::formatv("parts of {0} cut its blocks of {1}", extent, block);
  else if (part.needsAmax && !isOfAmaxAlone(type, quantization, element))
    part.obstacle = "with these settings the amax of all parts cannot be given";
  return part;
}

struct NarrowCollectives : impl::NarrowCollectivesBase<NarrowCollectives> {
  using NarrowCollectivesBase::NarrowCollectivesBase;

  void runOnOperation() override {
    llvm::SmallVector<stablehlo::AllReduceOp> reductions;
    getOperation().walk([&](stablehlo::AllReduceOp op) { reductions.push_back(op); });
    for (stablehlo::AllReduceOp op : reductions)
      scatterAndGather(op);
    llvm::SmallVector<mlir::Operation*> exchanges;
    llvm::SmallVector<stablehlo::ReduceScatterOp> scatters;
    llvm::SmallVector<ir::QuantizeOp> quantizations;
    getOperation().walk([&](mlir::Operation* op) {
      if (isExchange(op))
        exchanges.push_back(op);
      if (auto scatter = llvm::dyn_cast<stablehlo::ReduceScatterOp>(op))
        scatters.push_back(scatter);
      if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op))
        quantizations.push_back(quantize);
    });
    llvm::SetVector<mlir::Operation*> left;
    {
      DequantizationTraces origins;
      for (mlir::Operation* op : exchanges)
        if (narrowExchange(op, origins))
          left.insert(op);
      for (stablehlo::ReduceScatterOp op : scatters)
        narrowReduceScatter(op, origins, left);
    }
    for (ir::QuantizeOp op : quantizations)
      quantizeBefore(op, left);
    eraseUnused(std::move(left));
  }

  /// Dequantizes parts right after the last of them is computed.
  static mlir::Value dequantized(mlir::Operation* after, const Dequantized& parts,
                                 mlir::Type type) {
    mlir::OpBuilder builder(after->getContext());
    builder.setInsertionPointAfter(after);
    const mlir::Value scaled = packed(builder, after->getLoc(), parts);
    const mlir::Value wide = ir::DequantizeOp::create(
        builder, after->getLoc(), typeOf(parts.elements).clone(builder.getF32Type()), scaled);
    return wide.getType() == type
               ? wide
               : stablehlo::ConvertOp::create(builder, after->getLoc(), type, wide);
  }

  static void tell(mlir::Operation* op, std::int64_t narrow, std::int64_t wide) {
    op->emitRemark() << "this collective moves codes and scales: " << narrow
                     << " bytes to a process in place of " << wide;
  }

  static void tellObstacle(mlir::Operation* op, const DequantizationTrace& origin) {
    if (const auto* obstacle = std::get_if<Obstacle>(&origin))
      op->emitRemark() << "this collective moves wide values, though narrow ones are behind them: '"
                       << obstacle->op->getName().getStringRef() << "' " << obstacle->reason << "; "
                       << obstacle->remedy;
  }

  /// Exchanges codes instead of the results' values; returns whether it could for any result.
  static bool narrowExchange(mlir::Operation* op, DequantizationTraces& origins) {
    bool any = false;
    for (mlir::OpResult result : op->getResults()) {
      if (isCodes(result))
        continue;
      const DequantizationTrace origin = origins.of(result);
      tellObstacle(op, origin);
      const auto* parts = std::get_if<Dequantized>(&origin);
      if (parts == nullptr || exchangedBytes(*parts) >= bytes(result))
        continue;
      tell(op, exchangedBytes(*parts), bytes(result));
      result.replaceAllUsesWith(dequantized(op, *parts, result.getType()));
      any = true;
    }
    return any;
  }

  /// Each process receives the parts that it sums from all others, and sums their values in f32, in
  /// group order.
  static void narrowReduceScatter(stablehlo::ReduceScatterOp op, DequantizationTraces& origins,
                                  llvm::SetVector<mlir::Operation*>& left) {
    const mlir::Value operand = op.getOperand();
    const DequantizationTrace origin = origins.of(operand);
    tellObstacle(op, origin);
    const auto* of = std::get_if<Dequantized>(&origin);
    if (of == nullptr || of->elements == operand || !isSum(op.getComputation()))
      return;
    if (!hasGroupsOfAllToAll(op, op.getUseGlobalDeviceIds(), op.getChannelHandle().has_value()))
      return;
    const auto axis = static_cast<std::int64_t>(op.getScatterDimension());
    const llvm::ArrayRef<std::int64_t> from = shapeOf(operand), to = shapeOf(op.getResult());
    const std::int64_t count =
        from[static_cast<std::size_t>(axis)] / to[static_cast<std::size_t>(axis)];
    mlir::OpBuilder builder(op);
    const mlir::Location location = op.getLoc();
    Extents one(1, 1), all(1, count);
    one.append(from.begin(), from.end());
    all.append(to.begin(), to.end());
    const mlir::Value apart =
        stablehlo::ReshapeOp::create(builder, location, typeOf(operand).clone(one), operand);
    auto exchange = stablehlo::AllToAllOp::create(
        builder, location, mlir::TypeRange(typeOf(operand).clone(all)), mlir::ValueRange(apart),
        builder.getI64IntegerAttr(axis + 1), builder.getI64IntegerAttr(0),
        builder.getI64IntegerAttr(count), op.getReplicaGroupsAttr(), freshChannel(op));
    left.insert(exchange);
    const DequantizationTrace exchanged = origins.of(exchange->getResult(0));
    const auto* parts = std::get_if<Dequantized>(&exchanged);
    if (parts == nullptr || exchangedBytes(*parts) >= bytes(exchange->getResult(0)))
      return;
    tell(op, exchangedBytes(*parts), bytes(exchange->getResult(0)));
    const mlir::Type f32 = builder.getF32Type();
    const mlir::Value wide =
        dequantized(exchange, *parts, typeOf(exchange->getResult(0)).clone(f32));
    const auto scalar = mlir::RankedTensorType::get({}, f32);
    const mlir::Value zero = stablehlo::ConstantOp::create( // -0 keeps a sum of -0
        builder, location,
        mlir::DenseElementsAttr::get(scalar,
                                     llvm::APFloat::getZero(llvm::APFloat::IEEEsingle(), true)));
    auto sum = stablehlo::ReduceOp::create(
        builder, location, mlir::TypeRange(typeOf(op.getResult()).clone(f32)),
        mlir::ValueRange(wide), mlir::ValueRange(zero), builder.getDenseI64ArrayAttr({0}));
    mlir::Block& body = sum.getBody().emplaceBlock();
    body.addArguments({scalar, scalar}, {location, location});
    mlir::OpBuilder inner = mlir::OpBuilder::atBlockBegin(&body);
    stablehlo::ReturnOp::create(
        inner, location,
        stablehlo::AddOp::create(inner, location, scalar, body.getArgument(0), body.getArgument(1))
            .getResult());
    mlir::Value result = sum->getResult(0);
    if (result.getType() != op.getType())
      result = stablehlo::ConvertOp::create(builder, location, op.getType(), result);
    op.getResult().replaceAllUsesWith(result);
    op->erase();
  }

  /// Replaces an all_reduce by a sum that is quantized afterwards by a reduce_scatter and an
  /// all_gather, between which the quantization then goes. With `all-reduce`, also a sum of
  /// dequantized values, which is then rounded to their format.
  void scatterAndGather(stablehlo::AllReduceOp op) {
    if (op->getNumOperands() != 1 || !typeOf(op->getOperand(0)) || !isSum(op.getComputation()))
      return;
    const mlir::Value operand = op->getOperand(0);
    mlir::Value result = op->getResult(0);
    const auto groups = llvm::dyn_cast<mlir::DenseIntElementsAttr>(op.getReplicaGroups());
    const std::int64_t count = groups ? groups.getType().getDimSize(1) : 0;
    if (count < 2 || llvm::is_contained(groups.getValues<std::int64_t>(), -1) ||
        !hasGroupsOfAllToAll(op, op.getUseGlobalDeviceIds(), op.getChannelHandle().has_value()))
      return;
    auto after = result.hasOneUse() ? llvm::dyn_cast<ir::QuantizeOp>(*result.getUsers().begin())
                                    : ir::QuantizeOp();
    ir::ScaledType type;
    ir::QuantizationAttr quantization;
    if (after && !after.getRandomBits()) {
      type = llvm::cast<ir::ScaledType>(after.getType());
      quantization = after.getQuantization();
    } else if (allReduce) {
      type = scaledTypeOf(op);
      if (!type)
        return;
      after = {};
      quantization = ir::QuantizationAttr::get(
          op.getContext(),
          numerics::QuantizeOptions{.rule = type.getScale()->trailingSignificandBits == 0
                                                ? format::ScaleRule::Floor
                                                : format::ScaleRule::Nearest});
    } else {
      return;
    }
    const auto axis = scatteredAxis(type, quantization, operand, count);
    if (!axis) {
      op.emitRemark() << "this collective moves wide values, though narrow ones are about it: no "
                         "axis has parts of whole blocks of "
                      << type << " for " << count << " processes";
      return;
    }
    mlir::OpBuilder builder(op);
    const mlir::Location location = op.getLoc();
    Extents part(shapeOf(operand));
    part[*axis] /= count;
    const auto partType = typeOf(operand).clone(part);
    auto scatter = stablehlo::ReduceScatterOp::create(
        builder, location, partType, operand,
        builder.getI64IntegerAttr(static_cast<std::int64_t>(*axis)), op.getReplicaGroupsAttr(),
        freshChannel(op), op.getUseGlobalDeviceIdsAttr());
    scatter.getComputation().takeBody(op.getComputation());
    auto gather = stablehlo::AllGatherOp::create(
        builder, location, mlir::TypeRange(operand.getType()),
        mlir::ValueRange(scatter.getResult()),
        builder.getI64IntegerAttr(static_cast<std::int64_t>(*axis)), op.getReplicaGroupsAttr(),
        freshChannel(scatter), op.getUseGlobalDeviceIdsAttr());
    mlir::Value whole = gather->getResult(0);
    if (!after) {
      op.emitRemark() << "the sum of this collective is rounded to " << type
                      << ", the format of what it adds, which changes values";
      const mlir::Value narrow =
          ir::QuantizeOp::create(builder, location, type, whole, mlir::Value(), quantization);
      whole = ir::DequantizeOp::create(builder, location, typeOf(whole).clone(builder.getF32Type()),
                                       narrow);
      if (whole.getType() != result.getType())
        whole = stablehlo::ConvertOp::create(builder, location, result.getType(), whole);
    }
    result.replaceAllUsesWith(whole);
    op->erase();
  }

  /// The scaled type of the values that an all_reduce adds; null if they are not dequantized.
  static ir::ScaledType scaledTypeOf(stablehlo::AllReduceOp op) {
    DequantizationTraces origins;
    const mlir::Value operand = op->getOperand(0);
    const DequantizationTrace origin = origins.of(operand);
    tellObstacle(op, origin);
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (parts == nullptr || parts->elements == operand)
      return {};
    mlir::OpBuilder builder(op);
    auto pack = packed(builder, op.getLoc(), *parts).getDefiningOp<ir::PackOp>();
    const auto type = llvm::cast<ir::ScaledType>(pack.getType());
    pack->erase();
    return type;
  }

  /// An axis whose parts can be quantized separately, preferably one that does not need the amax of
  /// all parts.
  static std::optional<std::size_t> scatteredAxis(ir::ScaledType type,
                                                  ir::QuantizationAttr quantization,
                                                  mlir::Value operand, std::int64_t count) {
    std::optional<std::size_t> withAmax;
    for (std::size_t axis = 0; axis < type.getShape().size(); ++axis) {
      const std::int64_t extent = type.getShape()[axis];
      if (extent == 0 || extent % count != 0)
        continue;
      const PartQuantization part = partQuantization(
          type, quantization, typeOf(operand).getElementType(), axis, extent / count);
      if (!part.obstacle.empty())
        continue;
      if (!part.needsAmax)
        return axis;
      if (!withAmax)
        withAmax = axis;
    }
    return withAmax;
  }

  /// Quantizes the parts of an all_gather before it. Blocks that extend beyond a part, and outer
  /// scales, need the amax of all parts.
  static void quantizeBefore(ir::QuantizeOp op, llvm::SetVector<mlir::Operation*>& left) {
    auto gather = op.getOperand().getDefiningOp<stablehlo::AllGatherOp>();
    const auto type = llvm::cast<ir::ScaledType>(op.getType());
    if (!gather || gather->getNumOperands() != 1 || !typeOf(gather->getOperand(0)) ||
        !typeOf(op.getOperand()) || op.getRandomBits())
      return;
    const auto axis = static_cast<std::size_t>(gather.getAllGatherDim());
    const mlir::Value part = gather->getOperand(0);
    const std::int64_t extent = shapeOf(part)[axis];
    const auto [isBeyond, needsAmax, obstacle] =
        partQuantization(type, op.getQuantization(), typeOf(part).getElementType(), axis, extent);
    if (!obstacle.empty()) {
      op.emitRemark() << "this quantizes what all_gather brings: " << obstacle;
      return;
    }
    llvm::SmallVector<std::int64_t> block(type.getBlock());
    if (isBeyond)
      block[axis] = extent;
    const auto partType = ir::ScaledType::get(op.getContext(), shapeOf(part), type.getElement(),
                                              type.getScale(), block, type.getHasOuterScale());
    mlir::OpBuilder builder(op);
    ScaledParts parts;
    if (!needsAmax) {
      const mlir::Value scaled = ir::QuantizeOp::create(builder, op.getLoc(), partType, part,
                                                        mlir::Value(), op.getQuantization());
      auto unpack = ir::UnpackOp::create(builder, op.getLoc(), scaled);
      parts = {unpack.getElements(), unpack.getScales(), unpack.getOuter()};
    } else {
      const auto maximum = [&](mlir::Value amax) {
        return allReducedMaximum(builder, gather, amax);
      };
      AmaxOfWhole whole;
      if (isBeyond)
        whole.ofBlocks = maximum;
      else
        whole.ofTensor = maximum;
      parts =
          emitQuantize(builder, op.getLoc(), part, nullptr, partType, op.getQuantization(), whole);
    }
    // Scales of blocks that extend beyond the parts are the same in every process.
    llvm::SmallVector<mlir::Value> operands = {parts.elements};
    llvm::SmallVector<mlir::Type> types = {type.getElementsType()};
    if (!isBeyond) {
      operands.push_back(parts.scales);
      types.push_back(type.getScalesType());
    }
    auto narrow = stablehlo::AllGatherOp::create(
        builder, gather.getLoc(), types, operands, gather.getAllGatherDimAttr(),
        gather.getReplicaGroupsAttr(), freshChannel(gather), gather.getUseGlobalDeviceIdsAttr());
    std::int64_t moved = 0;
    for (mlir::Value result : narrow->getResults())
      moved += bytes(result);
    if (needsAmax)
      gather->emitRemark() << "this collective is preceded by an all_reduce of amax, which "
                           << (isBeyond ? "blocks beyond a part need" : "an outer scale needs");
    tell(gather, moved, bytes(op.getOperand()));
    op.getResult().replaceAllUsesWith(
        ir::PackOp::create(builder, op.getLoc(), type, narrow->getResult(0),
                           isBeyond ? parts.scales : narrow->getResult(1), parts.outer));
    op->erase();
    left.insert(gather);
  }
};

} // namespace

} // namespace octavo::transforms
