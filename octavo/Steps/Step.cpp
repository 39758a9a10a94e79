#include "octavo/Steps/Step.h"

#include "octavo/Dialect/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo::steps {

std::string_view name(StepFacts::Kind kind) {
  switch (kind) {
  case StepFacts::Kind::Kernel:
    return "kernel";
  case StepFacts::Kind::Product:
    return "product";
  case StepFacts::Kind::Pack:
    return "pack";
  case StepFacts::Kind::Update:
    return "update";
  case StepFacts::Kind::Copy:
    return "copy";
  case StepFacts::Kind::Loop:
    return "loop";
  case StepFacts::Kind::Branch:
    return "branch";
  case StepFacts::Kind::Interpreted:
    return "interpreted";
  }
}

llvm::Error failure(const Step& step, const llvm::Twine& message) {
  mlir::Operation* op = step.operation();
  return llvm::createStringError(locationText(op->getLoc()) + ": '" + op->getName().getStringRef() +
                                 "': " + message);
}

llvm::Error Sequence::run(Frame& frame) const {
  const execution::Host& host = *frame.host;
  for (const std::unique_ptr<Step>& step : steps) {
    if (host.at != nullptr)
      host.at->store(step->operation(), std::memory_order_relaxed);
    if (host.isInterrupted != nullptr && host.isInterrupted())
      return failure(*step, "interrupted here, in @" +
                                step->operation()->getParentOfType<mlir::func::FuncOp>().getName());
    const execution::Timed timed(host.profile, step.get(), execution::Profile::Extent::Whole);
    if (llvm::Error error = step->run(frame))
      return error;
  }
  return llvm::Error::success();
}

} // namespace octavo::steps
