#include "octavo/Steps/Step.h"

namespace octavo::steps {

llvm::Error Sequence::run(Frame& frame) const {
  for (const std::unique_ptr<Step>& step : steps) {
    if (frame.host->isInterrupted != nullptr && frame.host->isInterrupted())
      return llvm::createStringError(step->name() + ": interrupted here");
    if (llvm::Error error = step->run(frame))
      return error;
  }
  return llvm::Error::success();
}

} // namespace octavo::steps
