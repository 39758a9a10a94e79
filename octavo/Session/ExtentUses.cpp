#include "octavo/Session/ExtentUses.h"

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Interpreter/Interpreter.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Program/Steps/BatchExtent.h"
#include "octavo/Session/OpenExtents.h"
#include "octavo/Transforms/Walks/Inlining.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::session {

namespace {

using program::BatchExtent;

/// An integer of the program:
/// - Known: a polynomial of at most one open extent.
/// - Polynomial: sums and products of several extents.
/// - Data: unknown, but independent of extents.
/// - Open: depends on extents in another way.
struct Number {
  enum class Kind : std::uint8_t { Known, Polynomial, Data, Open };
  Kind kind = Kind::Data;
  mlir::Value extent; ///< null if the number does not depend on an extent
  BatchExtent number;
  std::int64_t least = 0; ///< the number is valid for extents from this one on

  static Number known(BatchExtent number, std::int64_t least = 0) {
    return {Kind::Known, {}, number, least};
  }
  static Number polynomial() { return {Kind::Polynomial, {}, {}, 0}; }
  static Number open() { return {Kind::Open, {}, {}, 0}; }

  bool isKnown() const { return kind == Kind::Known; }
  bool dependsOnExtents() const {
    return kind == Kind::Polynomial || kind == Kind::Open || number.isOpen() || least != 0;
  }
  friend bool operator==(const Number&, const Number&) = default;
};

using Numbers = std::vector<Number>;

/// Whether the integers can hold every extent, and shape arithmetic without wrapping around.
bool isOfWords(mlir::RankedTensorType type) {
  const mlir::Type element = type.getElementType();
  return element.isSignlessInteger(32) || element.isSignlessInteger(64);
}

bool areTruths(mlir::RankedTensorType type) { return type.getElementType().isInteger(1); }

/// The result of an operation on a and b that is not a polynomial of one extent.
Number other(const Number& a, const Number& b) {
  return a.dependsOnExtents() || b.dependsOnExtents() ? Number::open() : Number();
}

/// The result if it is one of the two and it is unknown which.
Number either(const Number& a, const Number& b) { return a == b ? a : other(a, b); }

/// A sum or product of a and b if at least one is not a polynomial of one common extent.
Number combination(const Number& a, const Number& b) {
  const auto isOfData = [](const Number& each) {
    return each.kind == Number::Kind::Data || each.kind == Number::Kind::Open;
  };
  return !isOfData(a) && !isOfData(b) ? Number::polynomial() : other(a, b);
}

/// Whether both are polynomials of the same extent, or one is constant.
bool areOfOne(const Number& a, const Number& b) {
  return a.isKnown() && b.isKnown() &&
         (!a.number.isOpen() || !b.number.isOpen() || a.extent == b.extent);
}

/// The result `number` of an operation on a and b, valid from extent `least` on.
Number made(const Number& a, const Number& b, const std::optional<BatchExtent>& number,
            std::int64_t least = 0) {
  least = std::max({least, a.least, b.least});
  if (!number || least > program::kMostFewest)
    return Number::open();
  Number result = Number::known(*number, least);
  if (number->isOpen())
    result.extent = a.number.isOpen() ? a.extent : b.extent;
  return result;
}

Number sum(const Number& a, const Number& b) {
  return areOfOne(a, b) ? made(a, b, program::sum(a.number, b.number)) : combination(a, b);
}

Number difference(const Number& a, const Number& b) {
  return areOfOne(a, b) ? made(a, b, program::difference(a.number, b.number)) : combination(a, b);
}

Number product(const Number& a, const Number& b) {
  if (!a.isKnown() || !b.isKnown() || (a.number.isOpen() && b.number.isOpen()))
    return combination(a, b);
  return made(a, b, program::product(a.number, b.number));
}

/// The extent from which on a <= b; nullopt if there is none.
std::optional<std::int64_t> whereAtMost(const BatchExtent& a, const BatchExtent& b) {
  const auto more = program::difference(b, a);
  return more ? program::whereNotNegative(*more) : std::nullopt;
}

Number extreme(const Number& a, const Number& b, bool isLeast) {
  if (!areOfOne(a, b))
    return other(a, b);
  const auto aFirst = whereAtMost(a.number, b.number), bFirst = whereAtMost(b.number, a.number);
  if (!aFirst && !bFirst)
    return other(a, b);
  const bool isA = (aFirst && (!bFirst || *aFirst <= *bFirst)) == isLeast;
  return made(a, b, isA ? a.number : b.number, aFirst ? *aFirst : *bFirst);
}

/// 1 if a < b for all extents from some extent on; 0 if a >= b from some extent on.
Number isLess(const Number& a, const Number& b) {
  if (!areOfOne(a, b))
    return other(a, b);
  const auto next = program::sum(a.number, 1);
  if (const auto from = next ? whereAtMost(*next, b.number) : std::nullopt)
    return made(a, b, 1, *from);
  const auto from = whereAtMost(b.number, a.number);
  return from ? made(a, b, 0, *from) : other(a, b);
}

Number negated(const Number& truth) {
  return truth.isKnown() ? difference(Number::known(1), truth) : other(truth, truth);
}

Number both(const Number& a, const Number& b) {
  return areOfOne(a, b) ? extreme(a, b, true) : other(a, b);
}

Number isEqual(const Number& a, const Number& b) {
  return both(negated(isLess(a, b)), negated(isLess(b, a)));
}

/// The quotient, rounded toward zero, or the remainder, which has the sign of a.
Number divided(const Number& a, const Number& b, bool isRemainder) {
  if (!areOfOne(a, b) || b.number == 0)
    return other(a, b);
  if (!a.number.isOpen() && !b.number.isOpen())
    return b.number.fixed == -1
               ? made(a, b, isRemainder ? BatchExtent(0) : *program::difference(0, a.number))
               : made(a, b,
                      isRemainder ? a.number.fixed % b.number.fixed
                                  : a.number.fixed / b.number.fixed);
  if (a.number == b.number)
    return made(a, b, isRemainder ? 0 : 1, 1);
  // |a| < b from some extent on: the quotient is 0 and the remainder a.
  for (const std::int64_t sign : {1, -1}) {
    const auto size = program::product(a.number, sign), next = size ? program::sum(*size, 1) : size;
    const auto isOfSign = size ? whereAtMost(0, *size) : std::nullopt;
    const auto isNearer = next ? whereAtMost(*next, b.number) : std::nullopt;
    if (isOfSign && isNearer)
      return made(a, b, isRemainder ? a.number : BatchExtent(0), std::max(*isOfSign, *isNearer));
  }
  return other(a, b);
}

class Extents {
public:
  explicit Extents(mlir::ModuleOp program) : program(program) {}

  ExtentUses uses() {
    findShapes();
    program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      follow(op);
      return found.empty() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    return {found, {asNumbers.begin(), asNumbers.end()}, least};
  }

private:
  void put(mlir::Value value, Numbers given) {
    if (llvm::any_of(given, [](const Number& each) { return each.dependsOnExtents(); }))
      numbers[value] = std::move(given);
    else
      numbers.erase(value);
  }

  /// The elements of a small integer tensor; nullopt for other tensors. Operations that do not
  /// depend on extents are followed to `depth` levels.
  std::optional<Numbers> of(mlir::Value value, int depth = 8) const {
    constexpr std::int64_t kMost = 4096;
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() > kMost ||
        !llvm::isa<mlir::IntegerType, mlir::IndexType>(type.getElementType()))
      return std::nullopt;
    if (const auto entry = numbers.find(value); entry != numbers.end())
      return entry->second;
    if (mlir::DenseIntElementsAttr constant;
        (isOfWords(type) || areTruths(type)) &&
        mlir::matchPattern(value, mlir::m_Constant(&constant))) {
      Numbers known;
      for (const llvm::APInt& each : constant)
        known.push_back(Number::known(areTruths(type)
                                          ? static_cast<std::int64_t>(each.getZExtValue())
                                          : each.getSExtValue()));
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
    if (auto fused = llvm::dyn_cast<ir::FusedDotOp>(op)) {
      for (mlir::OpOperand& operand : open)
        put(fused.getBody().getArgument(operand.getOperandNumber()),
            Numbers(numbers[operand.get()]));
      return;
    }
    if (llvm::isa<stablehlo::CompareOp>(op) && llvm::all_of(op->getUsers(), isAssertion))
      return;
    // A number that also depends on data, or that holds for some extents only, is left to the run,
    // unless shapes are computed from it.
    std::optional<Numbers> result = resultOf(op);
    const bool isOfRun =
        result && llvm::any_of(*result, [&](const Number& each) {
          return each.kind == Number::Kind::Open || (each.least != 0 && !ofShapes.contains(op));
        });
    if (result &&
        !(isOfRun && llvm::all_of(open, [&](mlir::OpOperand& each) { return isNumber(each); })))
      put(op->getResult(0), std::move(*result));
    else
      for (mlir::OpOperand& operand :
           llvm::make_filter_range(open, [&](mlir::OpOperand& each) { return !isShape(each); }))
        if (isNumber(operand)) {
          asNumbers.insert(&operand);
          note(numbers[operand.get()]);
        } else {
          found = op->getName().getStringRef().str();
        }
    for (mlir::OpOperand& operand : open)
      if (isShape(operand))
        note(numbers[operand.get()]);
  }

  void note(const Numbers& used) {
    for (const Number& each : used)
      least = std::max(least, each.least);
  }

  /// Whether a run can compute the operand as a number from the batch size.
  bool isNumber(mlir::OpOperand& operand) {
    const Numbers& given = numbers[operand.get()];
    return !llvm::isa<stablehlo::CustomCallOp>(operand.getOwner()) && given.size() == 1 &&
           (given[0].isKnown() || given[0].kind == Number::Kind::Polynomial);
  }

  void measure(stablehlo::GetDimensionSizeOp op) {
    const auto axis = static_cast<std::int64_t>(op.getDimension());
    const auto type = llvm::cast<mlir::RankedTensorType>(op.getOperand().getType());
    if (!type.isDynamicDim(static_cast<unsigned>(axis)))
      return;
    // The first operation that measures an extent represents it.
    const auto [name, isNew] = names.insert({std::pair(op.getOperand(), axis), op.getResult()});
    put(op.getResult(), {{Number::Kind::Known, name->second, {0, 1}}});
  }

  /// Whether the operand is a shape, or indices in one.
  static bool makesShape(mlir::OpOperand& operand) {
    if (auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(operand.getOwner()))
      return call.getCallTargetName() == "stablehlo.dynamic_reduce_window";
    // The first operand that is a shape.
    static const llvm::StringMap<unsigned> kShapes = {
        {"stablehlo.dynamic_broadcast_in_dim", 1}, {"stablehlo.dynamic_reshape", 1},
        {"stablehlo.dynamic_gather", 2},           {"stablehlo.dynamic_iota", 0},
        {"stablehlo.real_dynamic_slice", 1},       {"stablehlo.dynamic_pad", 2}};
    const auto shape = kShapes.find(operand.getOwner()->getName().getStringRef());
    return shape != kShapes.end() && operand.getOperandNumber() >= shape->second;
  }

  /// The same, if the shape is a polynomial of extents.
  bool isShape(mlir::OpOperand& operand) {
    return makesShape(operand) && llvm::none_of(numbers[operand.get()], [](const Number& each) {
             return each.kind == Number::Kind::Open;
           });
  }

  /// Finds the operations from which shapes are computed.
  void findShapes() {
    llvm::SmallVector<mlir::Value> next;
    program->walk([&](mlir::Operation* op) {
      for (mlir::OpOperand& operand : op->getOpOperands())
        if (makesShape(operand))
          next.push_back(operand.get());
    });
    while (!next.empty()) {
      mlir::Operation* op = next.pop_back_val().getDefiningOp();
      if (op != nullptr && op->getNumRegions() == 0 && ofShapes.insert(op).second)
        next.append(op->operand_begin(), op->operand_end());
    }
  }

  std::optional<Numbers> resultOf(mlir::Operation* op, int depth = 8) const {
    const bool isMove =
        llvm::isa<stablehlo::ConcatenateOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                  stablehlo::SliceOp, stablehlo::TransposeOp, stablehlo::GatherOp>(op);
    if (!isMove &&
        !llvm::isa<stablehlo::ConvertOp, stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
                   stablehlo::MinOp, stablehlo::MaxOp, stablehlo::ClampOp, stablehlo::SelectOp,
                   stablehlo::DivOp, stablehlo::RemOp, stablehlo::SignOp, stablehlo::CompareOp,
                   stablehlo::AndOp, stablehlo::OrOp, stablehlo::NotOp>(op))
      return std::nullopt;
    const auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    std::vector<Numbers> operands;
    for (mlir::Value operand : op->getOperands()) {
      std::optional<Numbers> each = of(operand, depth);
      if (!each)
        return std::nullopt;
      operands.push_back(std::move(*each));
    }
    if (!type.hasStaticShape() || (!isOfWords(type) && !areTruths(type)))
      return std::nullopt;
    // Comparisons map integers to booleans; other operations on booleans are handled below.
    const bool isOfTruths = llvm::any_of(op->getOperandTypes(), [](mlir::Type given) {
      return areTruths(llvm::cast<mlir::RankedTensorType>(given));
    });
    if (llvm::isa<stablehlo::ConvertOp>(op))
      return areTruths(type) && !isOfTruths ? std::nullopt : std::optional(operands[0]);
    if (isMove)
      return isOfTruths ? std::nullopt : moved(op, operands);
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
    if (llvm::isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::NotOp>(op))
      return isOfTruths ? std::optional(combined([&](auto at) { return truth(op, at); }))
                        : std::nullopt;
    if (auto compare = llvm::dyn_cast<stablehlo::CompareOp>(op))
      return combined([&](auto at) { return compared(compare, at(0), at(1)); });
    if (isOfTruths && !llvm::isa<stablehlo::SelectOp>(op))
      return std::nullopt;
    if (llvm::isa<stablehlo::AddOp>(op))
      return combined([](auto at) { return sum(at(0), at(1)); });
    if (llvm::isa<stablehlo::SubtractOp>(op))
      return combined([](auto at) { return difference(at(0), at(1)); });
    if (llvm::isa<stablehlo::DivOp, stablehlo::RemOp>(op))
      return combined(
          [&](auto at) { return divided(at(0), at(1), llvm::isa<stablehlo::RemOp>(op)); });
    if (llvm::isa<stablehlo::SignOp>(op))
      return combined([](auto at) {
        const Number zero = Number::known(0);
        return difference(isLess(zero, at(0)), isLess(at(0), zero));
      });
    if (llvm::isa<stablehlo::MulOp>(op))
      return combined([](auto at) { return product(at(0), at(1)); });
    if (llvm::isa<stablehlo::MinOp, stablehlo::MaxOp>(op))
      return combined(
          [&](auto at) { return extreme(at(0), at(1), llvm::isa<stablehlo::MinOp>(op)); });
    if (llvm::isa<stablehlo::ClampOp>(op))
      return combined([](auto at) { return extreme(extreme(at(0), at(1), false), at(2), true); });
    return combined([](auto at) {
      const Number condition = at(0);
      if (condition.isKnown()) {
        Number chosen = condition.number.fixed != 0 ? at(1) : at(2);
        chosen.least = std::max(chosen.least, condition.least);
        return chosen;
      }
      return condition.dependsOnExtents() ? Number::open() : either(at(1), at(2));
    });
  }

  template <typename At> static Number truth(mlir::Operation* op, const At& at) {
    if (llvm::isa<stablehlo::NotOp>(op))
      return negated(at(0));
    return llvm::isa<stablehlo::AndOp>(op) ? both(at(0), at(1))
                                           : negated(both(negated(at(0)), negated(at(1))));
  }

  static Number compared(stablehlo::CompareOp compare, const Number& a, const Number& b) {
    using Direction = stablehlo::ComparisonDirection;
    switch (compare.getComparisonDirection()) {
    case Direction::LT:
      return isLess(a, b);
    case Direction::GE:
      return negated(isLess(a, b));
    case Direction::GT:
      return isLess(b, a);
    case Direction::LE:
      return negated(isLess(b, a));
    case Direction::EQ:
      return isEqual(a, b);
    case Direction::NE:
      return negated(isEqual(a, b));
    }
    llvm_unreachable("a comparison that is none");
  }

  /// Evaluates a data movement on element indices to find where each element comes from.
  static std::optional<Numbers> moved(mlir::Operation* op, const std::vector<Numbers>& operands) {
    Numbers all;
    std::vector<program::Value> values;
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
        const std::int64_t element =
            isIndex ? each.number.fixed : static_cast<std::int64_t>(all.size());
        elements.emplace_back(type.getElementTypeBitWidth(), static_cast<std::uint64_t>(element),
                              true);
        if (!isIndex)
          all.push_back(each);
      }
      auto tensor = interpreter::constantTensor(op, mlir::DenseElementsAttr::get(type, elements));
      if (!tensor)
        return llvm::consumeError(tensor.takeError()), std::nullopt;
      values.emplace_back(std::move(*tensor));
    }
    auto results = interpreter::evaluateOperation(op, std::move(values), {});
    if (!results)
      return llvm::consumeError(results.takeError()), std::nullopt;
    Numbers result;
    const auto places = llvm::cast<mlir::DenseIntElementsAttr>(
        interpreter::constantAttribute(op->getContext(), results->front().tensor()));
    for (const llvm::APInt& place : places)
      result.push_back(all[place.getZExtValue()]);
    return result;
  }

  mlir::ModuleOp program;
  llvm::DenseMap<std::pair<mlir::Value, std::int64_t>, mlir::Value> names;
  llvm::DenseMap<mlir::Value, Numbers> numbers; ///< only of values that depend on extents
  llvm::DenseSet<mlir::Operation*> ofShapes;
  llvm::SetVector<mlir::OpOperand*> asNumbers;
  std::string found;
  std::int64_t least = 0;
};

} // namespace

ExtentUses usesOfExtents(mlir::ModuleOp program) {
  // Calls that cannot be inlined remain, and are reported as decisions.
  transforms::inlineCalls(program);
  return Extents(program).uses();
}

} // namespace octavo::session
