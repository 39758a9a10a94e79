#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Shapes/RefineShapes.h"

#include "mlir/AsmParser/AsmParser.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_REFINESHAPES
#include "octavo/Transforms/Passes.h.inc"

namespace {

struct RefineShapes : impl::RefineShapesBase<RefineShapes> {
  using RefineShapesBase::RefineShapesBase;

  void runOnOperation() override {
    auto entry = mlir::SymbolTable(getOperation()).lookup<mlir::func::FuncOp>(function);
    if (!entry || entry.isExternal())
      return fail("there is no function @" + function.getValue() +
                  " to refine; name one with the option function");
    llvm::SmallVector<mlir::Type> arguments;
    for (const std::string& text : types) {
      const mlir::Type type = mlir::parseType(text, &getContext());
      if (!type)
        return signalPassFailure();
      arguments.push_back(type);
    }
    if (types.empty())
      arguments.assign(entry.getArgumentTypes().begin(), entry.getArgumentTypes().end());
    if (failed(refineShapes(entry, arguments)))
      signalPassFailure();
  }
};

} // namespace

} // namespace octavo::transforms
