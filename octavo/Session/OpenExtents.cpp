#include "octavo/Session/OpenExtents.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Dialect/ArgumentOfItems.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Program/Steps/BatchExtent.h"
#include "octavo/Program/Values/Argument.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Transforms/Shapes/RefineShapes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace octavo::session {

char RefusedShapes::ID = 0;

namespace {

/// The open arguments with their actual shapes: "x" f32[5, 8], "y" f32[4, 8].
std::string closedArguments(mlir::func::FuncOp function, const Shapes& shapes,
                            std::span<const std::size_t> open) {
  auto arguments = session::argumentsOf(function);
  if (!arguments) {
    llvm::consumeError(arguments.takeError());
    return "such shapes";
  }
  std::vector<std::string> list;
  for (const std::size_t i : open) {
    program::Argument& argument = (*arguments)[i];
    argument.shape = shapes[i];
    list.push_back(fmt::format("\"{}\" {}", argument.name, argument.describe()));
  }
  return base::someOf(list);
}

} // namespace

bool hasOpenExtents(mlir::func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(),
                      [](mlir::Type type) { return transforms::hasUnknownExtents(type); });
}

llvm::Error closeExtents(mlir::func::FuncOp function, const Shapes& shapes) {
  std::vector<mlir::Type> types(function.getArgumentTypes().begin(),
                                function.getArgumentTypes().end());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (transforms::hasUnknownExtents(types[i])) {
      types[i] = mlir::RankedTensorType::get(
          shapes[i], mlir::cast<mlir::RankedTensorType>(types[i]).getElementType());
      open.push_back(i);
    }
  const Diagnostics diagnostics(*function.getContext());
  if (failed(transforms::refineShapes(function, types)))
    return llvm::make_error<RefusedShapes>(
        fmt::format("@{} does not take {}:\n  {}", function.getName().str(),
                    closedArguments(function, shapes, open), diagnostics.found()));
  markOfItems(function, std::vector<std::int64_t>(open.begin(), open.end()));
  return llvm::Error::success();
}

llvm::Error closeExtents(mlir::func::FuncOp function, std::span<const program::Value> values) {
  Shapes shapes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (transforms::hasUnknownExtents(function.getArgumentTypes()[i]))
      shapes[i] = values[i].isUnread() ? values[i].unread().shape : values[i].tensor().shape;
  return closeExtents(function, shapes);
}

bool isAssertion(mlir::Operation* op) {
  const auto target = op->getAttrOfType<mlir::StringAttr>("call_target_name");
  return target && target.getValue() == "shape_assertion";
}

void dropAssertions(mlir::ModuleOp program) {
  program->walk([](mlir::Operation* op) {
    if (isAssertion(op))
      op->erase();
  });
}

namespace {

using program::BatchExtent;

std::optional<BatchExtent> itemNumberOf(mlir::Value value, const Shapes& shapes) {
  if (llvm::APInt number; mlir::matchPattern(value, mlir::m_ConstantInt(&number)))
    return BatchExtent{number.getSExtValue()};
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr)
    return std::nullopt;
  if (auto size = llvm::dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(size.getOperand());
    if (!argument)
      return std::nullopt;
    const std::int64_t extent =
        shapes[argument.getArgNumber()][static_cast<std::size_t>(size.getDimension())];
    return extent == kItems ? BatchExtent{0, 1} : BatchExtent{extent};
  }
  const auto operand = [&](unsigned i) { return itemNumberOf(op->getOperand(i), shapes); };
  if (llvm::isa<stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
    return operand(0);
  if (!llvm::isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp>(op))
    return std::nullopt;
  const auto left = operand(0), right = operand(1);
  if (!left || !right)
    return std::nullopt;
  if (llvm::isa<stablehlo::AddOp>(op))
    return sum(*left, *right);
  if (llvm::isa<stablehlo::SubtractOp>(op))
    return difference(*left, *right);
  return product(*left, *right);
}

/// Restricts `bounds` to batch sizes for which `number` is not negative. `number` must be linear.
void keepNotNegative(BatchExtent number, ItemBounds& bounds) {
  if (number.factor > 0)
    bounds.least = std::max(bounds.least, llvm::divideCeilSigned(-number.fixed, number.factor));
  else if (number.factor < 0)
    bounds.most = std::min(bounds.most, llvm::divideFloorSigned(number.fixed, -number.factor));
  else if (number.fixed < 0)
    bounds.most = -1;
}

/// Restricts `bounds` to batch sizes that meet `condition`. False if the condition is not a bound.
bool keepWhere(mlir::Value condition, const Shapes& shapes, ItemBounds& bounds) {
  auto compare = condition.getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return false;
  const auto left = itemNumberOf(compare.getLhs(), shapes),
             right = itemNumberOf(compare.getRhs(), shapes);
  if (!left || !right)
    return false;
  using Direction = stablehlo::ComparisonDirection;
  const auto more = difference(*left, *right), less = difference(*right, *left);
  if (!more || !less || more->square != 0)
    return false;
  const auto keepPositive = [&](const BatchExtent& number) {
    keepNotNegative({number.fixed - 1, number.factor}, bounds);
  };
  switch (compare.getComparisonDirection()) {
  case Direction::GE:
    keepNotNegative(*more, bounds);
    return true;
  case Direction::GT:
    keepPositive(*more);
    return true;
  case Direction::LE:
    keepNotNegative(*less, bounds);
    return true;
  case Direction::LT:
    keepPositive(*less);
    return true;
  case Direction::EQ:
    keepNotNegative(*more, bounds);
    keepNotNegative(*less, bounds);
    return true;
  case Direction::NE:
    return false;
  }
}

} // namespace

llvm::Expected<ItemBounds> boundsOfItems(mlir::ModuleOp program, llvm::StringRef name,
                                         const Shapes& shapes, std::int64_t most) {
  ItemBounds bounds{.least = 0, .most = most};
  std::string other;
  program->walk([&](mlir::Operation* op) {
    if (!isAssertion(op))
      return;
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op->getParentOp());
    if (!function || function.getName() != name || !keepWhere(op->getOperand(0), shapes, bounds))
      other = locationText(op->getLoc());
  });
  if (!other.empty())
    return llvm::createStringError(
        other + ": it asserts of its extents what is no bound of the number of items");
  return bounds;
}

mlir::OwningOpRef<mlir::ModuleOp> assertionsOf(mlir::ModuleOp program, llvm::StringRef name) {
  bool isAnywhere = false, isElsewhere = false;
  program->walk([&](mlir::Operation* op) {
    if (!isAssertion(op))
      return;
    isAnywhere = true;
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op->getParentOp());
    isElsewhere = isElsewhere || !function || function.getName() != name;
  });
  if (!isAnywhere)
    return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> copy = program.clone();
  if (isElsewhere)
    return copy;
  auto function = copy->lookupSymbol<mlir::func::FuncOp>(name);
  mlir::Block& body = function.getBody().front();
  body.getTerminator()->setOperands({});
  const auto operations =
      llvm::map_to_vector(body.without_terminator(), [](mlir::Operation& op) { return &op; });
  for (mlir::Operation* op : llvm::reverse(operations))
    if (!isAssertion(op) && op->use_empty())
      op->erase();
  function.removeResAttrsAttr();
  function.setType(mlir::FunctionType::get(function.getContext(), function.getArgumentTypes(), {}));
  return copy;
}

} // namespace octavo::session
