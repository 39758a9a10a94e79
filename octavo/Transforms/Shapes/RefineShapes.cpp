#include "octavo/Transforms/Shapes/RefineShapes.h"

#include "octavo/Dialect/NestedCalls.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/Shapes/InferredTypes.h"
#include "octavo/Transforms/Shapes/StaticCounterparts.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace octavo::transforms {

namespace {

using mlir::RankedTensorType;
using mlir::Type;
using mlir::func::FuncOp;

/// The most elements of a tensor that shapes are computed from: a list of extents, not data.
constexpr std::int64_t kMaxShapeElements = 4096;

bool isOfIntegers(Type type) {
  const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && llvm::isa<mlir::IntegerType, mlir::IndexType>(tensor.getElementType());
}

bool isShapeComputation(mlir::Operation* op) {
  return llvm::all_of(op->getResultTypes(), isOfIntegers) && isFoldable(op, kMaxShapeElements);
}

mlir::DenseElementsAttr constantOf(mlir::Value value) {
  mlir::DenseElementsAttr constant;
  const bool isSmall = isOfIntegers(value.getType()) &&
                       mlir::matchPattern(value, mlir::m_Constant(&constant)) &&
                       constant.getNumElements() <= kMaxShapeElements;
  return isSmall ? constant : mlir::DenseElementsAttr();
}

class Refiner {
public:
  explicit Refiner(mlir::ModuleOp program) : symbols(program) {}

  llvm::LogicalResult refine(FuncOp function, llvm::ArrayRef<Type> arguments) {
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError("has more than one block; extents are not followed through "
                                  "branches between blocks");
    mlir::Block& entry = function.front();
    for (auto [argument, type] : llvm::zip_equal(entry.getArguments(), arguments))
      argument.setType(type);
    if (failed(refine(entry)))
      return mlir::failure();
    function.setType(mlir::FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                                             entry.getTerminator()->getOperandTypes()));
    return mlir::success();
  }

  /// Erases called functions that are no longer used. The first copy of an erased function gets its
  /// name, so that a second run makes the same functions.
  void eraseUnused() {
    auto program = llvm::cast<mlir::ModuleOp>(symbols.getOp());
    llvm::DenseMap<mlir::Attribute, mlir::StringAttr> renamed;
    llvm::SmallVector<std::pair<mlir::Operation*, mlir::StringAttr>> names;
    llvm::SmallVector<FuncOp> unused;
    for (const auto& [function, made] : copies) {
      names.emplace_back(function, llvm::cast<FuncOp>(function).getSymNameAttr());
      unused.push_back(llvm::cast<FuncOp>(function));
      llvm::append_range(unused, made);
    }
    eraseUnnamed(program, unused);
    llvm::DenseSet<mlir::Operation*> left;
    for (auto function : program.getOps<FuncOp>())
      left.insert(function);
    for (const auto& [function, name] : names) {
      const auto& made = copies.find(function)->second;
      const auto* const first =
          llvm::find_if(made, [&](FuncOp copy) { return left.contains(copy); });
      if (left.contains(function) || first == made.end())
        continue;
      FuncOp copy = *first;
      renamed[copy.getSymNameAttr()] = name;
      copy.setSymNameAttr(name);
    }
    const auto newName = [&](mlir::FlatSymbolRefAttr name) {
      const mlir::StringAttr given = renamed.lookup(name.getAttr());
      return given ? mlir::FlatSymbolRefAttr::get(given) : name;
    };
    if (!renamed.empty())
      program.walk([&](mlir::Operation* op) {
        if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
          call.setCalleeAttr(newName(call.getCalleeAttr()));
        else if (auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op))
          composite.setDecompositionAttr(newName(composite.getDecompositionAttr()));
      });
  }

private:
  /// A function specialized to the types and constants of a call.
  struct Specialization {
    FuncOp function;
    llvm::SmallVector<mlir::DenseElementsAttr> results; ///< null: not a constant
    bool hasEffects;
  };
  using Key = std::tuple<const void*, std::vector<const void*>, std::vector<const void*>>;

  llvm::LogicalResult refine(mlir::Block& block) {
    for (mlir::Operation& op : llvm::make_early_inc_range(block))
      if (failed(refine(&op)))
        return mlir::failure();
    // Backwards, so that operations that only computed a shape are erased, too.
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (mlir::isOpTriviallyDead(&op))
        op.erase();
    return mlir::success();
  }

  llvm::LogicalResult refine(mlir::Operation* op) {
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
      return refineCall(call, call.getCalleeAttr(),
                        [&](FuncOp callee) { call.setCallee(callee.getName()); });
    if (auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op))
      return refineCall(composite, composite.getDecompositionAttr(),
                        [&](FuncOp callee) { composite.setDecomposition(callee.getName()); });
    if (auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op);
        call && call.getCallTargetName() == "shape_assertion")
      return checkAssertion(call);
    if (auto size = llvm::dyn_cast<stablehlo::GetDimensionSizeOp>(op))
      return putSize(size), mlir::success();
    if (isShapeComputation(op) && foldConstants(op))
      return mlir::success();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return refineLoop(loop);
    if (llvm::isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
      return refineBranches(op);
    if (auto manual = llvm::dyn_cast<sdy::ManualComputationOp>(op))
      enter(manual);
    if (llvm::isa<sdy::NamedComputationOp, ir::FusedDotOp>(op)) {
      mlir::Block& body = op->getRegion(0).front();
      mlir::OpBuilder builder(&body, body.begin());
      for (auto [operand, argument] : llvm::zip_equal(op->getOperands(), body.getArguments())) {
        argument.setType(operand.getType());
        if (const mlir::DenseElementsAttr constant = constantOf(operand))
          replaceByConstant(builder, argument, constant);
      }
    }
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        if (failed(refine(block)))
          return mlir::failure();
    if (mlir::Operation* counterpart = replaceByStatic(op))
      op = counterpart;
    for (auto [result, type] : llvm::zip(op->getResults(), inferredTypes(op)))
      narrow(result, type);
    return mlir::success();
  }

  static void narrow(mlir::Value value, Type type) {
    if (llvm::isa<ir::ScaledType>(type))
      value.setType(type); // the operand's shape, built from the value's own type
    else if (stablehlo::isCompatible(value.getType(), type))
      value.setType(stablehlo::mostSpecific(type, value.getType()));
  }

  static void replaceByConstant(mlir::OpBuilder& builder, mlir::Value value,
                                mlir::DenseElementsAttr constant) {
    value.replaceAllUsesWith(mlir::Value(stablehlo::ConstantOp::create(
        builder, value.getLoc(), llvm::cast<mlir::ElementsAttr>(mlir::Attribute(constant)))));
  }

  static void putSize(stablehlo::GetDimensionSizeOp op) {
    const auto operand = llvm::cast<RankedTensorType>(op.getOperand().getType());
    const auto axis = static_cast<unsigned>(op.getDimension());
    if (operand.isDynamicDim(axis))
      return;
    mlir::OpBuilder builder(op);
    replaceByConstant(
        builder, op.getResult(),
        mlir::DenseElementsAttr::get(RankedTensorType::get({}, builder.getI32Type()),
                                     static_cast<std::int32_t>(operand.getDimSize(axis))));
    op.erase();
  }

  static llvm::LogicalResult checkAssertion(stablehlo::CustomCallOp op) {
    llvm::Expected<bool> holds = evaluateOnConstants(op);
    if (!holds)
      // The interpreter's message names the place.
      return mlir::emitError(mlir::UnknownLoc::get(op.getContext()))
             << llvm::toString(holds.takeError());
    if (*holds)
      op.erase();
    return mlir::success();
  }

  /// Carried values have the same types in every iteration. Tries the types of the initial values
  /// first, then what these and the body's results have in common, until the types are stable.
  llvm::LogicalResult refineLoop(stablehlo::WhileOp loop) {
    llvm::SmallVector<Type> types(loop.getOperandTypes());
    for (bool isStable = false; !isStable;) {
      mlir::OpBuilder builder(loop);
      auto attempt = llvm::cast<stablehlo::WhileOp>(builder.clone(*loop));
      for (mlir::Region* region : {&attempt.getCond(), &attempt.getBody()}) {
        for (auto [argument, type] : llvm::zip_equal(region->getArguments(), types))
          argument.setType(type);
        if (failed(refine(region->front())))
          return mlir::failure();
      }
      isStable = true;
      for (auto [type, given] :
           llvm::zip_equal(types, attempt.getBody().front().getTerminator()->getOperandTypes()))
        if (const Type common = stablehlo::leastSpecific(type, given); common != type) {
          type = common;
          isStable = false;
        }
      if (!isStable) {
        attempt.erase();
        continue;
      }
      for (auto [result, type] : llvm::zip_equal(attempt.getResults(), types))
        result.setType(type);
      loop.replaceAllUsesWith(attempt.getResults());
      loop.erase();
    }
    return mlir::success();
  }

  /// Gives the body of a manual computation its parts of the operands. One-element constants are
  /// passed whole, since no sharding cuts them.
  static void enter(sdy::ManualComputationOp op) {
    mlir::OpBuilder builder(&op.getBody().front(), op.getBody().front().begin());
    for (auto [operand, argument, sharding] : llvm::zip_equal(
             op.getOperands(), op.getBody().getArguments(), op.getInShardings().getShardings())) {
      argument.setType(op.partOf(operand.getType(), sharding));
      const mlir::DenseElementsAttr constant = constantOf(operand);
      if (constant && constant.getType().getRank() == 0)
        replaceByConstant(builder, argument, constant);
    }
  }

  /// Replaces an operation by the branch that a constant chooses. Other branches may be written for
  /// other shapes or platforms.
  llvm::LogicalResult refineBranches(mlir::Operation* op) {
    if (const mlir::DenseElementsAttr constant = constantOf(op->getOperand(0))) {
      const std::int64_t last = op->getNumRegions() - 1;
      const std::int64_t index = (*constant.value_begin<llvm::APInt>()).getSExtValue();
      const bool isCase = llvm::isa<stablehlo::CaseOp>(op);
      const std::int64_t chosen = !isCase                     ? (index != 0 ? 0 : 1)
                                  : index < 0 || index > last ? last
                                                              : index;
      mlir::Block& branch = op->getRegion(static_cast<unsigned>(chosen)).front();
      if (failed(refine(branch)))
        return mlir::failure();
      mlir::Operation* terminator = branch.getTerminator();
      op->replaceAllUsesWith(terminator->getOperands());
      terminator->erase();
      op->getBlock()->getOperations().splice(op->getIterator(), branch.getOperations());
      op->erase();
      return mlir::success();
    }
    llvm::SmallVector<Type> types;
    for (mlir::Region& region : op->getRegions()) {
      if (failed(refine(region.front())))
        return mlir::failure();
      const mlir::TypeRange given = region.front().getTerminator()->getOperandTypes();
      if (types.empty())
        types.assign(given.begin(), given.end());
      else
        for (auto [type, other] : llvm::zip_equal(types, given))
          type = stablehlo::leastSpecific(type, other);
    }
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      narrow(result, type);
    return mlir::success();
  }

  template <typename SetCallee>
  llvm::LogicalResult refineCall(mlir::Operation* op, mlir::FlatSymbolRefAttr name,
                                 SetCallee setCallee) {
    auto callee = symbols.lookup<FuncOp>(name.getValue());
    if (!callee || callee.isExternal())
      return mlir::success();
    Specialization* made = specialize(op, callee);
    if (made == nullptr)
      return mlir::failure();
    mlir::OpBuilder builder(op);
    for (auto [result, type, constant] :
         llvm::zip_equal(op->getResults(), made->function.getResultTypes(), made->results)) {
      narrow(result, type);
      if (constant)
        replaceByConstant(builder, result, constant);
    }
    if (op->use_empty() && !made->hasEffects)
      op->erase();
    else
      setCallee(made->function);
    return mlir::success();
  }

  /// The callee of `op`, specialized to the types and constants of the call.
  Specialization* specialize(mlir::Operation* op, FuncOp callee) {
    Key key{callee.getAsOpaquePointer(), {}, {}};
    llvm::SmallVector<mlir::DenseElementsAttr> constants;
    for (mlir::Value operand : op->getOperands()) {
      constants.push_back(constantOf(operand));
      std::get<1>(key).push_back(operand.getType().getAsOpaquePointer());
      std::get<2>(key).push_back(constants.back().getAsOpaquePointer());
    }
    if (const auto found = specializations.find(key); found != specializations.end())
      return &found->second;
    if (depth == kMostNestedCalls) {
      op->emitError() << "calls nest deeper than " << kMostNestedCalls
                      << "; is the program recursive?";
      return nullptr;
    }
    FuncOp copy = callee.clone();
    copy.setPrivate();
    symbols.insert(copy, mlir::Block::iterator(callee));
    copies[callee].push_back(copy);
    mlir::OpBuilder builder(&copy.front(), copy.front().begin());
    for (auto [argument, constant] : llvm::zip_equal(copy.getArguments(), constants))
      if (constant)
        replaceByConstant(builder, argument, constant);
    ++depth;
    const llvm::LogicalResult refined =
        refine(copy, llvm::SmallVector<Type>(op->getOperandTypes()));
    --depth;
    if (failed(refined))
      return nullptr;
    Specialization made{copy, {}, false};
    for (mlir::Value returned : copy.front().getTerminator()->getOperands())
      made.results.push_back(constantOf(returned));
    made.hasEffects = llvm::any_of(copy.front().without_terminator(), [](mlir::Operation& inner) {
      return !mlir::isMemoryEffectFree(&inner);
    });
    return &specializations.emplace(std::move(key), std::move(made)).first->second;
  }

  mlir::SymbolTable symbols;
  std::map<Key, Specialization> specializations;
  /// Copies of each called function; erased, too, when nothing calls them.
  llvm::MapVector<mlir::Operation*, llvm::SmallVector<FuncOp>> copies;
  int depth = 0;
};

} // namespace

bool hasUnknownExtents(Type type) {
  const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

llvm::LogicalResult refineShapes(FuncOp function, llvm::ArrayRef<Type> arguments) {
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError("takes ") << function.getNumArguments() << " arguments; "
                                          << arguments.size() << " types were given";
  llvm::SmallVector<Type> types;
  for (auto [i, given, type] : llvm::enumerate(arguments, function.getArgumentTypes())) {
    if (!stablehlo::isCompatible(given, type))
      return function.emitOpError("argument ")
             << i << " has the type " << type << ", which " << given << " does not fit";
    types.push_back(given == type ? type : stablehlo::mostSpecific(given, type));
  }
  Refiner refiner(function->getParentOfType<mlir::ModuleOp>());
  if (failed(refiner.refine(function, types)))
    return mlir::failure();
  refiner.eraseUnused();
  // Refined extents may contradict each other where one side was open.
  return mlir::verify(function->getParentOp());
}

} // namespace octavo::transforms
