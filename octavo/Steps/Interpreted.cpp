#include "octavo/Steps/Interpreted.h"

namespace octavo::steps {

llvm::Error InterpretedStep::run(Frame& frame) const {
  std::vector<Value> given;
  given.reserve(operands.size());
  for (const Place& place : operands)
    given.push_back(read(frame, place));
  llvm::Expected<std::vector<Value>> found = evaluate(operation(), std::move(given), *frame.host);
  if (!found)
    return found.takeError();
  for (std::size_t i = 0; i < results.size(); ++i)
    write(frame, results[i], std::move((*found)[i]));
  return llvm::Error::success();
}

} // namespace octavo::steps
