#include "octavo/Session/Backends.h"

#include "octavo/Compiler/Codegen/Compiled.h"
#include "octavo/Interpreter/Interpreter.h"

namespace octavo::session {

namespace {

llvm::Expected<std::unique_ptr<program::Executable>> prepareCompiled(mlir::ModuleOp program,
                                                                     llvm::StringRef function) {
  return compiler::compileProgram(program, function, interpreter::evaluateOperation,
                                  interpreter::prepare);
}
constexpr Backend kReference{"reference", interpreter::prepare};
constexpr Backend kCompiled{"compiled", prepareCompiled};

/// The compiled backend with guards, which find steps that go beyond their memory. For tests.
llvm::Expected<std::unique_ptr<program::Executable>> prepareGuarded(mlir::ModuleOp program,
                                                                    llvm::StringRef function) {
  return compiler::compileProgram(program, function, interpreter::evaluateOperation,
                                  interpreter::prepare, compiler::Guarding::Slots);
}
constexpr Backend kGuarded{"guarded", prepareGuarded};

} // namespace

std::span<const Backend* const> all() {
  static constexpr const Backend* kTable[] = {&kReference, &kCompiled, &kGuarded};
  return kTable;
}

const Backend* find(std::string_view name) {
  for (const Backend* backend : all())
    if (backend->name == name)
      return backend;
  return nullptr;
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Backend* backend : all())
    list.emplace_back(backend->name);
  return list;
}

} // namespace octavo::session
