#include "octavo/Transforms/Quantize/RandomState.h"

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Quantize/ProgramState.h"
#include "octavo/Transforms/TakenRegions.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>
#include <vector>

namespace octavo::transforms {

using mlir::RankedTensorType;
using mlir::func::FuncOp;
using stablehlo::RngBitGeneratorOp;

namespace {

constexpr std::int64_t kPerBlock = 4; // 32-bit numbers from one counter of Philox

RankedTensorType unsignedType(mlir::OpBuilder& builder, llvm::ArrayRef<std::int64_t> shape,
                              unsigned width) {
  return RankedTensorType::get(shape, builder.getIntegerType(width, /*isSigned=*/false));
}

mlir::Value constant(mlir::OpBuilder& builder, mlir::Location location,
                     mlir::DenseElementsAttr value) {
  return stablehlo::ConstantOp::create(builder, location, value);
}

/// H / sqrt(size). The sign of an element is the parity of the bits that its row and column share.
std::vector<float> hadamardMatrix(std::int64_t size) {
  const float magnitude = 1 / std::sqrt(static_cast<float>(size));
  std::vector<float> matrix;
  for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(size); ++row)
    for (std::uint64_t column = 0; column < static_cast<std::uint64_t>(size); ++column)
      matrix.push_back(std::popcount(row & column) % 2 == 0 ? magnitude : -magnitude);
  return matrix;
}

RankedTensorType stateType(mlir::MLIRContext* context) {
  return RankedTensorType::get({2},
                               mlir::IntegerType::get(context, 64, mlir::IntegerType::Unsigned));
}

/// `state` after `counters` counters have been drawn.
mlir::Value after(mlir::OpBuilder builder, mlir::Location location, mlir::Value state,
                  std::uint64_t counters) {
  if (counters == 0)
    return state;
  const auto type = llvm::cast<RankedTensorType>(state.getType());
  const mlir::Value drawn =
      constant(builder, location,
               mlir::DenseElementsAttr::get(
                   type, llvm::ArrayRef<std::uint64_t>{std::uint64_t{0}, counters}));
  return stablehlo::AddOp::create(builder, location, type, state, drawn);
}

std::uint64_t countersOf(RngBitGeneratorOp draw) {
  const auto type = llvm::cast<RankedTensorType>(draw.getOutput().getType());
  return static_cast<std::uint64_t>(llvm::divideCeil(type.getNumElements(), kPerBlock));
}

/// Gives each draw the state after the previous draw.
class Carrying {
public:
  Carrying(mlir::ModuleOp module, llvm::ArrayRef<RngBitGeneratorOp> all)
      : program(module), draws(all.begin(), all.end()) {
    for (RngBitGeneratorOp draw : all)
      markAround(draw);
  }

  llvm::SetVector<mlir::Operation*> run() {
    for (mlir::Operation* entry : entries) {
      auto function = llvm::cast<FuncOp>(entry);
      const mlir::BlockArgument state =
          appendState(function, "octavo.random", stateType(function.getContext()));
      returnState(state, through(function.getBody().front(), state));
    }
    return entries;
  }

private:
  void markAround(mlir::Operation* op) {
    mlir::Operation* around = op->getParentOp();
    if (!carriers.insert(around).second)
      return;
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return markAround(around);
    if (function.isPublic())
      entries.insert(function);
    for (mlir::func::CallOp call : program.callsOf(function)) {
      carriers.insert(call);
      markAround(call);
    }
  }

  /// Threads `state` through a block; returns the state at its end.
  mlir::Value through(mlir::Block& block, mlir::Value state) {
    std::uint64_t counters = 0; // drawn from `state`
    for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
      const auto here = [&] { return after(mlir::OpBuilder(&op), op.getLoc(), state, counters); };
      if (auto draw = llvm::dyn_cast<RngBitGeneratorOp>(op); draw && draws.contains(draw)) {
        mlir::Operation* none = draw.getInitialState().getDefiningOp();
        draw.getInitialStateMutable().assign(here());
        none->erase();
        counters += countersOf(draw);
      } else if (carriers.contains(&op)) {
        state = through(op, here());
        counters = 0;
      }
    }
    mlir::Operation* end = block.getTerminator();
    return after(mlir::OpBuilder(end), end->getLoc(), state, counters);
  }

  /// Threads `state` through a loop, a branch or a call; returns the state after it.
  mlir::Value through(mlir::Operation& op, mlir::Value state) {
    const mlir::Type type = state.getType();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op)) {
      loop.getCond().addArgument(type, op.getLoc());
      const mlir::Value round = loop.getBody().addArgument(type, op.getLoc());
      handOn(loop.getBody().front(), through(loop.getBody().front(), round));
    } else if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) {
      FuncOp function = program.called(call);
      if (done.insert(function).second)
        extend(function, type,
               [&](mlir::Block& block, mlir::Value own) { return through(block, own); });
    } else {
      for (mlir::Region& region : op.getRegions())
        handOn(region.front(), through(region.front(), state));
      state = {}; // of the values around them
    }
    return extended(&op, state ? mlir::ValueRange(state) : mlir::ValueRange(), type)
        ->getResults()
        .back();
  }

  ProgramCalls program;
  llvm::DenseSet<mlir::Operation*> draws, carriers, done;
  llvm::SetVector<mlir::Operation*> entries;
};

/// Why state does not reach the body of a function, from what is known of its calls.
std::string reasonOfFunction(FuncOp function, const ProgramCalls& program,
                             const StateReach& known) {
  const std::string name = "@" + function.getName().str();
  if (function.isPublic())
    return program.isNamed(function) ? name + ", which is public, is called by the program itself"
                                     : "";
  if (program.reachesItself(function))
    return name + " calls itself";
  if (std::string reason = program.whyTooDeep(function); !reason.empty())
    return reason;
  const llvm::ArrayRef<mlir::func::CallOp> calls = program.callsOf(function);
  if (calls.empty())
    return name + " is private and is not, or not only, called";
  for (mlir::func::CallOp call : calls)
    if (std::string reason = known.reasonWithout(call); !reason.empty())
      return reason;
  return {};
}

} // namespace

StateReach::StateReach(const ProgramCalls& program) {
  for (FuncOp function : llvm::reverse(program.calleesFirst()))
    if (std::string reason = reasonOfFunction(function, program, *this); !reason.empty())
      reasons[function] = std::move(reason);
}

std::string StateReach::reasonWithout(mlir::Operation* op) const {
  for (;;) {
    mlir::Operation* around = op->getParentOp();
    if (llvm::isa<FuncOp>(around))
      return reasons.lookup(around);
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around);
        loop && op->getParentRegion() == &loop.getCond())
      return "it is within the condition of stablehlo.while";
    if (!llvm::isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(around))
      return "it is within " + around->getName().getStringRef().str();
    op = around;
  }
}

mlir::Value RandomState::bits(mlir::OpBuilder& builder, mlir::Location location,
                              llvm::ArrayRef<std::int64_t> shape) {
  // A placeholder: finish() knows the state.
  const RankedTensorType type = stateType(builder.getContext());
  const mlir::Value none = constant(
      builder, location, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<std::uint64_t>{0, 0}));
  auto draw = RngBitGeneratorOp::create(builder, location, type, unsignedType(builder, shape, 32),
                                        stablehlo::RngAlgorithm::PHILOX, none);
  draws.push_back(draw);
  return draw.getOutput();
}

llvm::SetVector<mlir::Operation*> RandomState::finish() {
  if (draws.empty())
    return {};
  return Carrying(draws.front()->getParentOfType<mlir::ModuleOp>(), draws).run();
}

mlir::Value rotated(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                    std::int64_t axis, mlir::Value bits) {
  const auto floats = [&](llvm::ArrayRef<std::int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  const auto splat = [&](RankedTensorType type, llvm::ArrayRef<std::int64_t> shape, auto number) {
    return constant(builder, location,
                    mlir::DenseElementsAttr::get(type.clone(shape), llvm::ArrayRef{number}));
  };
  const auto bitsType = llvm::cast<RankedTensorType>(bits.getType());
  const std::int64_t size = bitsType.getDimSize(0);

  const auto signs = floats({size});
  const mlir::Value odd = stablehlo::AndOp::create(builder, location, bitsType, bits,
                                                   splat(bitsType, {size}, std::uint32_t{1}));
  mlir::Value sign = stablehlo::ConvertOp::create(builder, location, signs, odd);
  sign = stablehlo::MulOp::create(builder, location, signs, sign, splat(signs, {size}, -2.0f));
  sign = stablehlo::AddOp::create(builder, location, signs, sign, splat(signs, {size}, 1.0f));
  const auto square = floats({size, size});
  mlir::Value matrix = stablehlo::BroadcastInDimOp::create(builder, location, square, sign,
                                                           builder.getDenseI64ArrayAttr({0}));
  matrix = stablehlo::MulOp::create(
      builder, location, square, matrix,
      constant(builder, location,
               mlir::DenseElementsAttr::get(square, llvm::ArrayRef(hadamardMatrix(size)))));

  auto type = llvm::cast<RankedTensorType>(value.getType());
  llvm::SmallVector<std::int64_t> shape(type.getShape());
  if (!type.getElementType().isF32())
    value = stablehlo::ConvertOp::create(builder, location, floats(shape), value);
  const std::int64_t groups = llvm::divideCeil(shape[axis], size);
  if (const std::int64_t missing = groups * size - shape[axis]) {
    const llvm::SmallVector<std::int64_t> none(shape.size(), 0);
    llvm::SmallVector<std::int64_t> high(none);
    high[axis] = missing;
    shape[axis] += missing;
    value = stablehlo::PadOp::create(builder, location, floats(shape), value,
                                     splat(signs, {}, 0.0f), builder.getDenseI64ArrayAttr(none),
                                     builder.getDenseI64ArrayAttr(high),
                                     builder.getDenseI64ArrayAttr(none));
  }
  // The product of [.., groups, size, ..] and the matrix has a group's elements as its last axis.
  llvm::SmallVector<std::int64_t> split(shape);
  split[axis] = groups;
  split.insert(split.begin() + axis + 1, size);
  value = stablehlo::ReshapeOp::create(builder, location, floats(split), value);
  llvm::SmallVector<std::int64_t> product(split);
  product.erase(product.begin() + axis + 1);
  product.push_back(size);
  value = stablehlo::DotGeneralOp::create(
      builder, location, floats(product), value, matrix,
      stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), {}, {}, {axis + 1}, {0}),
      /*precision_config=*/nullptr, /*algorithm=*/nullptr);
  const auto rank = static_cast<std::int64_t>(split.size());
  if (axis + 2 != rank) {
    auto order = llvm::to_vector(llvm::seq<std::int64_t>(0, axis + 1));
    order.push_back(rank - 1);
    llvm::append_range(order, llvm::seq<std::int64_t>(axis + 1, rank - 1));
    value = stablehlo::TransposeOp::create(builder, location, floats(split), value, order);
  }
  return stablehlo::ReshapeOp::create(builder, location, floats(shape), value);
}

} // namespace octavo::transforms
