#include "octavo/Backends/Backends.h"

#include "octavo/Pipelines/Compiled.h"
#include "octavo/Reference/Interpreter.h"

namespace octavo::backends {

namespace {

llvm::Expected<std::unique_ptr<execution::Executable>> prepareCompiled(mlir::ModuleOp program,
                                                                       llvm::StringRef function) {
  return pipelines::compileProgram(program, function, reference::evaluateOperation,
                                   reference::kBackend);
}
constexpr execution::Backend kCompiled{"compiled", prepareCompiled};

/// Compiled, with what finds steps that go beyond their memory: for tests.
llvm::Expected<std::unique_ptr<execution::Executable>> prepareGuarded(mlir::ModuleOp program,
                                                                      llvm::StringRef function) {
  return pipelines::compileProgram(program, function, reference::evaluateOperation,
                                   reference::kBackend, conversion::Guarding::Slots);
}
constexpr execution::Backend kGuarded{"guarded", prepareGuarded};

} // namespace

std::span<const execution::Backend* const> all() {
  static constexpr const execution::Backend* kTable[] = {&reference::kBackend, &kCompiled,
                                                         &kGuarded};
  return kTable;
}

const execution::Backend* find(std::string_view name) {
  for (const execution::Backend* backend : all())
    if (backend->name == name)
      return backend;
  return nullptr;
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const execution::Backend* backend : all())
    list.emplace_back(backend->name);
  return list;
}

} // namespace octavo::backends
