#include "octavo/Dialect/VHLO/Artifact.h"
#include "octavo/Dialect/VHLO/Attributes.h"
#include "octavo/Dialect/VHLO/BuiltinEntries.h"
#include "octavo/Dialect/VHLO/CheckBytecode.h"
#include "octavo/Dialect/VHLO/Operations.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace octavo::vhlo {

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

/// The name of the operation in the program: of func for VHLO's functions and calls, else of
/// StableHLO.
std::string nameInProgram(llvm::StringRef stem, mlir::Operation* op) {
  if (stem == "func" || stem == "call")
    return ("func." + stem).str();
  if (stem == "return")
    return llvm::isa<mlir::func::FuncOp>(op->getParentOp()) ||
                   op->getParentOp()->getName().getStringRef().starts_with("vhlo.func_v")
               ? "func.return"
               : "stablehlo.return";
  return ("stablehlo." + stem).str();
}

/// The row of a VHLO operation; null for an operation of another dialect.
const OperationRow* rowOf(mlir::Operation* op) {
  return op->getName().getDialectNamespace() == VHLODialect::getDialectNamespace()
             ? findOperation(op->getName().stripDialect())
             : nullptr;
}

/// Reports every operation without a counterpart in octavo once, with its number of uses.
LogicalResult verifyOperations(mlir::Operation* program) {
  llvm::MapVector<mlir::StringAttr, std::pair<mlir::Location, unsigned>> unknown;
  program->walk([&](mlir::Operation* op) {
    if (op->getName().getDialectNamespace() != VHLODialect::getDialectNamespace())
      return;
    const OperationRow* row = rowOf(op);
    const std::string name =
        row ? nameInProgram(row->stem(), op) : op->getName().getStringRef().str();
    if (!row || !mlir::RegisteredOperationName::lookup(name, op->getContext()))
      ++unknown
            .try_emplace(mlir::StringAttr::get(op->getContext(), name), std::pair(op->getLoc(), 0u))
            .first->second.second;
  });
  for (const auto& [name, found] : unknown)
    mlir::emitError(found.first) << "octavo does not know '" << name.getValue() << "' ("
                                 << found.second << " in the program)";
  return success(unknown.empty());
}

LogicalResult convertFunction(const mlir::NamedAttrList& attributes, mlir::func::FuncOp function,
                              EmitError emitError) {
  mlir::MLIRContext* context = function.getContext();
  const auto lists = [&](llvm::StringRef name, std::size_t count, auto set) -> LogicalResult {
    const auto array = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attributes.get(name));
    if (!array || (!array.empty() && array.size() != count) ||
        !llvm::all_of(array, llvm::IsaPred<mlir::DictionaryAttr>))
      return emitError() << name << " is not a dictionary for each";
    llvm::SmallVector<mlir::DictionaryAttr> dictionaries;
    for (const mlir::Attribute element : array)
      dictionaries.push_back(llvm::cast<mlir::DictionaryAttr>(element));
    if (llvm::any_of(dictionaries, [](mlir::DictionaryAttr own) { return !own.empty(); }))
      set(dictionaries);
    return success();
  };
  if (failed(lists("arg_attrs", function.getNumArguments(),
                   [&](auto all) { function.setAllArgAttrs(all); })))
    return failure();
  if (failed(lists("res_attrs", function.getNumResults(),
                   [&](auto all) { function.setAllResultAttrs(all); })))
    return failure();
  const auto visibility =
      llvm::dyn_cast_or_null<mlir::StringAttr>(attributes.get("sym_visibility"));
  if (!visibility || !llvm::is_contained({"", "public", "private", "nested"}, visibility))
    return emitError() << "the visibility of a function is not public, private or nested";
  if (!visibility.empty() && visibility != "public")
    function.setSymVisibilityAttr(visibility);
  else if (!visibility.empty())
    function.setSymVisibilityAttr(mlir::StringAttr::get(context, "public"));
  return success();
}

/// Replaces a VHLO operation by the StableHLO operation.
LogicalResult convert(mlir::Operation* op, const OperationRow& row) {
  const auto emitError = [&] {
    return mlir::emitError(op->getLoc()) << "'vhlo." << row.name << "': ";
  };
  mlir::MLIRContext* context = op->getContext();
  mlir::OpBuilder builder(op);
  mlir::NamedAttrList inherent, discardable;
  const llvm::SmallVector<llvm::StringRef> names = row.attributeNames();
  for (const mlir::NamedAttribute named : op->getAttrs())
    (llvm::is_contained(names, named.getName()) ? inherent : discardable).push_back(named);
  for (llvm::StringRef name : names)
    if (!inherent.get(name))
      return emitError() << "has no attribute " << name;

  if (row.stem() == "func") {
    const auto name = llvm::dyn_cast<mlir::StringAttr>(inherent.get("sym_name"));
    const auto typed = llvm::dyn_cast<mlir::TypeAttr>(inherent.get("function_type"));
    const auto type =
        typed ? llvm::dyn_cast<mlir::FunctionType>(typed.getValue()) : mlir::FunctionType();
    if (!name || name.empty() || !type || op->getNumRegions() != 1)
      return emitError() << "is not a function with a name, a type and a body";
    auto function = mlir::func::FuncOp::create(builder, op->getLoc(), name, type);
    function.getBody().takeBody(op->getRegion(0));
    function->setDiscardableAttrs(discardable.getDictionary(context));
    if (failed(convertFunction(inherent, function, emitError))) {
      op->getRegion(0).takeBody(function.getBody());
      function.erase();
      return failure();
    }
    op->erase();
    return success();
  }
  if (row.name == "dynamic_conv_v1") // later versions have the padding only as an operand
    inherent.erase("padding");
  if (failed(toStableHLO(row.stem(), inherent, context, emitError)))
    return failure();
  mlir::OperationState state(op->getLoc(), nameInProgram(row.stem(), op));
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addAttributes(inherent);
  state.addAttributes(discardable);
  for (mlir::Region& region : op->getRegions())
    state.addRegion()->takeBody(region);
  if (const auto info = state.name.getRegisteredInfo()) {
    for (const mlir::NamedAttribute named : inherent)
      if (!llvm::is_contained(info->getAttributeNames(), named.getName()))
        return emitError() << "octavo does not know the attribute " << named.getName().strref();
    mlir::NamedAttrList checked(inherent);
    if (failed(info->verifyInherentAttrs(checked, emitError)))
      return failure();
  }
  mlir::Operation* converted = builder.create(state);
  op->replaceAllUsesWith(converted);
  op->erase();
  return success();
}

/// Removes the casts between VHLO's types and those of other dialects. Here both are MLIR's types,
/// so a cast must not change its type.
LogicalResult dropCasts(mlir::Operation* program) {
  const mlir::WalkResult walked = program->walk([](mlir::UnrealizedConversionCastOp cast) {
    if (cast.getOperandTypes() != cast.getResultTypes()) {
      mlir::emitError(cast.getLoc()) << "casts " << cast.getOperandTypes() << " to "
                                     << cast.getResultTypes() << ", which differ";
      return mlir::WalkResult::interrupt();
    }
    if (llvm::any_of(cast.getOperands(),
                     [&](mlir::Value value) { return value.getDefiningOp() == cast; })) {
      mlir::emitError(cast.getLoc()) << "casts its own result";
      return mlir::WalkResult::interrupt();
    }
    cast->replaceAllUsesWith(cast.getOperands());
    cast.erase();
    return mlir::WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Replaces VHLO by StableHLO in a function or in an operation outside functions.
LogicalResult convertAll(mlir::Operation* program) {
  if (failed(dropCasts(program)))
    return failure();
  const mlir::WalkResult walked =
      program->walk<mlir::WalkOrder::PostOrder>([](mlir::Operation* op) {
        const OperationRow* row = rowOf(op);
        return row && failed(convert(op, *row)) ? mlir::WalkResult::interrupt()
                                                : mlir::WalkResult::advance();
      });
  return failure(walked.wasInterrupted());
}

} // namespace

bool isBytecode(llvm::StringRef bytes) { return bytes.starts_with("ML\xefR"); }

std::optional<Version> versionOf(llvm::StringRef bytes) {
  constexpr llvm::StringLiteral kProducer = "StableHLO_v";
  const llvm::StringRef producer = bytes.take_front(64).substr(5).split('\0').first;
  const std::size_t at = producer.find(kProducer);
  return isBytecode(bytes) && at != llvm::StringRef::npos
             ? parseVersion(producer.drop_front(at + kProducer.size()))
             : std::nullopt;
}

mlir::OwningOpRef<mlir::ModuleOp>
readBytecode(llvm::MemoryBufferRef bytes, mlir::MLIRContext* context, UnreadFunctions& unread) {
  const mlir::Location start =
      mlir::FileLineColLoc::get(context, bytes.getBufferIdentifier(), 0, 0);
  if (const std::optional<Version> version = versionOf(bytes.getBuffer());
      version && Version{kNewest.major, kNewest.minor} < Version{version->major, version->minor}) {
    mlir::emitError(start) << "is an artifact of VHLO " << version->text()
                           << "; octavo reads versions from " << kOldest.text() << " to "
                           << kNewest.text() << ": write it anew for one of these";
    return {};
  }
  if (const std::optional<std::string> wrong = checkBytecode(bytes.getBuffer())) {
    mlir::emitError(start) << "the file is damaged: " << *wrong;
    return {};
  }
  context->getOrLoadDialect<VHLODialect>();
  mlir::Block block;
  mlir::ParserConfig config(context, /*verifyAfterParse=*/false);
  addEntryReaders(config.getBytecodeReaderConfig());
  if (failed(mlir::readBytecodeFile(bytes, &block, config)))
    return {};
  if (!llvm::hasSingleElement(block) || !llvm::isa<mlir::ModuleOp>(block.front())) {
    mlir::emitError(start) << "is bytecode of something other than one module";
    return {};
  }
  mlir::OwningOpRef<mlir::ModuleOp> module(llvm::cast<mlir::ModuleOp>(block.front()));
  module->getOperation()->remove();
  if (unread.refuses())
    static_cast<void>(verifyOperations(*module)); // counts the operations in the whole program
  unread.onEach(*module, verifyOperations, unread.refuses());
  unread.onEach(*module, convertAll);
  if (failed(unread.settle(*module)) || failed(verifyOperations(*module)) ||
      failed(convertAll(*module)))
    return {};
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::MemoryBufferRef bytes,
                                               mlir::MLIRContext* context) {
  UnreadFunctions unread(UnreadFunctions::Policy::Refuse);
  return readBytecode(bytes, context, unread);
}

} // namespace octavo::vhlo
