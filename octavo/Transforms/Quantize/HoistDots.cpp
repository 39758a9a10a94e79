#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/LoopInvariants.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/TensorFacts.h"
#include "octavo/Transforms/Walks/TripCount.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace octavo::transforms {

#define GEN_PASS_DEF_HOISTDOTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

using Axes = llvm::SmallVector<std::int64_t>;
using mlir::RankedTensorType;
using stablehlo::DotDimensionNumbersAttr;

/// The most bytes of a hoisted product, which the iterations should still find in a last-level
/// cache.
constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;

/// From this many rows on, arithmetic outweighs what hoisting saves: reading the other side again
/// and starting threads. On AVX2 with two threads, hoisting gains 9 % on an LSTM of 16 rows, 4 % on
/// one of 48.
constexpr std::int64_t kManyRows = 32;

/// Up to this many rows, products of scaled floats sum in another order (Product.h).
constexpr std::int64_t kFewRows = 16;

/// A side of a dot that is a slice of one stack, a different one in each iteration.
struct SlicedSide {
  mlir::Value stack, start;                 ///< values inside the loop
  llvm::SmallVector<mlir::Operation*> made; ///< operations between the slice and the side
                                            ///< (converts, a quantization), the last one first
  std::int64_t axis = 0;                    ///< the stack's sliced axis
  bool isDropped = false;                   ///< the side lacks that axis
  std::int64_t begin = 0, extent = 0;       ///< the range on `axis` that all iterations read
                                            ///< together

  /// Maps axes of the side to axes of the stack.
  Axes ofStack(llvm::ArrayRef<std::int64_t> axes) const {
    return llvm::to_vector(llvm::map_range(
        axes, [&](std::int64_t each) { return isDropped && each >= axis ? each + 1 : each; }));
  }
};

/// A dot_general of StableHLO or octavo, all extents known.
struct Dot {
  mlir::Operation* op;
  DotDimensionNumbersAttr numbers;

  mlir::Value side(unsigned number) const { return op->getOperand(number); }
  llvm::ArrayRef<std::int64_t> batching(unsigned number) const {
    return number == 0 ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
  }
  llvm::ArrayRef<std::int64_t> contracting(unsigned number) const {
    return number == 0 ? numbers.getLhsContractingDimensions()
                       : numbers.getRhsContractingDimensions();
  }
  mlir::RankedTensorType result() const { return typeOf(op->getResult(0)); }
};

std::optional<llvm::ArrayRef<std::int64_t>> knownShape(mlir::Value value) {
  if (auto scaled = llvm::dyn_cast<ir::ScaledType>(value.getType()))
    return scaled.hasStaticShape() ? std::optional(scaled.getShape()) : std::nullopt;
  return typeOf(value) ? std::optional(typeOf(value).getShape()) : std::nullopt;
}

std::optional<Dot> dotOf(mlir::Operation* op) {
  Dot dot{op, {}};
  if (auto plain = llvm::dyn_cast<stablehlo::DotGeneralOp>(op); plain && !plain.getAlgorithm())
    dot.numbers = plain.getDotDimensionNumbers();
  else if (auto scaled = llvm::dyn_cast<ir::DotGeneralOp>(op))
    dot.numbers = scaled.getDotDimensionNumbers();
  return dot.numbers && knownShape(dot.side(0)) && knownShape(dot.side(1)) && dot.result()
             ? std::optional(dot)
             : std::nullopt;
}

/// The free axes of a side, in order.
Axes freeAxes(std::size_t rank, llvm::ArrayRef<std::int64_t> batching,
              llvm::ArrayRef<std::int64_t> contracting) {
  Axes free;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis)
    if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis))
      free.push_back(axis);
  return free;
}

std::int64_t rowsOf(const Dot& dot, unsigned side) {
  const llvm::ArrayRef<std::int64_t> shape = *knownShape(dot.side(side));
  return elementCount(
      permuted(shape, freeAxes(shape.size(), dot.batching(side), dot.contracting(side))));
}

std::int64_t bytesOf(mlir::Value value) {
  const mlir::Type type = value.getType();
  const auto scaled = llvm::dyn_cast<ir::ScaledType>(type);
  const std::int64_t width = scaled ? scaled.getElement()->width()
                                    : mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return elementCount(*knownShape(value)) * width / 8;
}

/// Whether an element of a plain dot is summed in the order of K (rule P10), or is an integer sum.
bool isPlainProduct(const Dot& dot) {
  const auto isFloat = [](mlir::Value value) {
    const format::ElementFormat* format = elementFormatOf(value);
    return format != nullptr && !format->isInteger() && format->width() <= 32;
  };
  const auto isInteger = [](mlir::Value value, unsigned width) {
    return mlir::getElementTypeOrSelf(value.getType()).isSignlessInteger(width);
  };
  const mlir::Value left = dot.side(0), right = dot.side(1), result = dot.op->getResult(0);
  return (isFloat(left) && isFloat(right) && isFloat(result)) ||
         (isInteger(left, 8) && isInteger(right, 8) && isInteger(result, 32));
}

/// Whether a dot of scaled tensors has a left side with scales for each row, and sums that do not
/// depend on the number of rows.
bool isRowByRow(const Dot& dot) {
  const auto left = llvm::dyn_cast<ir::ScaledType>(dot.side(0).getType());
  const auto right = llvm::dyn_cast<ir::ScaledType>(dot.side(1).getType());
  if (!right || !dot.batching(0).empty() || dot.contracting(0).size() != 1)
    return false;
  const auto last = static_cast<std::int64_t>(knownShape(dot.side(0))->size()) - 1;
  if (dot.contracting(0).front() != last)
    return false;
  if (!left)
    return rowsOf(dot, 0) > kFewRows;
  const llvm::ArrayRef<std::int64_t> block = left.getBlock();
  if (left.getHasOuterScale() ||
      !llvm::all_of(block.drop_back(), [](std::int64_t extent) { return extent == 1; }))
    return false;
  if (rowsOf(dot, 0) > kFewRows)
    return true;
  const auto along = static_cast<std::size_t>(dot.contracting(1).front());
  const auto plan =
      kernels::productPlan({&*left.getElement(), &*left.getScale(), 1, block.back()},
                           {&*right.getElement(), &*right.getScale(), 1, right.getBlock()[along]},
                           knownShape(dot.side(0))->back());
  return plan && !plan->floats;
}

/// Whether an operation is deterministic and cheap enough to repeat before the loop: it costs no
/// more than its memory traffic.
bool isCloned(mlir::Operation* op) {
  return llvm::isa<stablehlo::ConstantOp, stablehlo::TransposeOp, stablehlo::ReshapeOp,
                   stablehlo::BroadcastInDimOp, stablehlo::SliceOp, stablehlo::ReverseOp,
                   stablehlo::ConvertOp, ir::QuantizeOp>(op);
}

/// Hoists dots out of one loop: the dots of all iterations become one dot before it.
class LoopDots {
public:
  LoopDots(stablehlo::WhileOp loop, std::int64_t rounds)
      : loop(loop), body(loop.getBody().front()), rounds(rounds) {}

  void hoist() {
    for (mlir::Operation& op : llvm::make_early_inc_range(body.without_terminator()))
      if (const std::optional<Dot> dot = dotOf(&op))
        hoist(*dot);
    eraseUnused(std::move(replaced));
  }

private:
  void hoist(const Dot& dot) {
    const bool isPlain = llvm::isa<stablehlo::DotGeneralOp>(dot.op);
    if (isPlain ? !isPlainProduct(dot) : !isRowByRow(dot))
      return;
    for (unsigned side = 0; side < (isPlain ? 2 : 1); ++side)
      if (isWorthIt(dot, side) && isSame(dot.side(1 - side)))
        if (const std::optional<SlicedSide> sliced = slicedSide(dot, side))
          return replace(dot, side, *sliced);
  }

  /// Whether hoisting pays: few rows in each iteration, an other side more than twice as large as
  /// the result, and a result of all iterations within kMostBytes.
  bool isWorthIt(const Dot& dot, unsigned side) const {
    const std::int64_t bytes = bytesOf(dot.op->getResult(0));
    return rowsOf(dot, side) < kManyRows && bytesOf(dot.side(1 - side)) > 2 * bytes &&
           bytes <= kMostBytes / rounds;
  }

  /// Whether a value is the same in all iterations and can be computed before the loop. Iterative:
  /// each value is analyzed once, after its operands.
  bool isSame(mlir::Value value) {
    llvm::SmallVector<mlir::Value> pending = {value};
    while (!pending.empty()) {
      const mlir::Value next = pending.back();
      if (same.contains(next)) {
        pending.pop_back();
        continue;
      }
      const mlir::Value origin = originOf(next);
      mlir::Operation* op = origin.getDefiningOp();
      bool isKnown = true;
      if (!standsBefore(origin, loop)) {
        if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(origin))
          isKnown = argument.getOwner() == &body && isUnchanged(loop, argument.getArgNumber());
        else if (op->getBlock() != &body || !isCloned(op))
          isKnown = false;
        else if (const auto unknown =
                     llvm::find_if(op->getOperands(),
                                   [&](mlir::Value operand) { return !same.contains(operand); });
                 unknown != op->operand_end()) {
          pending.push_back(*unknown);
          continue;
        } else {
          isKnown = llvm::all_of(op->getOperands(),
                                 [&](mlir::Value operand) { return same.lookup(operand); });
        }
      }
      same[next] = isKnown;
      pending.pop_back();
    }
    return same.lookup(value);
  }

  /// The value before the loop that equals `origin`, a value that isSame and its own originOf; null
  /// if it must be created.
  mlir::Value madeBefore(mlir::Value origin) {
    if (standsBefore(origin, loop))
      return origin;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(origin))
      return loop->getOperand(argument.getArgNumber());
    return hoisted.lookup(origin);
  }

  /// The equal of a value that isSame, before the loop; created if necessary.
  mlir::Value before(mlir::Value value) {
    llvm::SmallVector<mlir::Value> pending = {value};
    while (!pending.empty()) {
      const mlir::Value origin = originOf(pending.back());
      if (madeBefore(origin)) {
        pending.pop_back();
        continue;
      }
      mlir::Operation* op = origin.getDefiningOp();
      const std::size_t count = pending.size();
      llvm::copy_if(op->getOperands(), std::back_inserter(pending),
                    [&](mlir::Value operand) { return !madeBefore(originOf(operand)); });
      if (pending.size() != count)
        continue;
      mlir::Operation* made = mlir::OpBuilder(loop).clone(*op);
      for (mlir::OpOperand& operand : made->getOpOperands())
        operand.set(madeBefore(originOf(operand.get())));
      hoisted[origin] = made->getResult(0);
    }
    return madeBefore(originOf(value));
  }

  std::optional<SlicedSide> slicedSide(const Dot& dot, unsigned number) {
    SlicedSide side;
    stablehlo::DynamicSliceOp slice;
    for (mlir::Value value = dot.side(number); !slice;
         value = value.getDefiningOp()->getOperand(0)) {
      mlir::Operation* op = value.getDefiningOp();
      if (op == nullptr || op->getBlock() != &body || !knownShape(op->getOperand(0)))
        return std::nullopt;
      slice = llvm::dyn_cast<stablehlo::DynamicSliceOp>(op);
      auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op);
      if (llvm::isa<stablehlo::ConvertOp>(op) ||
          (quantize && !quantize.getRandomBits() && value == dot.side(number)))
        side.made.push_back(op);
      else if (!slice && !llvm::isa<stablehlo::ReshapeOp>(op))
        return std::nullopt;
    }
    side.stack = slice.getOperand();
    const bool isFound = isSame(side.stack) && goesThroughStack(slice, side) &&
                         keepsAxes(slice.getSliceSizes(), dot, number, side);
    return isFound ? std::optional(side) : std::nullopt;
  }

  /// Whether the slices of all iterations are consecutive along one axis.
  bool goesThroughStack(stablehlo::DynamicSliceOp slice, SlicedSide& side) {
    const llvm::ArrayRef<std::int64_t> shape = shapeOf(side.stack), sizes = slice.getSliceSizes();
    llvm::SmallVector<std::size_t> cut;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] != sizes[axis])
        cut.push_back(axis);
    if (cut.size() != 1)
      return false;
    const std::size_t axis = cut.front();
    side.start = slice.getStartIndices()[axis];
    const auto start = roundNumber(side.start, loop, rounds);
    if (!start || std::abs(start->step) != sizes[axis])
      return false;
    side.axis = static_cast<std::int64_t>(axis);
    side.begin = std::min(start->first, start->last(rounds));
    side.extent = sizes[axis] * rounds;
    // A start beyond the stack would be clamped to another iteration's slice.
    return side.begin >= 0 && side.begin + side.extent <= shape[axis];
  }

  /// Whether the side has the axes of the slice, except possibly the sliced one, and that axis is
  /// free.
  static bool keepsAxes(llvm::ArrayRef<std::int64_t> sizes, const Dot& dot, unsigned number,
                        SlicedSide& side) {
    const llvm::ArrayRef<std::int64_t> shape = *knownShape(dot.side(number));
    side.isDropped = shape.size() != sizes.size();
    if (!side.isDropped)
      return shape == sizes && !llvm::is_contained(dot.batching(number), side.axis) &&
             !llvm::is_contained(dot.contracting(number), side.axis);
    Axes others(sizes);
    others.erase(others.begin() + side.axis);
    return shape == llvm::ArrayRef(others) && sizes[static_cast<std::size_t>(side.axis)] == 1;
  }

  /// The sides of all iterations as one tensor.
  mlir::Value whole(const SlicedSide& side, mlir::Value ofRound) {
    if (const mlir::Value known = hoisted.lookup(ofRound))
      return known;
    mlir::OpBuilder builder(loop);
    mlir::Value value = before(side.stack);
    Axes shape(shapeOf(value)), begin(shape.size(), 0);
    const auto axis = static_cast<std::size_t>(side.axis);
    if (side.extent != shape[axis]) {
      begin[axis] = side.begin;
      shape[axis] = side.begin + side.extent;
      const Axes limits = shape, strides(shape.size(), 1);
      shape[axis] = side.extent;
      value = stablehlo::SliceOp::create(builder, ofRound.getLoc(), typeOf(value).clone(shape),
                                         value, begin, limits, strides);
    }
    for (mlir::Operation* op : llvm::reverse(side.made)) {
      mlir::Operation* made = builder.clone(*op);
      made->setOperand(0, value);
      value = made->getResult(0);
      if (auto scaled = llvm::dyn_cast<ir::ScaledType>(value.getType())) {
        Axes block(scaled.getBlock());
        if (side.isDropped)
          block.insert(block.begin() + side.axis, 1);
        value.setType(ir::ScaledType::get(scaled.getContext(), shape, scaled.getElement(),
                                          scaled.getScale(), block, false));
      } else {
        value.setType(typeOf(value).clone(shape));
      }
    }
    return hoisted[ofRound] = value;
  }

  void replace(const Dot& dot, unsigned number, const SlicedSide& side) {
    const mlir::Value sides[] = {number == 0 ? whole(side, dot.side(0)) : before(dot.side(0)),
                                 number == 1 ? whole(side, dot.side(1)) : before(dot.side(1))};
    const auto axes = [&](unsigned each, llvm::ArrayRef<std::int64_t> ofSide) {
      return each == number ? side.ofStack(ofSide) : Axes(ofSide);
    };
    const auto numbers = DotDimensionNumbersAttr::get(
        dot.op->getContext(), axes(0, dot.batching(0)), axes(1, dot.batching(1)),
        axes(0, dot.contracting(0)), axes(1, dot.contracting(1)));
    // The position of the axis in the result: behind the batch axes and the free axes before it.
    const std::size_t rank = knownShape(sides[number])->size();
    const Axes free =
        freeAxes(rank, axes(number, dot.batching(number)), axes(number, dot.contracting(number)));
    std::size_t axis = dot.batching(0).size() +
                       static_cast<std::size_t>(llvm::find(free, side.axis) - free.begin());
    if (number == 1)
      axis += knownShape(sides[0])->size() - dot.batching(0).size() - dot.contracting(0).size();
    Axes shape(dot.result().getShape());
    if (side.isDropped)
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    Axes ofRound = shape;
    shape[axis] = side.extent;

    mlir::Operation* product = mlir::OpBuilder(loop).clone(*dot.op);
    product->setOperands(sides);
    product->getResult(0).setType(dot.result().clone(shape));
    if (auto plain = llvm::dyn_cast<stablehlo::DotGeneralOp>(product))
      plain.setDotDimensionNumbersAttr(numbers);
    else
      llvm::cast<ir::DotGeneralOp>(product).setDotDimensionNumbersAttr(numbers);

    mlir::OpBuilder builder(dot.op);
    const mlir::Location at = dot.op->getLoc();
    mlir::Value start = side.start;
    const auto scalar = llvm::cast<RankedTensorType>(start.getType());
    const auto constant = [&](std::int64_t value) -> mlir::Value {
      return stablehlo::ConstantOp::create(
          builder, at,
          mlir::DenseElementsAttr::get(scalar, llvm::APInt(scalar.getElementTypeBitWidth(),
                                                           static_cast<std::uint64_t>(value))));
    };
    if (side.begin != 0)
      start = stablehlo::SubtractOp::create(builder, at, scalar, start, constant(side.begin));
    llvm::SmallVector<mlir::Value> starts(shape.size(), constant(0));
    starts[axis] = start;
    mlir::Value part = stablehlo::DynamicSliceOp::create(builder, at, dot.result().clone(ofRound),
                                                         product->getResult(0), starts,
                                                         builder.getDenseI64ArrayAttr(ofRound));
    if (side.isDropped)
      part = stablehlo::ReshapeOp::create(builder, at, dot.result(), part);
    dot.op->getResult(0).replaceAllUsesWith(part);
    replaced.insert(dot.op);
  }

  stablehlo::WhileOp loop;
  mlir::Block& body;
  std::int64_t rounds;
  llvm::DenseMap<mlir::Value, bool> same;
  llvm::DenseMap<mlir::Value, mlir::Value> hoisted; ///< keys: the value inside the loop
  llvm::SetVector<mlir::Operation*> replaced;
};

struct HoistDots : impl::HoistDotsBase<HoistDots> {
  using HoistDotsBase::HoistDotsBase;

  void runOnOperation() override {
    llvm::SmallVector<stablehlo::WhileOp> loops; // inner loops first
    getOperation().walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    for (stablehlo::WhileOp loop : loops)
      if (const std::optional<std::int64_t> rounds = roundsOf(loop); rounds && *rounds > 1)
        LoopDots(loop, *rounds).hoist();
  }
};

} // namespace

} // namespace octavo::transforms
