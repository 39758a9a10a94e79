#include "octavo/Backends/ExtentUses.h"

#include "octavo/Backends/OpenExtents.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Reference/Constants.h"
#include "octavo/Reference/Interpreter.h"
#include "octavo/Transforms/OpenedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <utility>
#include <vector>

namespace octavo::backends {

namespace {

/// An integer: factor * extent + fixed, sums and products of several extents, one that no extent
/// makes another, or any other.
struct Number {
  enum class Kind : std::uint8_t { Known, Polynomial, Data, Open };
  Kind kind = Kind::Data;
  mlir::Value extent; ///< null where the factor is 0
  std::int64_t factor = 0, fixed = 0;
  bool isOfSome = false; ///< known of an extent of one and more, but of none another

  static Number known(std::int64_t fixed) { return {Kind::Known, {}, 0, fixed}; }
  static Number polynomial() { return {Kind::Polynomial, {}, 0, 0}; }
  static Number open() { return {Kind::Open, {}, 0, 0}; }

  bool isKnown() const { return kind == Kind::Known; }
  bool dependsOnExtents() const {
    return kind == Kind::Polynomial || kind == Kind::Open || factor != 0 || isOfSome;
  }
  friend bool operator==(const Number&, const Number&) = default;
};

using Numbers = std::vector<Number>;

/// Whether its integers hold every extent, and what shapes are computed by, without wrapping
/// around.
bool isOfWords(mlir::RankedTensorType type) {
  const mlir::Type element = type.getElementType();
  return element.isSignlessInteger(32) || element.isSignlessInteger(64);
}

/// What is one of the two, whichever.
Number either(const Number& a, const Number& b) {
  if (a == b)
    return a;
  return a.dependsOnExtents() || b.dependsOnExtents() ? Number::open() : Number();
}

/// A sum or a product of what is not known of one extent.
Number combination(const Number& a, const Number& b) {
  const auto isOfData = [](const Number& each) {
    return each.kind == Number::Kind::Data || each.kind == Number::Kind::Open;
  };
  if (!isOfData(a) && !isOfData(b))
    return Number::polynomial();
  return a.dependsOnExtents() || b.dependsOnExtents() ? Number::open() : Number();
}

/// a + sign * b
Number sum(const Number& a, const Number& b, std::int64_t sign) {
  if (!a.isKnown() || !b.isKnown() || (a.factor != 0 && b.factor != 0 && a.extent != b.extent))
    return combination(a, b);
  Number result = Number::known(0);
  if (llvm::MulOverflow(b.fixed, sign, result.fixed) ||
      llvm::AddOverflow(a.fixed, result.fixed, result.fixed) ||
      llvm::MulOverflow(b.factor, sign, result.factor) ||
      llvm::AddOverflow(a.factor, result.factor, result.factor))
    return Number::open();
  if (result.factor != 0)
    result.extent = a.factor != 0 ? a.extent : b.extent;
  result.isOfSome = a.isOfSome || b.isOfSome;
  return result;
}

Number product(const Number& a, const Number& b) {
  if (!a.isKnown() || !b.isKnown() || (a.factor != 0 && b.factor != 0))
    return combination(a, b);
  const Number &one = a.factor != 0 ? a : b, &by = a.factor != 0 ? b : a;
  Number result = Number::known(0);
  if (llvm::MulOverflow(one.factor, by.fixed, result.factor) ||
      llvm::MulOverflow(one.fixed, by.fixed, result.fixed))
    return Number::open();
  if (result.factor != 0)
    result.extent = one.extent;
  result.isOfSome = a.isOfSome || b.isOfSome;
  return result;
}

/// Whether a <= b for all extents from `least` on, or a >= b; nothing where it depends.
std::optional<bool> isAtMost(const Number& a, const Number& b, std::int64_t least) {
  const Number more = sum(b, a, -1);
  std::int64_t first = 0;
  if (!a.isKnown() || !b.isKnown() || !more.isKnown() ||
      llvm::AddOverflow(more.factor * least, more.fixed, first))
    return std::nullopt;
  if (more.factor >= 0 && first >= 0)
    return true;
  return more.factor <= 0 && first <= 0 ? std::optional(false) : std::nullopt;
}

Number extreme(const Number& a, const Number& b, bool isLeast) {
  for (const std::int64_t least : {0, 1})
    if (const auto aFirst = isAtMost(a, b, least)) {
      Number result = *aFirst == isLeast ? a : b;
      result.isOfSome = a.isOfSome || b.isOfSome || least == 1;
      return result;
    }
  return a.dependsOnExtents() || b.dependsOnExtents() ? Number::open() : Number();
}

class Extents {
public:
  explicit Extents(mlir::ModuleOp program) : program(program) {}

  ExtentUses uses() {
    llvm::SmallVector<mlir::func::FuncOp> functions(program.getOps<mlir::func::FuncOp>());
    changed.insert_range(llvm::reverse(functions)); // the first one, which calls others, is next
    while (found.empty() && !changed.empty()) {
      changed.pop_back_val()->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
        follow(op);
        return found.empty() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
      });
      if (found.empty() && changed.empty())
        joinCalls();
    }
    return {found, {asNumbers.begin(), asNumbers.end()}};
  }

private:
  void put(mlir::Value value, Numbers given) {
    if (llvm::any_of(given, [](const Number& each) { return each.dependsOnExtents(); }))
      numbers[value] = std::move(given);
    else
      numbers.erase(value);
  }

  /// An argument may be given more than one number, of which none are forgotten.
  void put(mlir::BlockArgument argument, Numbers given, mlir::func::FuncOp function) {
    if (const auto entry = numbers.find(argument); entry != numbers.end()) {
      for (auto [now, before] : llvm::zip_equal(given, entry->second))
        now = either(now, before);
      if (given == entry->second)
        return;
    }
    put(argument, std::move(given));
    changed.insert(function);
  }

  /// Of a small tensor of integers; nothing of others. What depends on no extent is followed
  /// through so many operations.
  std::optional<Numbers> of(mlir::Value value, int depth = 8) const {
    constexpr std::int64_t kMost = 4096;
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() > kMost ||
        !llvm::isa<mlir::IntegerType, mlir::IndexType>(type.getElementType()))
      return std::nullopt;
    if (const auto entry = numbers.find(value); entry != numbers.end())
      return entry->second;
    if (mlir::DenseIntElementsAttr constant;
        (isOfWords(type) || type.getElementType().isInteger(1)) &&
        mlir::matchPattern(value, mlir::m_Constant(&constant))) {
      Numbers known;
      for (const llvm::APInt& each : constant)
        known.push_back(Number::known(each.getSExtValue()));
      return known;
    }
    if (mlir::Operation* op = value.getDefiningOp(); op != nullptr && depth > 0)
      if (std::optional<Numbers> result = resultOf(op, depth - 1))
        return result;
    return Numbers(static_cast<std::size_t>(type.getNumElements()));
  }

  void follow(mlir::Operation* op) {
    const llvm::StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "tensor" || dialect == "shape")
      found = op->getName().getStringRef().str();
    if (auto size = llvm::dyn_cast<stablehlo::GetDimensionSizeOp>(op))
      return measure(size);
    if (isAssertion(op))
      return;
    const auto isOpen = [&](mlir::OpOperand& operand) { return numbers.contains(operand.get()); };
    const auto open = llvm::make_filter_range(op->getOpOperands(), isOpen);
    if (open.empty())
      return;
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
      return enter(call);
    if (auto fused = llvm::dyn_cast<ir::FusedDotOp>(op)) {
      for (mlir::OpOperand& operand : open)
        put(fused.getBody().getArgument(operand.getOperandNumber()), numbers[operand.get()]);
      return;
    }
    if (llvm::isa<stablehlo::CompareOp>(op) && llvm::all_of(op->getUsers(), isAssertion))
      return;
    // What is a number of data, too, is a run's to compute.
    std::optional<Numbers> result = resultOf(op);
    const bool isOpenResult = result && llvm::any_of(*result, [](const Number& each) {
                                return each.kind == Number::Kind::Open;
                              });
    if (result && !(isOpenResult &&
                    llvm::all_of(open, [&](mlir::OpOperand& each) { return isNumber(each); })))
      put(op->getResult(0), std::move(*result));
    else
      for (mlir::OpOperand& operand :
           llvm::make_filter_range(open, [&](mlir::OpOperand& each) { return !isShape(each); }))
        if (isNumber(operand))
          asNumbers.insert(&operand);
        else
          found = op->getName().getStringRef().str();
  }

  /// Whether the operand may be a number that a run computes, from one number of items.
  bool isNumber(mlir::OpOperand& operand) {
    const Numbers& given = numbers[operand.get()];
    return !llvm::isa<stablehlo::CustomCallOp>(operand.getOwner()) && given.size() == 1 &&
           !given[0].isOfSome && (given[0].isKnown() || given[0].kind == Number::Kind::Polynomial);
  }

  void measure(stablehlo::GetDimensionSizeOp op) {
    const auto axis = static_cast<std::int64_t>(op.getDimension());
    const auto type = llvm::cast<mlir::RankedTensorType>(op.getOperand().getType());
    if (!type.isDynamicDim(static_cast<unsigned>(axis)))
      return;
    // The first that asks for an extent names it.
    const auto [name, isNew] = names.insert({std::pair(op.getOperand(), axis), op.getResult()});
    put(op.getResult(), {{Number::Kind::Known, name->second, 1, 0}});
  }

  /// Whether an operation takes the operand for a shape, or places in one, that each extent makes
  /// another one in the same way.
  bool isShape(mlir::OpOperand& operand) {
    if (llvm::none_of(numbers[operand.get()],
                      [](const Number& each) { return each.kind == Number::Kind::Open; }))
      if (auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(operand.getOwner()))
        return call.getCallTargetName() == "stablehlo.dynamic_reduce_window";
    // From an operand on.
    static const llvm::StringMap<unsigned> kShapes = {
        {"stablehlo.dynamic_broadcast_in_dim", 1}, {"stablehlo.dynamic_reshape", 1},
        {"stablehlo.dynamic_gather", 2},           {"stablehlo.dynamic_iota", 0},
        {"stablehlo.real_dynamic_slice", 1},       {"stablehlo.dynamic_pad", 2}};
    const auto shape = kShapes.find(operand.getOwner()->getName().getStringRef());
    return shape != kShapes.end() && operand.getOperandNumber() >= shape->second &&
           llvm::none_of(numbers[operand.get()],
                         [](const Number& each) { return each.kind == Number::Kind::Open; });
  }

  void enter(mlir::func::CallOp call) {
    mlir::func::FuncOp callee = transforms::calledFunction(call);
    if (!callee) {
      found = call->getName().getStringRef().str();
      return;
    }
    for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), call.getOperands()))
      if (const auto entry = numbers.find(operand); entry != numbers.end())
        put(argument, Numbers(entry->second), callee);
  }

  /// Has arguments that some calls give what depends on extents be what all calls give them.
  void joinCalls() {
    program->walk([&](mlir::func::CallOp call) {
      mlir::func::FuncOp callee = transforms::calledFunction(call);
      if (!callee)
        return;
      for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), call.getOperands()))
        if (numbers.contains(argument))
          put(argument, *of(operand), callee);
    });
  }

  std::optional<Numbers> resultOf(mlir::Operation* op, int depth = 8) const {
    const bool isMove =
        llvm::isa<stablehlo::ConcatenateOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                  stablehlo::SliceOp, stablehlo::TransposeOp, stablehlo::GatherOp>(op);
    if (!isMove &&
        !llvm::isa<stablehlo::ConvertOp, stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
                   stablehlo::MinOp, stablehlo::MaxOp, stablehlo::ClampOp, stablehlo::SelectOp>(op))
      return std::nullopt;
    const auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    std::vector<Numbers> operands;
    for (mlir::Value operand : op->getOperands()) {
      std::optional<Numbers> each = of(operand, depth);
      if (!each)
        return std::nullopt;
      operands.push_back(std::move(*each));
    }
    if (!type.hasStaticShape() || !isOfWords(type))
      return std::nullopt;
    if (llvm::isa<stablehlo::ConvertOp>(op))
      return operands[0];
    if (isMove)
      return moved(op, operands);
    const auto count = static_cast<std::size_t>(type.getNumElements());
    const auto combined = [&](auto combine) {
      Numbers result;
      for (std::size_t i = 0; i < count; ++i) {
        const auto at = [&](unsigned operand) {
          return operands[operand][operands[operand].size() == 1 ? 0 : i];
        };
        result.push_back(combine(at));
      }
      return result;
    };
    if (llvm::isa<stablehlo::AddOp, stablehlo::SubtractOp>(op))
      return combined(
          [&](auto at) { return sum(at(0), at(1), llvm::isa<stablehlo::AddOp>(op) ? 1 : -1); });
    if (llvm::isa<stablehlo::MulOp>(op))
      return combined([](auto at) { return product(at(0), at(1)); });
    if (llvm::isa<stablehlo::MinOp, stablehlo::MaxOp>(op))
      return combined(
          [&](auto at) { return extreme(at(0), at(1), llvm::isa<stablehlo::MinOp>(op)); });
    if (llvm::isa<stablehlo::ClampOp>(op))
      return combined([](auto at) { return extreme(extreme(at(0), at(1), false), at(2), true); });
    return combined([](auto at) {
      const Number condition = at(0);
      if (condition.isKnown() && !condition.dependsOnExtents())
        return condition.fixed != 0 ? at(1) : at(2);
      return condition.dependsOnExtents() ? Number::open() : either(at(1), at(2));
    });
  }

  /// Finds out which element comes from where by moving their numbers.
  static std::optional<Numbers> moved(mlir::Operation* op, const std::vector<Numbers>& operands) {
    Numbers all;
    std::vector<execution::Value> values;
    for (auto [i, given] : llvm::enumerate(operands)) {
      const auto type =
          llvm::cast<mlir::RankedTensorType>(op->getOperand(static_cast<unsigned>(i)).getType());
      const bool isIndex = i == 1 && llvm::isa<stablehlo::GatherOp>(op);
      if (!isOfWords(type) || (isIndex && llvm::any_of(given, [](const Number& each) {
                                 return !each.isKnown() || each.dependsOnExtents();
                               })))
        return std::nullopt;
      llvm::SmallVector<llvm::APInt> elements;
      for (const Number& each : given) {
        const std::int64_t element = isIndex ? each.fixed : static_cast<std::int64_t>(all.size());
        elements.emplace_back(type.getElementTypeBitWidth(), static_cast<std::uint64_t>(element),
                              true);
        if (!isIndex)
          all.push_back(each);
      }
      auto tensor = reference::constantTensor(op, mlir::DenseElementsAttr::get(type, elements));
      if (!tensor)
        return llvm::consumeError(tensor.takeError()), std::nullopt;
      values.emplace_back(std::move(*tensor));
    }
    auto results = reference::evaluateOperation(op, std::move(values), {});
    if (!results)
      return llvm::consumeError(results.takeError()), std::nullopt;
    Numbers result;
    const auto places = llvm::cast<mlir::DenseIntElementsAttr>(
        reference::constantAttribute(op->getContext(), results->front().tensor()));
    for (const llvm::APInt& place : places)
      result.push_back(all[place.getZExtValue()]);
    return result;
  }

  mlir::ModuleOp program;
  llvm::DenseMap<std::pair<mlir::Value, std::int64_t>, mlir::Value> names;
  llvm::DenseMap<mlir::Value, Numbers> numbers; ///< of those with some that depend on extents
  llvm::SetVector<mlir::func::FuncOp> changed;
  llvm::SetVector<mlir::OpOperand*> asNumbers;
  std::string found;
};

} // namespace

ExtentUses usesOfExtents(mlir::ModuleOp program) { return Extents(program).uses(); }

} // namespace octavo::backends
