#include "octavo/Backends/OpenExtents.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Transforms/RefineShapes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace octavo::backends {

bool hasOpenExtents(mlir::func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(),
                      [](mlir::Type type) { return transforms::hasUnknownExtents(type); });
}

llvm::Error closeExtents(mlir::func::FuncOp function, const Shapes& shapes) {
  std::vector<mlir::Type> types(function.getArgumentTypes().begin(),
                                function.getArgumentTypes().end());
  for (std::size_t i = 0; i < types.size(); ++i)
    if (transforms::hasUnknownExtents(types[i]))
      types[i] = mlir::RankedTensorType::get(
          shapes[i], mlir::cast<mlir::RankedTensorType>(types[i]).getElementType());
  const Diagnostics diagnostics(*function.getContext());
  if (failed(transforms::refineShapes(function, types)))
    return llvm::createStringError(diagnostics.found());
  return llvm::Error::success();
}

llvm::Error closeExtents(mlir::func::FuncOp function, std::span<const execution::Value> values) {
  Shapes shapes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (transforms::hasUnknownExtents(function.getArgumentTypes()[i]))
      shapes[i] = values[i].tensor().shape;
  return closeExtents(function, shapes);
}

static bool isAssertion(mlir::Operation* op) {
  const auto target = op->getAttrOfType<mlir::StringAttr>("call_target_name");
  return target && target.getValue() == "shape_assertion";
}

std::string usesOfExtents(mlir::ModuleOp program) {
  // What computes sizes from sizes, and what takes them for shapes from an operand on.
  static const llvm::StringSet<> kArithmetic = {
      "stablehlo.convert",     "stablehlo.reshape",
      "stablehlo.concatenate", "stablehlo.slice",
      "stablehlo.add",         "stablehlo.subtract",
      "stablehlo.multiply",    "stablehlo.broadcast_in_dim"};
  static const llvm::StringMap<unsigned> kShapes = {{"stablehlo.dynamic_broadcast_in_dim", 1},
                                                    {"stablehlo.dynamic_reshape", 1},
                                                    {"stablehlo.dynamic_iota", 0},
                                                    {"stablehlo.real_dynamic_slice", 1},
                                                    {"stablehlo.dynamic_pad", 2}};
  llvm::SetVector<mlir::Value> sizes;
  std::string found;
  program->walk([&](mlir::Operation* op) {
    const llvm::StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "tensor" || dialect == "shape")
      found = op->getName().getStringRef().str();
    if (auto size = llvm::dyn_cast<stablehlo::GetDimensionSizeOp>(op))
      if (mlir::cast<mlir::RankedTensorType>(size.getOperand().getType())
              .isDynamicDim(static_cast<unsigned>(size.getDimension())))
        sizes.insert(size.getResult());
  });
  for (std::size_t i = 0; i < sizes.size() && found.empty(); ++i)
    for (mlir::OpOperand& use : sizes[i].getUses()) {
      mlir::Operation* op = use.getOwner();
      const llvm::StringRef name = op->getName().getStringRef();
      if (const auto shape = kShapes.find(name);
          (shape != kShapes.end() && use.getOperandNumber() >= shape->second) || isAssertion(op))
        continue;
      if (kArithmetic.contains(name)) {
        sizes.insert(op->getResult(0));
        continue;
      }
      if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
        if (auto callee = program.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
            callee && !callee.isExternal()) {
          sizes.insert(callee.getArgument(use.getOperandNumber()));
          continue;
        }
      if (name != "stablehlo.compare" || !llvm::all_of(op->getUsers(), isAssertion))
        found = name.str();
    }
  return found;
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

} // namespace octavo::backends
