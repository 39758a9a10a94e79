#include "octavo/Transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace octavo::transforms {

mlir::LogicalResult ModulePass::initializeOptions(
    llvm::StringRef options,
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine&)> errorHandler) {
  std::string known;
  llvm::raw_string_ostream stream(known);
  printAsTextualPipeline(stream);
  return Pass::initializeOptions(options, [&](const llvm::Twine& message) {
    const std::string text = message.str();
    llvm::StringRef problem = llvm::StringRef(text).trim();
    problem.consume_front("<Pass-Options-Parser>: ");
    return errorHandler(getArgument() + ": " + problem +
                        "; its options, with their defaults: " + known);
  });
}

void ModulePass::fail(const llvm::Twine& message) {
  mlir::emitError(getOperation().getLoc()) << getArgument() << ": " << message;
  signalPassFailure();
}

} // namespace octavo::transforms
