#include "octavo/Session/Binding/Program.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Dialect/Donation.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/ArgumentExponents.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Register.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/WrappedCall.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/ProgramFile.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace octavo::session {

static_assert(program::kUnknownExtent == mlir::ShapedType::kDynamic);

namespace {

/// The name that a location carries; empty if none.
std::string nameOf(mlir::Location location) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location))
    return named.getName().str();
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location each : fused.getLocations())
      if (std::string name = nameOf(each); !name.empty())
        return name;
  return "";
}

/// The names, with `stem` and the position in place of empty and repeated names.
std::vector<std::string> uniqueNames(std::vector<std::string> names, llvm::StringRef stem) {
  llvm::StringMap<int> count;
  for (const std::string& name : names)
    ++count[name];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty() || count[names[i]] > 1)
      names[i] = fmt::format("{}{}", stem.str(), i);
  return names;
}

/// Argument `i` without its name, which the caller sets.
llvm::Expected<program::Argument> argumentOf(mlir::func::FuncOp function, unsigned i) {
  const mlir::Type type = function.getArgumentTypes()[i];
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type); tensor)
    if (const auto element = elementType(tensor.getElementType()))
      return program::Argument{"", tensor.getShape().vec(), *element};
  const auto scaled = mlir::dyn_cast<ir::ScaledType>(type);
  if (scaled && !scaled.hasStaticShape())
    return failure(fmt::format("argument {} of @{} cannot be bound: a scaled tensor needs known "
                               "extents, found {}; take a plain tensor and quantize it in the "
                               "program",
                               i, function.getName().str(), mlir::debugString(type)));
  if (scaled) {
    numerics::QuantizeOptions options;
    if (auto said =
            function.getArgAttrOfType<ir::QuantizationAttr>(i, ir::OctavoDialect::kQuantize))
      options = said.getOptions(scaled, format::element("f32"));
    const ir::ArgumentExponents moved =
        ir::argumentExponents(function.getArgAttr(i, ir::kExponents));
    return program::Argument{"", scaled.getShape().vec(),
                             program::ScaledArgument{scaled.getKind(), options,
                                                     moved.exponents.vec(),
                                                     static_cast<std::size_t>(moved.axis)}};
  }
  return failure(fmt::format("argument {} of @{} cannot be bound: expected a tensor of known rank "
                             "and an element type that octavo has, found {}",
                             i, function.getName().str(), mlir::debugString(type)));
}

} // namespace

std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  auto context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  loadDialects(*context);
  // Unregistered dialects are rejected after the whole program is read: verifyHasOperations.
  context->allowUnregisteredDialects();
  return context;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> loadProgram(const std::filesystem::path& path,
                                                              mlir::MLIRContext& context) {
  llvm::Expected<ProgramFile> file = readProgramFile(path, context);
  if (!file)
    return file.takeError();
  return std::move(file->program);
}

llvm::Expected<mlir::func::FuncOp> findFunction(mlir::ModuleOp program, llvm::StringRef name) {
  std::vector<mlir::func::FuncOp> publicFunctions;
  std::vector<std::string> names;
  for (auto function : program.getOps<mlir::func::FuncOp>()) {
    names.push_back(function.getName().str());
    const bool isPublic = function.isPublic() && !function.isExternal();
    if (name.empty() ? function.getName() == "main" && isPublic : function.getName() == name)
      return function;
    if (isPublic)
      publicFunctions.push_back(function);
  }
  const auto modules = program.getOps<mlir::ModuleOp>();
  if (const auto count = std::distance(modules.begin(), modules.end()); names.empty() && count > 0)
    return failure(fmt::format("the file holds {} module{} within the outermost one; octavo takes "
                               "one module of functions. Put the module to run into a file of its "
                               "own (`// -----` separates modules for `octavo-opt "
                               "--split-input-file`)",
                               count, count == 1 ? "" : "s"));
  if (names.empty())
    return failure("the program has no function; it needs a func.func @main");
  if (!name.empty()) {
    const std::vector<std::string> near = base::nearNames(name.str(), names);
    return failure(
        fmt::format("the program has no function @{}{}\n  available: {}", name.str(),
                    near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, ", ")),
                    base::someOf(names)));
  }
  if (publicFunctions.size() == 1)
    return publicFunctions.front();
  return failure(fmt::format("the program has no function @main and {} public ones; choose one: "
                             "--function NAME, in Python function=NAME\n  available: {}",
                             publicFunctions.size(), base::someOf(names)));
}

std::vector<mlir::func::FuncOp> selfChecks(mlir::ModuleOp program) {
  std::vector<mlir::func::FuncOp> functions;
  for (auto function : program.getOps<mlir::func::FuncOp>()) {
    if (function.getNumArguments() != 0 || function.isExternal())
      continue;
    const auto found = function.walk([](mlir::Operation* op) {
      auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op);
      return op->getName().getStringRef().starts_with("check.expect_") ||
                     (call && call.getCallTargetName().starts_with("check."))
                 ? mlir::WalkResult::interrupt()
                 : mlir::WalkResult::advance();
    });
    if (found.wasInterrupted())
      functions.push_back(function);
  }
  return functions;
}

/// Checks that a donated argument names a result of its type. Donations of scaled arguments are not
/// checked, because they no longer fit a result.
static llvm::Error checkDonation(mlir::func::FuncOp function, unsigned i,
                                 const program::Argument& argument) {
  const auto named = function.getArgAttrOfType<mlir::IntegerAttr>(i, "tf.aliasing_output");
  if (!named || argument.isScaled())
    return llvm::Error::success();
  const std::string what =
      fmt::format("argument \"{}\" of @{}: tf.aliasing_output = {}", argument.name,
                  function.getName().str(), named.getValue().getSExtValue());
  const unsigned count = function.getNumResults();
  if (named.getValue().isNegative() || named.getValue().uge(count))
    return failure(fmt::format("{} names no result: there are {}, counted from 0", what, count));
  const auto result = static_cast<unsigned>(named.getValue().getZExtValue());
  if (function.getArgumentTypes()[i] != function.getResultTypes()[result])
    return failure(fmt::format("{} names a result of another type: {}, and the argument is {}; "
                               "name one that can have its memory, or leave it out",
                               what, mlir::debugString(function.getResultTypes()[result]),
                               mlir::debugString(function.getArgumentTypes()[i])));
  return llvm::Error::success();
}

llvm::Expected<std::vector<program::Argument>> argumentsOf(mlir::func::FuncOp function) {
  const unsigned count = function.getNumArguments();
  std::vector<std::string> located(count);
  for (unsigned i = 0; i < count && !function.isExternal(); ++i) {
    located[i] = nameOf(locationOfArgument(function, i));
    if (auto constant = function.getArgAttrOfType<mlir::StringAttr>(i, "jax.global_constant");
        constant && located[i].empty())
      located[i] = constant.str();
  }
  std::vector<std::string> names = uniqueNames(std::move(located), "arg");

  std::vector<program::Argument> arguments;
  llvm::StringMap<unsigned> said;
  for (unsigned i = 0; i < count; ++i) {
    if (auto name = function.getArgAttrOfType<mlir::StringAttr>(i, ir::OctavoDialect::kName)) {
      if (const auto [at, isNew] = said.try_emplace(name.getValue(), i); !isNew)
        return failure(fmt::format("two arguments of @{} have the name \"{}\": {} and {}; give one "
                                   "another octavo.name",
                                   function.getName().str(), name.str(), at->second, i));
      names[i] = name.str();
    }
    llvm::Expected<program::Argument> argument = argumentOf(function, i);
    if (!argument)
      return argument.takeError();
    argument->name = names[i];
    const auto constant = function.getArgAttrOfType<mlir::StringAttr>(i, "jax.global_constant");
    argument->isOfPlatform = constant && constant.getValue() == "_platform_index";
    if (llvm::Error error = checkDonation(function, i, *argument))
      return std::move(error);
    argument->isParameter = function.getArgAttr(i, ir::OctavoDialect::kParameter) != nullptr;
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

llvm::Error markParameters(mlir::func::FuncOp function, std::span<const std::string> names) {
  if (names.empty())
    return llvm::Error::success();
  auto arguments = argumentsOf(function);
  if (!arguments)
    return arguments.takeError();
  const llvm::StringSet<> weights(llvm::from_range, names);
  llvm::SmallVector<mlir::DictionaryAttr> attributes; // set together
  function.getAllArgAttrs(attributes);
  for (auto [argument, own] : llvm::zip_equal(*arguments, attributes))
    if (weights.contains(argument.name)) {
      mlir::NamedAttrList marked(own);
      marked.set(ir::OctavoDialect::kParameter, mlir::UnitAttr::get(function.getContext()));
      own = marked.getDictionary(function.getContext());
    }
  function.setAllArgAttrs(attributes);
  return llvm::Error::success();
}

void choosePlatform(std::vector<program::Argument>& arguments,
                    const std::optional<JaxExport>& container) {
  if (!container)
    return;
  const std::vector<std::string>& platforms = container->platforms();
  const auto cpu = std::find(platforms.begin(), platforms.end(), "cpu");
  if (cpu == platforms.end())
    return;
  for (program::Argument& argument : arguments)
    if (argument.isOfPlatform) {
      auto index = numerics::Tensor::zeros(numerics::IntegerType{32, false}, {});
      index.setCode(0, static_cast<std::uint64_t>(cpu - platforms.begin()));
      argument.given = program::Value(std::move(index));
    }
}

std::vector<std::string> resultNames(mlir::func::FuncOp function) {
  std::vector<std::string> names(function.getNumResults());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    for (llvm::StringRef attribute :
         {ir::OctavoDialect::kName, llvm::StringLiteral("jax.result_info")})
      if (auto name = function.getResultAttrOfType<mlir::StringAttr>(i, attribute);
          name && names[i].empty())
        names[i] = name.str();
  return uniqueNames(std::move(names), "output");
}

std::vector<program::Donation> donationsOf(mlir::func::FuncOp function) {
  std::vector<program::Donation> list;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (isDonatedTo(function, argument, result))
        list.push_back({argument, result});
  return list;
}

} // namespace octavo::session
