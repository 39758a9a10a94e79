#include "octavo/Session/CallableProgram.h"

#include "octavo/Compiler/Codegen/Compiled.h"
#include "octavo/Compiler/Kernels/BatchCode.h"
#include "octavo/Dialect/BatchExtent.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Interpreter/Interpreter.h"
#include "octavo/Program/Steps/Program.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/ExtentUses.h"
#include "octavo/Transforms/Recover/RecoverScaled.h"
#include "octavo/Transforms/Walks/ScatterWindows.h"

#include "mlir/Support/DebugStringHelper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace octavo::session {

namespace {

using program::Value;

/// The number of executables that are kept for fixed extents.
constexpr std::size_t kMostVersions = program::kMostFewest;

llvm::Expected<std::vector<CallableProgram::Result>> resultsOf(mlir::func::FuncOp function) {
  std::vector<CallableProgram::Result> results;
  const std::vector<std::string> names = session::resultNames(function);
  for (const auto& [i, type] : llvm::enumerate(function.getResultTypes())) {
    if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
      if (const auto element = elementType(tensor.getElementType())) {
        results.push_back({names[i], *element, tensor.getShape().vec()});
        continue;
      }
    return session::failure(
        fmt::format("result {} of @{} is {}; a program that is called gives tensors: return these",
                    i, function.getName().str(), mlir::debugString(type)));
  }
  return results;
}

/// The shapes at batch size `items`.
Shapes withItems(Shapes shapes, std::int64_t items) {
  for (std::vector<std::int64_t>& shape : shapes)
    std::ranges::replace(shape, kItems, items);
  return shapes;
}

/// Marks the batch size in `shapes`, and returns it; 0 if there is none. It is the first extent of
/// the first open argument; other open first axes with that extent are marked too.
std::int64_t findItems(Shapes& shapes, std::span<const program::Argument> arguments) {
  std::int64_t items = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<std::int64_t>& open = arguments[i].shape;
    if (open.empty() || !mlir::ShapedType::isDynamic(open.front()))
      continue;
    if (items == 0)
      items = shapes[i].front();
    if (shapes[i].front() == items)
      shapes[i].front() = kItems;
  }
  return items;
}

/// Whether a tensor seems to have more than one axis of the batch size. `other` is the program at
/// twice the batch size of `one`.
bool haveAxesOfItems(mlir::ModuleOp one, mlir::ModuleOp other) {
  const auto sizesOf = [](mlir::ModuleOp program) {
    std::vector<double> sizes;
    program->walk([&](mlir::Operation* op) {
      for (const mlir::Type type : op->getResultTypes()) {
        const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
        sizes.push_back(
            tensor && tensor.hasStaticShape() ? static_cast<double>(tensor.getNumElements()) : 0);
      }
    });
    return sizes;
  };
  const std::vector<double> sizes = sizesOf(one), others = sizesOf(other);
  return sizes.size() == others.size() &&
         llvm::any_of(llvm::zip(sizes, others), [](const auto& each) {
           return std::get<1>(each) > 2.05 * std::get<0>(each);
         });
}

Shapes shapesOfAll(std::span<const Value> values) {
  Shapes shapes;
  for (const Value& value : values)
    shapes.push_back(value.isTensor()   ? value.tensor().shape
                     : value.isUnread() ? value.unread().shape
                                        : value.scaled().shape);
  return shapes;
}

} // namespace

llvm::Expected<std::unique_ptr<CallableProgram>>
CallableProgram::make(std::shared_ptr<mlir::MLIRContext> context, ProgramFile file,
                      const Backend& backend, const PreparationOptions& options) {
  std::unique_ptr<CallableProgram> made(new CallableProgram);
  made->context = std::move(context);
  made->file = std::move(file);
  made->backend = &backend;
  mlir::ModuleOp module = *made->file.program;
  made->told = transforms::scattersPartlyOutside(module);
  auto preparation = prepareProgram(module, options);
  if (!preparation)
    return preparation.takeError();
  llvm::append_range(made->told, preparation->warnings);
  made->report = std::move(preparation->dots);
  made->unchanged = std::move(preparation->unquantized);
  made->dropReport = std::move(preparation->drops);
  made->probedSides = std::move(preparation->probes);
  auto function = session::findFunction(module, options.function);
  if (!function)
    return function.takeError();
  if (function->isExternal())
    return session::failure(
        fmt::format("@{} has no body in the program", function->getName().str()));
  made->functionName = function->getName().str();
  auto taken = session::argumentsOf(*function);
  if (!taken)
    return taken.takeError();
  made->taken = std::move(*taken);
  session::choosePlatform(made->taken, made->file.container);
  auto given = resultsOf(*function);
  if (!given)
    return given.takeError();
  made->given = std::move(*given);
  for (const program::Argument& argument : made->taken)
    made->bound.push_back(argument.given);
  made->donations = session::donationsOf(*function);
  made->isOpen = hasOpenExtents(*function);
  if (made->isOpen) {
    made->assertions = assertionsOf(module, made->functionName);
    mlir::OwningOpRef<mlir::ModuleOp> opened = module.clone();
    if (const std::string decision = usesOfExtents(*opened).decision; !decision.empty())
      made->whyNotForItems =
          "'" + decision + "' takes for a number what is no sum or product of extents";
    else if (made->backend != find("compiled"))
      made->whyNotForItems = "the backend is not the compiled one";
  }
  made->missedDots = transforms::missedDots(module, made->functionName);
  made->decided = module.clone();
  if (!made->isOpen) {
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

llvm::Error CallableProgram::bindFiles(Sources sources, BoundFor use) {
  sources.reading = Reading::Later;
  auto found = session::bindNamed(taken, sources, "@" + functionName);
  if (!found)
    return found.takeError();
  std::vector<Value> values(taken.size());
  for (std::size_t i = 0; i < taken.size(); ++i)
    if ((*found)[i]) {
      values[i] = *(*found)[i];
      bind(i, std::move(*(*found)[i]));
    }
  if (use == BoundFor::Folder)
    return llvm::Error::success();
  std::shared_ptr<program::Executable> executable;
  if (const std::lock_guard lock(usingContext); !isOpen) {
    executable = versions.front().prepared.executable;
  } else if (auto shapes = shapesForItems(); !shapes) {
    llvm::consumeError(shapes.takeError());
  } else if (auto made = ofItems(*shapes)) {
    executable = (*made)->executable;
  } else {
    refusedForItems.emplace(std::move(*shapes), llvm::toString(made.takeError()));
  }
  if (executable) {
    if (llvm::Error error = session::takeUnread(*executable, values))
      return error;
  } else if (auto whole = session::readUnread(values)) {
    values = std::move(*whole);
  } else {
    return whole.takeError();
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!values[i].isToken())
      bind(i, std::move(values[i]));
  return llvm::Error::success();
}

llvm::Expected<Value> CallableProgram::wholeValue(std::size_t argument, const Value& unread) {
  const std::lock_guard lock(readingWhole);
  if (const auto found = wholeValues.find(argument); found != wholeValues.end())
    return found->second;
  auto read = session::readUnread(std::span(&unread, 1));
  if (!read)
    return read.takeError();
  return wholeValues.emplace(argument, std::move(read->front())).first->second;
}

llvm::Error CallableProgram::readForFolder(const program::Executable& executable) {
  for (std::size_t i = 0; i < bound.size(); ++i)
    if (bound[i] && bound[i]->isUnread() && !executable.takesUnread(i)) {
      auto whole = session::readUnread(std::span(&*bound[i], 1));
      if (!whole)
        return whole.takeError();
      bound[i] = std::move(whole->front());
    }
  return llvm::Error::success();
}

llvm::Expected<CallableProgram::Prepared>
CallableProgram::compiled(mlir::OwningOpRef<mlir::ModuleOp> module) const {
  // The executable refers to the module.
  struct WithModule {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::unique_ptr<program::Executable> executable;
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
    return session::failure(
        fmt::format("@{} is a program for {} processes; `octavo run` runs them, with files for "
                    "each",
                    functionName, held->executable->processes()));
  const program::Explanation explanation = held->executable->explain();
  return Prepared{std::move(*results),
                  std::shared_ptr<program::Executable>(held, held->executable.get()),
                  !explanation.interpretedWhole.empty() || !explanation.interpreted.empty()};
}

llvm::Expected<std::vector<CallableProgram::Result>>
CallableProgram::close(mlir::ModuleOp module, const Shapes& shapes) const {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(functionName);
  if (llvm::Error error = closeExtents(function, shapes))
    return std::move(error);
  return resultsOf(function);
}

llvm::Expected<CallableProgram::ForItems> CallableProgram::compiledForItems(const Shapes& shapes,
                                                                            std::int64_t least) {
  // Assertions are checked against the batch size of each call instead.
  mlir::OwningOpRef<mlir::ModuleOp> program = file.program->clone();
  dropAssertions(*program);
  const ExtentUses uses = usesOfExtents(*program);
  for (mlir::OpOperand* use : uses.numbers)
    keepItemNumber(*use);
  // A kernel that reads a fixed index is in bounds for all batch sizes if it is for the smallest.
  std::int64_t asserted = 0;
  if (auto bounds = boundsOfItems(*file.program, functionName, shapes, program::kMostItems))
    asserted = bounds->least;
  else
    llvm::consumeError(bounds.takeError());
  std::int64_t fewest = std::max({least, uses.least, asserted});
  const auto isFor = [&](std::int64_t items) -> llvm::Error {
    mlir::OwningOpRef<mlir::ModuleOp> closed = program->clone();
    return close(*closed, withItems(shapes, items)).takeError();
  };
  if (llvm::Error error = isFor(fewest)) {
    if (fewest >= program::kMostFewest || llvm::errorToBool(isFor(program::kMostFewest)))
      return std::move(error);
    llvm::consumeError(std::move(error));
    do
      ++fewest;
    while (llvm::errorToBool(isFor(fewest)));
  }
  // The batch sizes that compileForItems needs: their distances are small multiples of a prime.
  constexpr std::int64_t kNumbers[] = {1009, 2027, 4093};
  llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>, 3> modules;
  llvm::SmallVector<std::vector<Result>, 3> results;
  llvm::SmallVector<compiler::ProgramOfItems, 3> programs;
  for (const std::int64_t items : kNumbers) {
    if (modules.size() == 2 && !haveAxesOfItems(*modules[0], *modules[1]))
      break;
    modules.push_back(program->clone());
    programs.push_back({*modules.back(), items});
    auto found = close(*modules.back(), withItems(shapes, items));
    if (!found)
      return found.takeError();
    results.push_back(std::move(*found));
  }
  auto compiled =
      compiler::compileForItems(programs, fewest, functionName, interpreter::evaluateOperation);
  if (!compiled)
    return compiled.takeError();
  ForItems made{.shapes = shapes,
                .results = std::move(results[0]),
                .resultShapes = {},
                .items = compiled->items,
                .asserted = asserted,
                .executable = std::move(compiled->executable)};
  for (std::size_t i = 0; i < made.results.size(); ++i) {
    std::vector<program::BatchExtent>& shape = made.resultShapes.emplace_back();
    for (std::size_t axis = 0; axis < made.results[i].shape.size(); ++axis) {
      llvm::SmallVector<std::int64_t, 3> extents{made.results[i].shape[axis]};
      for (const std::vector<Result>& other : llvm::drop_begin(results))
        extents.push_back(other[i].shape[axis]);
      shape.push_back(
          *compiler::itemNumber(extents, llvm::ArrayRef(kNumbers).take_front(extents.size())));
    }
  }
  return made;
}

llvm::Expected<const CallableProgram::ForItems*> CallableProgram::ofItems(const Shapes& shapes) {
  auto found =
      std::ranges::find_if(forItems, [&](const ForItems& each) { return each.shapes == shapes; });
  if (found == forItems.end()) {
    if (!whyNotForItems.empty())
      return session::failure(whyNotForItems);
    if (refusedForItems && refusedForItems->first == shapes)
      return session::failure(refusedForItems->second);
    auto made = compiledForItems(shapes, 1);
    if (!made)
      return made.takeError();
    forItems.push_front(std::move(*made));
    if (forItems.size() > kMostVersions)
      forItems.pop_back();
    found = forItems.begin();
  }
  forItems.splice(forItems.begin(), forItems, found);
  return &forItems.front();
}

/// The executable for any batch size, if there is one for these shapes; else nullopt and the reason
/// in `why`. Fails if the program refuses the shapes.
llvm::Expected<std::optional<CallableProgram::Prepared>>
CallableProgram::preparedForItems(const Shapes& shapes, std::string& why) {
  Shapes marked = shapes;
  const std::int64_t items = isOpen ? findItems(marked, taken) : 0;
  if (items < 1 || items > program::kMostItems)
    return std::nullopt;
  auto kept = ofItems(marked);
  if (!kept) {
    why = llvm::toString(kept.takeError());
    return std::nullopt;
  }
  const ForItems* found = *kept;
  if (items < found->items.least || items > found->items.most)
    return std::nullopt;
  if (assertions) {
    mlir::OwningOpRef<mlir::ModuleOp> checked = assertions->clone();
    if (llvm::Error error =
            closeExtents(checked->lookupSymbol<mlir::func::FuncOp>(functionName), shapes))
      return std::move(error);
  }
  Prepared prepared{found->results, found->executable, false};
  for (auto [result, shape] : llvm::zip(prepared.results, found->resultShapes))
    std::ranges::transform(shape, result.shape.begin(),
                           [&](const program::BatchExtent& extent) { return extent.of(items); });
  return prepared;
}

Shapes CallableProgram::shapesOf(std::span<const Value> values) const {
  return isOpen ? shapesOfAll(values) : Shapes();
}

std::optional<CallableProgram::Prepared> CallableProgram::kept(const Shapes& shapes) {
  constexpr std::chrono::milliseconds kLongerThanNoCompilation{1};
  const std::unique_lock lock(usingContext, kLongerThanNoCompilation);
  if (!lock)
    return std::nullopt;
  const auto found =
      std::ranges::find_if(versions, [&](const Version& each) { return each.shapes == shapes; });
  if (found == versions.end())
    return std::nullopt;
  versions.splice(versions.begin(), versions, found);
  return versions.front().prepared;
}

llvm::Expected<CallableProgram::Prepared> CallableProgram::prepare(const Shapes& shapes) {
  const std::lock_guard lock(usingContext);
  const auto found =
      std::ranges::find_if(versions, [&](const Version& each) { return each.shapes == shapes; });
  if (found != versions.end()) {
    versions.splice(versions.begin(), versions, found);
    return versions.front().prepared;
  }
  std::string why;
  auto prepared = preparedForItems(shapes, why);
  if (!prepared)
    return prepared.takeError();
  if (!*prepared) {
    mlir::OwningOpRef<mlir::ModuleOp> module = file.program->clone();
    if (llvm::Error error =
            closeExtents(module->lookupSymbol<mlir::func::FuncOp>(functionName), shapes))
      return std::move(error);
    if (whyNotForItems.empty()) // a refusal of these shapes says nothing about others
      whyNotForItems = std::move(why);
    auto made = compiled(std::move(module));
    if (!made)
      return made;
    *prepared = std::move(*made);
  }
  versions.push_front({shapes, std::move(**prepared)});
  if (versions.size() > kMostVersions)
    versions.pop_back();
  return versions.front().prepared;
}

llvm::Expected<DotErrors> CallableProgram::dotErrors(std::span<const Value> values,
                                                     DotErrorOptions options) {
  if (!unchanged)
    return session::failure(fmt::format("the dots of @{} were quantized when it was compiled: "
                                        "compile it without, and say here how they are to be",
                                        functionName));
  auto whole = session::readUnread(values);
  if (!whole)
    return whole.takeError();
  const std::lock_guard lock(usingContext);
  options.backend = backend;
  return session::dotErrors(unchanged->lookupSymbol<mlir::func::FuncOp>(functionName), *whole,
                            options);
}

llvm::Expected<DotWidths> CallableProgram::dotWidths() {
  const std::lock_guard lock(usingContext);
  const mlir::OwningOpRef<mlir::ModuleOp> copy = decided->clone();
  return findDotWidths(*copy);
}

llvm::Expected<program::Explanation> CallableProgram::explain() {
  const std::lock_guard lock(usingContext);
  if (!versions.empty())
    return versions.front().prepared.executable->explain();
  if (backend == find("reference")) { // the interpreter accepts any extents
    auto executable = backend->prepare(*decided, functionName);
    return executable ? (*executable)->explain()
                      : llvm::Expected<program::Explanation>(executable.takeError());
  }
  auto shapes = shapesForItems();
  auto made = shapes ? ofItems(*shapes) : shapes.takeError();
  if (made)
    return (*made)->executable->explain();
  return session::failure(fmt::format(
      "@{} leaves extents open, and is compiled for those of each call ({}): call it first; what "
      "it was compiled to for the last call is then told",
      functionName, llvm::toString(made.takeError())));
}

std::string CallableProgram::openExtents() {
  const std::lock_guard lock(usingContext);
  if (!isOpen)
    return "";
  const bool isForItems = versions.empty()
                              ? !forItems.empty()
                              : std::ranges::any_of(forItems, [&](const ForItems& each) {
                                  return each.executable == versions.front().prepared.executable;
                                });
  const auto ofMany = std::ranges::find_if(forItems, [](const ForItems& each) {
    return each.items.least > std::max<std::int64_t>(1, each.asserted);
  });
  if (ofMany != forItems.end())
    return fmt::format("any number of items from {} on, fewer compiled for each",
                       ofMany->items.least);
  if (isForItems)
    return "any number of items";
  return "compiled for each set of extents" + (whyNotForItems.empty() ? "" : ": " + whyNotForItems);
}

llvm::Expected<Shapes> CallableProgram::shapesForItems() const {
  Shapes shapes;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    shapes.push_back(bound[i] ? shapesOfAll(std::span(&*bound[i], 1)).front() : taken[i].shape);
    std::vector<std::int64_t>& shape = shapes.back();
    if (!bound[i] && !shape.empty() && mlir::ShapedType::isDynamic(shape.front()))
      shape.front() = kItems;
    if (llvm::any_of(shape, mlir::ShapedType::isDynamic))
      return session::failure(fmt::format(
          "argument \"{}\" of @{} leaves an extent open besides the first, and the number of "
          "items lies along first axes",
          taken[i].name, functionName));
  }
  return shapes;
}

/// The executable to save. Sets the signature's batch sizes if the program is open.
llvm::Expected<std::shared_ptr<program::Executable>>
CallableProgram::executableToSave(program::Signature& signature) {
  if (!isOpen)
    return versions.front().prepared.executable;
  auto shapes = shapesForItems();
  if (!shapes)
    return session::failure(
        llvm::toString(shapes.takeError()) +
        "; a folder runs on any number of them: export the program with the other extents that it "
        "is to run on");
  const auto failed = [&](const std::string& why) {
    return session::failure(fmt::format(
        "@{} leaves the number of its items open, and is not the same for each: {}; export the "
        "program with the shapes that it is to run on",
        functionName, why));
  };
  if (!whyNotForItems.empty())
    return failed(whyNotForItems);
  auto bounds = boundsOfItems(*file.program, functionName, *shapes, program::kMostItems);
  if (!bounds)
    return failed(llvm::toString(bounds.takeError()));
  auto made = compiledForItems(*shapes, 0);
  if (!made)
    return failed(llvm::toString(made.takeError()));
  for (const std::vector<program::BatchExtent>& shape : made->resultShapes)
    if (llvm::count_if(shape, [](const program::BatchExtent& extent) { return extent.isOpen(); }) >
        1)
      return failed("a result has more than one axis of them, which C is not told");
  bounds->least = std::max(bounds->least, made->items.least);
  bounds->most = std::min(bounds->most, made->items.most);
  if (bounds->least > bounds->most)
    return failed("it asserts what holds for no number of items");
  signature.leastItems = bounds->least;
  signature.mostItems = bounds->most;
  return made->executable;
}

llvm::Error CallableProgram::save(const std::filesystem::path& folder) {
  program::Signature signature{
      .function = functionName, .arguments = {}, .results = {}, .donations = donations};
  for (const program::Argument& argument : taken)
    signature.arguments.push_back(argument.name);
  for (const Result& result : given)
    signature.results.push_back(result.name);
  auto toSave = executableToSave(signature);
  if (!toSave)
    return toSave.takeError();
  program::Executable& executable = **toSave;
  if (llvm::Error error = readForFolder(executable))
    return error;
  if (auto* savable = dynamic_cast<program::Savable*>(&executable))
    return llvmError(savable->save(folder, signature, bound));
  return session::failure(
      "the program is interpreted as a whole, and a folder has no interpreter: " +
      executable.explain().interpretedWhole);
}

llvm::Expected<std::vector<Value>> CallableProgram::call(const Prepared& prepared,
                                                         std::vector<Value> values,
                                                         const program::RunContext& host,
                                                         program::ResultMemory memory) {
  std::unique_lock turn(usingContext, std::defer_lock);
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  while (prepared.isInterpreted && !turn.try_lock_for(kBetweenLooks))
    if (host.isInterrupted && host.isInterrupted())
      return session::failure(
          fmt::format("interrupted before @{} ran: another thread was using it", functionName));
  // An executable for other extents may need a tensor that the first one has in packed form only.
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].isUnread() && !prepared.executable->takesUnread(i)) {
      auto whole = wholeValue(i, values[i]);
      if (!whole)
        return whole.takeError();
      values[i] = std::move(*whole);
    }
  return llvmExpected(prepared.executable->run(std::move(values), host, memory));
}

} // namespace octavo::session
