// Control flow family: type inference, verifiers, effects.
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/ControlFlow.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;

void StableHLODialect::registerControlFlow() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/ControlFlow.cpp.inc"
      >();
}

mlir::Attribute OutputOperandAliasAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  IndexList output, operandTuple;
  std::int64_t operand = 0;
  if (parseFields(parser, Presence::Required,
                  {{"output_tuple_indices", output},
                   {"operand_index", operand},
                   {"operand_tuple_indices", operandTuple}}))
    return {};
  return get(parser.getContext(), output, operand, operandTuple);
}

void OutputOperandAliasAttr::print(mlir::AsmPrinter& printer) const {
  FieldPrinter(printer)
      .field("output_tuple_indices", spell(getOutputTupleIndices()))
      .field("operand_index", getOperandIndex())
      .field("operand_tuple_indices", spell(getOperandTupleIndices()));
}

namespace {

/// Whether `name` matches [a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+, a name in a namespace.
bool isNamespacedName(llvm::StringRef name) {
  const auto consists = [](llvm::StringRef part, llvm::StringRef more) {
    return !part.empty() &&
           llvm::all_of(part, [&](char c) { return llvm::isAlnum(c) || more.contains(c); });
  };
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, '.');
  return parts.size() >= 2 && consists(parts.front(), "_") && llvm::isAlpha(name.front()) &&
         llvm::all_of(llvm::drop_begin(parts),
                      [&](llvm::StringRef part) { return consists(part, "_$"); });
}

} // namespace

LogicalResult CompositeOp::verify() {
  if (!isNamespacedName(getName()))
    return violates<CompositeOp>(getLoc(), "C1",
                                 "name must be a name in a namespace, such as \"my.op\"; found \"",
                                 getName(), "\"");
  return mlir::success();
}

LogicalResult CompositeOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  auto function =
      symbols.lookupNearestSymbolFrom<mlir::FunctionOpInterface>(*this, getDecompositionAttr());
  if (!function)
    return violates<CompositeOp>(getLoc(), "C2",
                                 "decomposition must name a function of the "
                                 "program; there is no function ",
                                 getDecompositionAttr());
  if (mlir::TypeRange(function.getArgumentTypes()) != mlir::TypeRange(getInputs().getTypes()))
    return violates<CompositeOp>(getLoc(), "C3",
                                 "the inputs must have the types of the arguments of ",
                                 getDecompositionAttr(), ": ", function.getArgumentTypes(),
                                 "; found ", getInputs().getTypes());
  if (mlir::TypeRange(function.getResultTypes()) != mlir::TypeRange(getResultTypes()))
    return violates<CompositeOp>(
        getLoc(), "C4", "the results must have the types of the results of ",
        getDecompositionAttr(), ": ", function.getResultTypes(), "; found ", getResultTypes());
  return mlir::success();
}

void CustomCallOp::getEffects(
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>&
        effects) {
  // A call with side effects may read and write anything.
  if (!getHasSideEffect())
    return;
  effects.emplace_back(mlir::MemoryEffects::Allocate::get());
  effects.emplace_back(mlir::MemoryEffects::Free::get());
  effects.emplace_back(mlir::MemoryEffects::Read::get());
  effects.emplace_back(mlir::MemoryEffects::Write::get());
}

namespace {

/// Verifies layouts: for each type, a permutation of its axes, minor to major.
LogicalResult verifyLayouts(CustomCallOp op, llvm::StringRef name, mlir::ArrayAttr layouts,
                            llvm::ArrayRef<mlir::Type> types) {
  if (layouts.size() != types.size())
    return op.emitOpError() << name << " must have one layout for each of " << types.size()
                            << " types; found " << layouts.size();
  for (auto [i, entry] : llvm::enumerate(llvm::zip(layouts, types))) {
    const auto [attribute, type] = entry;
    const auto layout = llvm::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
    if (!layout || layout.getType().getRank() != 1 || !layout.getElementType().isIndex())
      return op.emitOpError() << name << " must be lists of axes, such as dense<[1, 0]> : "
                              << "tensor<2xindex>; entry " << i << " is " << attribute;
    if (llvm::isa<mlir::TupleType>(type))
      return op.emitOpError() << "entry " << i << " of " << name << " is for " << type
                              << "; tuples have no layout";
    const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    const std::int64_t rank = tensor ? tensor.getRank() : 0;
    // The length is checked first: a splat can state any number of entries.
    llvm::SmallVector<std::int64_t> axes;
    if (layout.getNumElements() == rank)
      for (const llvm::APInt& axis : layout)
        axes.push_back(axis.getSExtValue());
    if (layout.getNumElements() != rank || firstOutside(axes, rank) || firstRepeated(axes))
      return op.emitOpError() << "entry " << i << " of " << name << " must have each of the "
                              << rank << " axes of " << type << " once; found " << layout;
  }
  return mlir::success();
}

/// The types of the results; a single tuple is expanded to its elements.
llvm::SmallVector<mlir::Type> flattened(mlir::TypeRange types) {
  if (types.size() == 1)
    if (const auto tuple = llvm::dyn_cast<mlir::TupleType>(types.front()))
      return llvm::SmallVector<mlir::Type>(tuple.getTypes());
  return llvm::SmallVector<mlir::Type>(types);
}

/// The type at `path`, indices into nested tuples, inside `type`; null if there is none.
mlir::Type typeAt(mlir::Type type, llvm::ArrayRef<std::int64_t> path) {
  for (std::int64_t index : path) {
    const auto tuple = llvm::dyn_cast<mlir::TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<std::int64_t>(tuple.size()))
      return {};
    type = tuple.getType(static_cast<std::size_t>(index));
  }
  return type;
}

LogicalResult verifyAlias(CustomCallOp op, OutputOperandAliasAttr alias) {
  const std::int64_t index = alias.getOperandIndex();
  if (index < 0 || index >= static_cast<std::int64_t>(op.getInputs().size()))
    return op.emitOpError() << "output_operand_aliases name operand " << index << "; there are "
                            << op.getInputs().size();
  const mlir::Type operand = typeAt(op.getInputs()[static_cast<unsigned>(index)].getType(),
                                    alias.getOperandTupleIndices());
  const mlir::Type all =
      op.getNumResults() == 1
          ? op.getResult(0).getType()
          : mlir::TupleType::get(op.getContext(),
                                 llvm::SmallVector<mlir::Type>(op.getResultTypes()));
  const mlir::Type result = typeAt(all, alias.getOutputTupleIndices());
  if (!operand || !result)
    return op.emitOpError() << "output_operand_aliases lead to no value: " << alias;
  if (!isCompatible(operand, result))
    return op.emitOpError() << "output_operand_aliases must join values of one type; found "
                            << operand << " and " << result;
  return mlir::success();
}

} // namespace

LogicalResult CustomCallOp::verify() {
  if (getCallTargetName().empty())
    return emitOpError() << "call_target_name must not be empty";
  const bool isTyped = getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI;
  if (const auto config = getBackendConfig()) {
    if (isTyped && !llvm::isa<mlir::DictionaryAttr>(*config))
      return emitOpError() << "backend_config must be a dictionary under api_version 4; found "
                           << *config;
    if (!isTyped && !llvm::isa<mlir::StringAttr>(*config))
      return emitOpError() << "backend_config must be a string under api_version "
                           << static_cast<int>(getApiVersion()) << "; found " << *config;
  }
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError() << "operand_layouts and result_layouts must both be given or neither";
  if (getOperandLayouts() &&
      (failed(verifyLayouts(*this, "operand_layouts", *getOperandLayouts(),
                            llvm::SmallVector<mlir::Type>(getInputs().getTypes()))) ||
       failed(verifyLayouts(*this, "result_layouts", *getResultLayouts(),
                            flattened(getResultTypes())))))
    return mlir::failure();
  for (auto alias : getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>())
    if (failed(verifyAlias(*this, alias)))
      return mlir::failure();
  return mlir::success();
}

LogicalResult CustomCallOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  for (auto name : getCalledComputations().getAsRange<mlir::FlatSymbolRefAttr>())
    if (!symbols.lookupNearestSymbolFrom<mlir::FunctionOpInterface>(*this, name))
      return emitOpError() << "called_computations must name functions of the program; there is no "
                              "function "
                           << name;
  return mlir::success();
}

LogicalResult GetTupleElementOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                  Adaptor adaptor, Types& types) {
  const auto tuple = llvm::cast<mlir::TupleType>(adaptor.getOperand().getType());
  const auto index = static_cast<std::int32_t>(adaptor.getIndex());
  if (index < 0 || static_cast<std::size_t>(index) >= tuple.size())
    return violates<GetTupleElementOp>(location, "C1", "index must be in [0, ", tuple.size(),
                                       "), the elements of the tuple; found ", index);
  types.push_back(tuple.getType(static_cast<std::size_t>(index)));
  return mlir::success();
}

mlir::OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  auto tuple = getOperand().getDefiningOp<TupleOp>();
  if (!tuple)
    return {};
  const mlir::Value element = tuple.getVal()[getIndex()];
  return element.getType() == getType() ? element : mlir::Value();
}

LogicalResult OptimizationBarrierOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor,
                                                      Types& types) {
  llvm::append_range(types, adaptor.getOperand().getTypes());
  return mlir::success();
}

LogicalResult TupleOp::inferReturnTypes(mlir::MLIRContext* context, Location, Adaptor adaptor,
                                        Types& types) {
  types.push_back(mlir::TupleType::get(context, adaptor.getVal().getTypes()));
  return mlir::success();
}

namespace {

/// The types of the values that a branch returns.
mlir::TypeRange returnedTypes(mlir::Region& region) {
  return region.front().getTerminator()->getOperandTypes();
}

/// Verifies that branches take no arguments, and that the types they return are compatible with
/// each other and with the results.
LogicalResult verifyBranches(const Checker& check, mlir::MutableArrayRef<mlir::Region> branches,
                             mlir::TypeRange results, llvm::StringRef argumentRule,
                             llvm::StringRef oneTypeRule, llvm::StringRef resultRule) {
  for (auto [i, branch] : llvm::enumerate(branches)) {
    if (branch.getNumArguments() != 0)
      return check.violated(argumentRule, "branches must take no arguments; branch ", i, " takes ",
                            branch.getNumArguments());
    if (!areCompatible(returnedTypes(branch), returnedTypes(branches.front())))
      return check.violated(oneTypeRule, "branches must return values of the same types; branch ",
                            i, " returns ", returnedTypes(branch), ", branch 0 ",
                            returnedTypes(branches.front()));
  }
  for (mlir::Region& branch : branches)
    if (!areCompatible(returnedTypes(branch), results))
      return check.violated(resultRule,
                            "the results must have the types that the branches return, ",
                            returnedTypes(branch), "; found ", results);
  return mlir::success();
}

} // namespace

LogicalResult IfOp::verifyRegions() {
  return verifyBranches(Checker(*this), (*this)->getRegions(), getResultTypes(), "C1", "C2", "C3");
}

LogicalResult CaseOp::verifyRegions() {
  if (getBranches().empty())
    return Checker(*this).violated("C1", "there must be at least one branch");
  return verifyBranches(Checker(*this), (*this)->getRegions(), getResultTypes(), "C2", "C3", "C4");
}

/// Reads the generic form from the regions on: `({...}, {...}) {attributes} : (types) -> types`.
static mlir::ParseResult
parseGenericWhile(mlir::OpAsmParser& parser, llvm::SMLoc at,
                  llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
                  mlir::OperationState& state) {
  mlir::FunctionType type;
  if (parser.parseLParen() || parser.parseRegion(*state.addRegion()) || parser.parseComma() ||
      parser.parseRegion(*state.addRegion()) || parser.parseRParen() ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), at, state.operands))
    return mlir::failure();
  state.addTypes(type.getResults());
  return mlir::success();
}

/// Reads `(%arg = %init, ...) : types cond {...} do {...}`, or the generic form.
mlir::ParseResult WhileOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  const llvm::SMLoc at = parser.getCurrentLocation();
  const auto argumentOrOperand = [&]() -> mlir::ParseResult {
    mlir::OpAsmParser::Argument argument;
    if (parser.parseArgument(argument))
      return mlir::failure();
    if (failed(parser.parseOptionalEqual())) {
      operands.push_back(argument.ssaName);
      return mlir::success();
    }
    arguments.push_back(argument);
    return parser.parseOperand(operands.emplace_back());
  };
  if (parser.parseLParen() || parseListWithTrailingComma(
                                  parser, [&] { return parser.parseOptionalRParen(); },
                                  [&] { return parser.parseRParen(); }, argumentOrOperand))
    return mlir::failure();
  if (arguments.empty() && !operands.empty())
    return parseGenericWhile(parser, at, operands, state);
  if (arguments.size() != operands.size())
    return parser.emitError(at) << "expected `%argument = %value` for each of " << operands.size()
                                << " values; found " << arguments.size();
  llvm::SmallVector<mlir::Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return mlir::failure();
  if (types.size() != operands.size())
    return parser.emitError(at) << "expected one type for each of " << operands.size()
                                << " values; found " << types.size();
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  state.addTypes(types);
  if (parser.resolveOperands(operands, types, at, state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseKeyword("cond") ||
      parser.parseRegion(*state.addRegion(), arguments) || parser.parseKeyword("do") ||
      parser.parseRegion(*state.addRegion(), arguments))
    return mlir::failure();
  return mlir::success();
}

void WhileOp::print(mlir::OpAsmPrinter& printer) {
  // The short form has a single list of types, so it needs operands, arguments and results of equal
  // types.
  const mlir::TypeRange types = getOperandTypes();
  if (getResultTypes() != types || getCond().getArgumentTypes() != types ||
      getBody().getArgumentTypes() != types)
    return printer.printGenericOp(*this, /*printOpName=*/false);
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperands()), printer,
                        [&](const auto& pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = ";
                          printer.printOperand(std::get<1>(pair));
                        });
  printer << ')';
  if (!getOperands().empty()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void WhileOp::getAsmBlockArgumentNames(mlir::Region& region, mlir::OpAsmSetValueNameFn setName) {
  for (mlir::BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

LogicalResult WhileOp::verifyRegions() {
  const Checker check(*this);
  const auto isBoolean = [](mlir::TypeRange types) {
    return types.size() == 1 && isScalarTensor(types.front()) &&
           stablehlo::isBoolean(llvm::cast<mlir::RankedTensorType>(types.front()).getElementType());
  };
  if (!areCompatible(getCond().getArgumentTypes(), getOperandTypes()))
    return check.violated("C1", "cond must take the operands, ", getOperandTypes(), "; it takes ",
                          getCond().getArgumentTypes());
  if (!isBoolean(returnedTypes(getCond())))
    return check.violated("C1", "cond must return tensor<i1>; found ", returnedTypes(getCond()));
  if (!areCompatible(getBody().getArgumentTypes(), getOperandTypes()))
    return check.violated("C2", "body must take the operands, ", getOperandTypes(), "; it takes ",
                          getBody().getArgumentTypes());
  if (!areCompatible(returnedTypes(getBody()), getOperandTypes()))
    return check.violated("C2", "body must return values of the operands' types, ",
                          getOperandTypes(), "; found ", returnedTypes(getBody()));
  if (!areCompatible(getResultTypes(), getOperandTypes()))
    return check.violated("C3", "the results must have the operands' types, ", getOperandTypes(),
                          "; found ", getResultTypes());
  return mlir::success();
}

} // namespace octavo::stablehlo
