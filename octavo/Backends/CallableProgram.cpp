#include "octavo/Backends/CallableProgram.h"

#include "octavo/Backends/OpenExtents.h"
#include "octavo/Dialect/Donation.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Execution/Savable.h"
#include "octavo/Runtime/Failure.h"
#include "octavo/Runtime/Program.h"
#include "octavo/Transforms/RecoverScaled.h"

#include "mlir/Support/DebugStringHelper.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::backends {

namespace {

using execution::Value;

/// Executables for extents of their own that are kept.
constexpr std::size_t kMostVersions = 16;

llvm::Expected<std::vector<CallableProgram::Result>> resultsOf(mlir::func::FuncOp function) {
  std::vector<CallableProgram::Result> results;
  const std::vector<std::string> names = runtime::resultNames(function);
  for (const auto& [i, type] : llvm::enumerate(function.getResultTypes())) {
    if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
      if (const auto element = elementType(tensor.getElementType())) {
        results.push_back({names[i], *element, tensor.getShape().vec()});
        continue;
      }
    return runtime::failure(
        fmt::format("result {} of @{} is {}; a program that is called gives tensors: return these",
                    i, function.getName().str(), mlir::debugString(type)));
  }
  return results;
}

std::vector<std::vector<std::int64_t>> shapesOf(std::span<const Value> values) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Value& value : values)
    shapes.push_back(value.isTensor() ? value.tensor().shape : value.scaled().shape);
  return shapes;
}

} // namespace

llvm::Expected<std::unique_ptr<CallableProgram>>
CallableProgram::make(std::shared_ptr<mlir::MLIRContext> context, runtime::ProgramFile file,
                      const CallableOptions& options) {
  std::unique_ptr<CallableProgram> made(new CallableProgram);
  made->context = std::move(context);
  made->file = std::move(file);
  made->backend = options.backend;
  mlir::ModuleOp module = *made->file.program;
  if (options.recoversScaled)
    transforms::recoverScaled(module);
  if (options.dots) {
    auto report = transforms::quantizeDots(module, *options.dots);
    if (!report)
      return report.takeError();
    made->report = std::move(*report);
  } else {
    made->unchanged = module.clone();
  }
  if (options.dropsScales)
    made->dropReport = transforms::dropScalesOfProgram(module);
  if (options.probes) {
    auto probed = transforms::addCalibrationProbes(module, *options.probes);
    if (!probed)
      return probed.takeError();
    made->probedSides = std::move(*probed);
  }
  auto function = runtime::findFunction(module, options.function);
  if (!function)
    return function.takeError();
  if (function->isExternal())
    return runtime::failure(
        fmt::format("@{} has no body in the program", function->getName().str()));
  made->functionName = function->getName().str();
  auto taken = runtime::argumentsOf(*function);
  if (!taken)
    return taken.takeError();
  made->taken = std::move(*taken);
  runtime::choosePlatform(made->taken, made->file.container);
  auto given = resultsOf(*function);
  if (!given)
    return given.takeError();
  made->given = std::move(*given);
  for (const runtime::Argument& argument : made->taken)
    made->bound.push_back(argument.given);
  for (unsigned i = 0; i < made->taken.size(); ++i)
    for (unsigned result = 0; result < made->given.size(); ++result)
      if (isDonatedTo(*function, i, result))
        made->donated.emplace(i, result);
  made->isOpen = hasOpenExtents(*function);
  if (!made->isOpen) {
    made->missedDots = transforms::missedDots(module, made->functionName);
    auto prepared = made->compiled(std::move(made->file.program));
    if (!prepared)
      return prepared.takeError();
    made->versions.push_back({{}, std::move(*prepared)});
  }
  return made;
}

void CallableProgram::bind(std::size_t argument, Value value) {
  bound[argument] = std::move(value);
}

llvm::Error CallableProgram::bindFiles(runtime::Sources sources) {
  // Those of other extents would read the files again.
  sources.reading = isOpen ? runtime::Reading::Now : runtime::Reading::Later;
  auto found = runtime::bindNamed(taken, sources, "@" + functionName);
  if (!found)
    return found.takeError();
  std::vector<Value> values(taken.size());
  for (std::size_t i = 0; i < taken.size(); ++i)
    if ((*found)[i])
      values[i] = std::move(*(*found)[i]);
  if (!isOpen)
    if (llvm::Error error = runtime::takeUnread(*versions.front().prepared.executable, values))
      return error;
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!values[i].isToken())
      bind(i, std::move(values[i]));
  return llvm::Error::success();
}

llvm::Expected<CallableProgram::Prepared>
CallableProgram::compiled(mlir::OwningOpRef<mlir::ModuleOp> module) const {
  // What runs refers to the module.
  struct WithModule {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::unique_ptr<execution::Executable> executable;
  };
  auto held = std::make_shared<WithModule>();
  held->module = std::move(module);
  auto results = resultsOf(held->module->lookupSymbol<mlir::func::FuncOp>(functionName));
  if (!results)
    return results.takeError();
  auto executable = backend->prepare(*held->module, functionName);
  if (!executable)
    return executable.takeError();
  held->executable = std::move(*executable);
  if (held->executable->processes() != 1)
    return runtime::failure(
        fmt::format("@{} is a program for {} processes; `octavo run` runs them, with files for "
                    "each",
                    functionName, held->executable->processes()));
  const execution::Explanation explanation = held->executable->explain();
  return Prepared{std::move(*results),
                  std::shared_ptr<execution::Executable>(held, held->executable.get()),
                  !explanation.interpretedWhole.empty() || !explanation.interpreted.empty()};
}

llvm::Expected<CallableProgram::Prepared> CallableProgram::prepare(std::span<const Value> values) {
  const auto shapes = isOpen ? shapesOf(values) : std::vector<std::vector<std::int64_t>>();
  const std::lock_guard lock(usingContext);
  const auto found =
      std::ranges::find_if(versions, [&](const Version& each) { return each.shapes == shapes; });
  if (found != versions.end()) {
    versions.splice(versions.begin(), versions, found);
    return versions.front().prepared;
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = file.program->clone();
  if (llvm::Error error =
          closeExtents(module->lookupSymbol<mlir::func::FuncOp>(functionName), values))
    return std::move(error);
  auto prepared = compiled(std::move(module));
  if (!prepared)
    return prepared;
  versions.push_front({shapes, std::move(*prepared)});
  if (versions.size() > kMostVersions)
    versions.pop_back();
  return versions.front().prepared;
}

llvm::Expected<DotErrors> CallableProgram::dotErrors(std::span<const Value> values,
                                                     DotErrorOptions options) {
  if (!unchanged)
    return runtime::failure(fmt::format("the dots of @{} were quantized when it was compiled: "
                                        "compile it without, and say here how they are to be",
                                        functionName));
  const std::lock_guard lock(usingContext);
  options.backend = backend;
  return backends::dotErrors(unchanged->lookupSymbol<mlir::func::FuncOp>(functionName), values,
                             options);
}

std::optional<execution::Explanation> CallableProgram::explain() {
  const std::lock_guard lock(usingContext);
  if (versions.empty())
    return std::nullopt;
  return versions.front().prepared.executable->explain();
}

llvm::Error CallableProgram::save(const std::filesystem::path& folder) {
  if (isOpen)
    return runtime::failure(fmt::format(
        "@{} leaves extents of its arguments open, and what is written has code for known "
        "ones alone: export the program with the shapes that it is to run on",
        functionName));
  execution::Signature signature{.function = functionName, .arguments = {}, .results = {}};
  for (const runtime::Argument& argument : taken)
    signature.arguments.push_back(argument.name);
  for (const Result& result : given)
    signature.results.push_back(result.name);
  execution::Executable& executable = *versions.front().prepared.executable;
  if (auto* savable = dynamic_cast<execution::Savable*>(&executable))
    return savable->save(folder, signature, bound);
  return runtime::failure(
      "the program is interpreted as a whole, and a folder has no interpreter: " +
      executable.explain().interpretedWhole);
}

llvm::Expected<std::vector<Value>> CallableProgram::call(const Prepared& prepared,
                                                         std::vector<Value> values,
                                                         const execution::Host& host,
                                                         execution::ResultMemory memory) {
  std::unique_lock turn(usingContext, std::defer_lock);
  if (prepared.isInterpreted)
    turn.lock();
  return prepared.executable->run(std::move(values), host, memory);
}

} // namespace octavo::backends
