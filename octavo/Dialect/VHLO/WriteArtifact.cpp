#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Artifact.h"
#include "octavo/Dialect/VHLO/Attributes.h"
#include "octavo/Dialect/VHLO/Availability.h"
#include "octavo/Dialect/VHLO/Operations.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace octavo::vhlo {

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

/// The operation's name in VHLO; empty if artifacts do not have the operation.
llvm::StringRef stemOf(mlir::Operation* op) {
  if (llvm::isa<mlir::func::FuncOp, mlir::func::CallOp, mlir::func::ReturnOp>(op) ||
      op->getName().getDialectNamespace() == "stablehlo")
    return op->getName().stripDialect();
  return {};
}

mlir::InFlightDiagnostic error(mlir::Operation* op) {
  return mlir::emitError(op->getLoc()) << "'" << op->getName() << "': ";
}

/// Replaces the operations of a program by VHLO's, in place.
class Writing {
public:
  Writing(mlir::MLIRContext* context, const Version& target) : context(context), target(target) {}

  LogicalResult module(mlir::ModuleOp module) {
    if (failed(checkOperations(module)))
      return failure();
    const mlir::WalkResult walked =
        module.walk<mlir::WalkOrder::PostOrder>([&](mlir::Operation* op) {
          return op != module &&
                         (failed(checkTypes(op)) || (!isForeign(op) && failed(operation(op))))
                     ? mlir::WalkResult::interrupt()
                     : mlir::WalkResult::advance();
        });
    if (walked.wasInterrupted())
      return failure();
    // Types change last, because converting an operation reads the types of its operands.
    const llvm::DenseSet<mlir::Value> plain = bridge(module);
    const auto makePortable = [&](mlir::Value value) {
      if (!plain.contains(value))
        value.setType(PortableType::get(value.getType()));
    };
    module.walk([&](mlir::Operation* op) {
      llvm::for_each(op->getResults(), makePortable);
      for (mlir::Region& region : op->getRegions())
        for (mlir::Block& block : region)
          llvm::for_each(block.getArguments(), makePortable);
    });
    return success();
  }

private:
  /// Reports every operation that the target version lacks once, with its number of uses.
  LogicalResult checkOperations(mlir::ModuleOp module);
  LogicalResult operation(mlir::Operation* op);
  LogicalResult functionAttributes(mlir::func::FuncOp function, mlir::NamedAttrList& attributes);
  /// Verifies that an older version of the operation can express this one, beyond its attributes.
  LogicalResult checkForm(mlir::Operation* op, llvm::StringRef stem, const OperationRow& row);

  /// Inserts casts between VHLO's types and MLIR's types, which foreign operations keep. Returns
  /// the values that keep MLIR's types.
  static llvm::DenseSet<mlir::Value> bridge(mlir::ModuleOp module);

  LogicalResult checkType(mlir::Operation* op, mlir::Type type) {
    const std::optional<Version> first = since(type);
    if (!first)
      return error(op) << "artifacts do not hold the type " << type;
    if (target < *first)
      return error(op) << "the type " << type << " came with VHLO " << first->text()
                       << "; the target is " << target.text();
    return success();
  }
  LogicalResult checkTypes(mlir::Operation* op) {
    for (const mlir::Type result : op->getResultTypes())
      if (failed(checkType(op, result)))
        return failure();
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        for (const mlir::Type argument : block.getArgumentTypes())
          if (failed(checkType(op, argument)))
            return failure();
    return success();
  }
  LogicalResult attribute(mlir::Operation* op, llvm::StringRef name, mlir::Attribute value,
                          mlir::NamedAttrList& portable) {
    const std::optional<Version> first = since(value);
    if (!first)
      return error(op) << "artifacts do not hold the attribute " << name << " = " << value;
    if (target < *first)
      return error(op) << "the attribute " << name << " = " << value << " came with VHLO "
                       << first->text() << "; the target is " << target.text();
    portable.set(name, PortableAttribute::of(value));
    return success();
  }

  mlir::MLIRContext* context;
  Version target;
};

LogicalResult Writing::checkOperations(mlir::ModuleOp module) {
  llvm::MapVector<mlir::OperationName, std::pair<mlir::Operation*, unsigned>> missing;
  module.walk([&](mlir::Operation* op) {
    const llvm::StringRef stem = stemOf(op);
    const bool isThere =
        isForeign(op) ? !(target < kMixed) : !stem.empty() && findOperation(stem, target);
    if (op != module && !isThere)
      ++missing.try_emplace(op->getName(), std::pair(op, 0u)).first->second.second;
  });
  for (const auto& [name, found] : missing) {
    const auto& [op, count] = found;
    const llvm::StringRef stem = stemOf(op);
    auto diagnostic = mlir::emitError(op->getLoc())
                      << "'" << name << "' (" << count << " in the program) ";
    if (isForeign(op))
      diagnostic << "can be in artifacts from VHLO " << kMixed.text() << " on; the target is "
                 << target.text();
    else if (const OperationRow* oldest = stem.empty() ? nullptr : oldestOperation(stem))
      diagnostic << "came with VHLO " << oldest->since.text() << "; the target is "
                 << target.text();
    else
      diagnostic << "has no place in an artifact, which holds StableHLO, func and sdy alone";
    if (name.getDialectNamespace() == "chlo")
      diagnostic << "; jax.export makes StableHLO of it";
  }
  return success(missing.empty());
}

llvm::DenseSet<mlir::Value> Writing::bridge(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> foreign;
  llvm::DenseSet<mlir::Value> plain;
  module.walk([&](mlir::Operation* op) {
    if (!isForeign(op))
      return;
    foreign.push_back(op);
    plain.insert_range(op->getResults());
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        plain.insert_range(block.getArguments());
  });
  mlir::OpBuilder builder(module.getContext());
  const auto cast = [&](mlir::Location location, mlir::Value value) {
    return mlir::UnrealizedConversionCastOp::create(builder, location, value.getType(), value)
        .getResult(0);
  };
  // A value between two foreign operations is not cast.
  const auto leave = [&](mlir::Location location, mlir::Value value) {
    const auto isPortable = [](mlir::OpOperand& use) { return !isForeign(use.getOwner()); };
    if (llvm::none_of(value.getUses(), isPortable))
      return;
    const mlir::Value portable = cast(location, value);
    value.replaceUsesWithIf(portable, [&](mlir::OpOperand& use) {
      return isPortable(use) && use.getOwner() != portable.getDefiningOp();
    });
  };
  for (mlir::Operation* op : foreign) {
    builder.setInsertionPoint(op);
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (!plain.contains(operand.get())) {
        const mlir::Value entering = cast(op->getLoc(), operand.get());
        plain.insert(entering);
        operand.set(entering);
      }
    builder.setInsertionPointAfter(op);
    for (mlir::Value result : op->getResults())
      leave(op->getLoc(), result);
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) {
        builder.setInsertionPointToStart(&block);
        for (mlir::BlockArgument argument : block.getArguments())
          leave(argument.getLoc(), argument);
      }
  }
  return plain;
}

LogicalResult Writing::functionAttributes(mlir::func::FuncOp function,
                                          mlir::NamedAttrList& attributes) {
  mlir::Builder builder(context);
  const auto lists = [&](mlir::ArrayAttr list) { return list ? list : builder.getArrayAttr({}); };
  attributes.set("arg_attrs", lists(function.getArgAttrsAttr()));
  attributes.set("res_attrs", lists(function.getResAttrsAttr()));
  if (!attributes.get("sym_visibility"))
    attributes.set("sym_visibility", builder.getStringAttr(""));
  if (function.getNoInline())
    return error(function) << "artifacts do not hold the attribute no_inline";
  attributes.erase("no_inline");
  return success();
}

LogicalResult Writing::checkForm(mlir::Operation* op, llvm::StringRef stem,
                                 const OperationRow& row) {
  const OperationRow& newest = *newestOperation(stem);
  const bool takesOne = llvm::is_contained(
      {"all_gather_v1", "all_reduce_v1", "all_to_all_v1", "collective_broadcast_v1"}, row.name);
  if (takesOne && op->getNumOperands() != 1)
    return error(op) << "several operands came with VHLO " << newest.since.text()
                     << "; the target is " << target.text();
  if (row.name == "composite_v1" && op->getNumRegions() != 0)
    return error(op) << "regions came with VHLO " << newest.since.text() << "; the target is "
                     << target.text();
  const bool mayPromote = llvm::is_contained(
      {"all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter"},
      stem);
  if (mayPromote && target < Version{0, 17})
    for (const auto& [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes()))
      if (mlir::getElementTypeOrSelf(operand) != mlir::getElementTypeOrSelf(result))
        return error(op) << "a result of another element type than its operand came with "
                            "VHLO 0.17.0; the target is "
                         << target.text();
  if (stem == "custom_call" && target < Version{1, 3}) {
    const auto version = op->getAttrOfType<mlir::IntegerAttr>("api_version");
    if (llvm::isa_and_nonnull<mlir::DictionaryAttr>(op->getAttr("backend_config")) ||
        (version &&
         version.getInt() ==
             static_cast<std::int64_t>(stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI)))
      return error(op) << "a custom call with a dictionary for its configuration came with "
                          "VHLO 1.3.0; the target is "
                       << target.text();
  }
  return success();
}

LogicalResult Writing::operation(mlir::Operation* op) {
  const llvm::StringRef stem = stemOf(op);
  const OperationRow& row = *findOperation(stem, target);
  if (failed(checkForm(op, stem, row)))
    return failure();

  mlir::NamedAttrList attributes;
  op->getName().populateInherentAttrs(op, attributes);
  if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
      function && failed(functionAttributes(function, attributes)))
    return failure();
  if (failed(toVHLO(stem, op, attributes, [&] { return error(op); })))
    return failure();
  const llvm::SmallVector<llvm::StringRef> names = row.attributeNames();
  if (row.name == "dynamic_conv_v1") { // v1 also has the padding as an attribute, which is not used
    const auto type = llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType());
    mlir::Builder builder(context);
    attributes.set("padding",
                   mlir::DenseElementsAttr::get(
                       mlir::RankedTensorType::get({type.getRank() - 2, 2}, builder.getI64Type()),
                       std::int64_t{0}));
  }
  mlir::NamedAttrList inherent, discardable;
  for (const mlir::NamedAttribute named : attributes) {
    if (llvm::is_contained(names, named.getName())) {
      if (failed(attribute(op, named.getName(), named.getValue(), inherent)))
        return failure();
    } else if (!isDefault(stem, named.getName(), named.getValue())) {
      return error(op) << "the attribute " << named.getName().strref() << " = " << named.getValue()
                       << " came with VHLO " << newestOperation(stem)->since.text()
                       << "; the target is " << target.text();
    }
  }
  for (const mlir::NamedAttribute named : op->getDiscardableAttrs())
    if (failed(attribute(op, named.getName(), named.getValue(), discardable)))
      return failure();

  mlir::OperationState state(op->getLoc(), ("vhlo." + row.name).str());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  if (!names.empty())
    state.propertiesAttr = inherent.getDictionary(context);
  state.addAttributes(discardable);
  for (mlir::Region& region : op->getRegions())
    state.addRegion()->takeBody(region);
  mlir::OpBuilder builder(op);
  mlir::Operation* portable = builder.create(state);
  op->replaceAllUsesWith(portable);
  op->erase();
  return success();
}

} // namespace

mlir::FailureOr<std::string> writeArtifact(mlir::ModuleOp program, const Version& target) {
  const Version numbered{target.major, target.minor};
  if (numbered < kOldest || Version{kNewest.major, kNewest.minor} < numbered)
    return program.emitError() << "artifacts can be written for VHLO " << kOldest.text() << " to "
                               << kNewest.text() << ", not for " << target.text();
  mlir::MLIRContext* context = program.getContext();
  context->getOrLoadDialect<VHLODialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module(program.clone());
  if (failed(Writing(context, numbered).module(*module)))
    return failure();
  const std::string producer = "StableHLO_v" + target.text(); // referenced by the configuration
  mlir::BytecodeWriterConfig config(producer);
  config.setDesiredBytecodeVersion(bytecodeVersion(target));
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  if (failed(mlir::writeBytecodeToFile(*module, out, config)))
    return program.emitError() << "cannot be written as bytecode of version "
                               << bytecodeVersion(target);
  return bytes;
}

} // namespace octavo::vhlo
