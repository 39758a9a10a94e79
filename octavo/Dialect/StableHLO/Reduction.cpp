// Reduction family: text and verifiers.
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Reducer.h"

#include "llvm/ADT/STLExtras.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Reduction.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;
using mlir::RankedTensorType;
using mlir::success;

void StableHLODialect::registerReduction() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Reduction.cpp.inc"
      >();
}

namespace {

/// Whether `... applies NAME` accepts NAME: a commutative operation on two tensors.
bool appliesTwo(mlir::OperationName name) {
  return name.hasTrait<mlir::OpTrait::NOperands<2>::Impl>() &&
         name.hasTrait<mlir::OpTrait::IsCommutative>();
}

/// Whether an operation takes two tensors of one type and is not commutative, such as a division.
bool needsOrder(mlir::OperationName name) {
  return name.hasTrait<mlir::OpTrait::NOperands<2>::Impl>() && name.hasTrait<SameType>() &&
         !appliesTwo(name);
}

/// The operation for which `... applies NAME` can be printed: it takes the body's two scalar
/// arguments in order, has no attributes, and the body returns its result. Null if the body is
/// anything else.
mlir::Operation* appliedOperation(ReduceOp op) {
  if (op.getInputs().size() != 1 || !op.getBody().hasOneBlock())
    return nullptr;
  mlir::Block& block = op.getBody().front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  mlir::Operation& inner = block.front();
  mlir::Operation& last = block.back();
  const mlir::Type type = block.getArgument(0).getType();
  const bool isPlain = appliesTwo(inner.getName()) && inner.getNumOperands() == 2 &&
                       inner.getNumRegions() == 0 && inner.getNumSuccessors() == 0 &&
                       inner.getAttrDictionary().empty();
  const auto tensor = llvm::dyn_cast<RankedTensorType>(op.getInputs().front().getType());
  if (!isPlain || !llvm::isa<ReturnOp>(last) || !last.getAttrDictionary().empty() || !tensor ||
      inner.getOperand(0) != block.getArgument(0) || inner.getOperand(1) != block.getArgument(1) ||
      last.getNumOperands() != 1 || last.getOperand(0) != inner.getResult(0))
    return nullptr;
  // The text omits the body's types: they must be scalars of the input's element type.
  const mlir::Type expected = RankedTensorType::get({}, tensor.getElementType());
  if (type != expected || block.getArgument(1).getType() != expected ||
      inner.getResult(0).getType() != expected)
    return nullptr;
  return &inner;
}

/// Reads `(%x init: %c), (%y init: %d)`.
ParseResult parseInputs(OpAsmParser& parser,
                        llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand>& inputs,
                        llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand>& initValues) {
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(initValues.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// Reads `reducer(%a: T, %b: T) (%c: U, %d: U) { ... }`: for each input a pair, the running value
/// first. The body's arguments are all running values, then all elements.
ParseResult parseReducer(OpAsmParser& parser, std::size_t pairs, mlir::Region& body) {
  llvm::SmallVector<OpAsmParser::Argument> running;
  llvm::SmallVector<OpAsmParser::Argument> elements;
  if (parser.parseKeyword("reducer"))
    return failure();
  for (std::size_t i = 0; i < pairs; ++i)
    if (parser.parseLParen() || parser.parseArgument(running.emplace_back(), true) ||
        parser.parseComma() || parser.parseArgument(elements.emplace_back(), true) ||
        parser.parseRParen())
      return failure();
  running.append(elements);
  return parser.parseRegion(body, running);
}

/// Builds the body for `applies NAME`.
ParseResult buildAppliedBody(OpAsmParser& parser, llvm::SMLoc at, llvm::StringRef name,
                             mlir::Location location, mlir::TypeRange inputs, mlir::Region& body) {
  const std::optional<mlir::RegisteredOperationName> registered =
      mlir::RegisteredOperationName::lookup(name, parser.getContext());
  if (registered && needsOrder(*registered))
    return parser.emitError(at) << "'" << name
                                << "' is not commutative, and `applies` is for commutative "
                                   "operations; write the body out: "
                                   "`reducer(%a: T, %b: T) { ... }`";
  if (!registered || !appliesTwo(*registered))
    return parser.emitError(at)
           << "'" << name << "' is not an operation on two tensors that a reduction can apply";
  const auto tensor =
      inputs.size() == 1 ? llvm::dyn_cast<RankedTensorType>(inputs.front()) : RankedTensorType();
  if (!tensor)
    return parser.emitError(at) << "a reduction that applies an operation has one tensor as input";
  const mlir::Type scalar = RankedTensorType::get({}, tensor.getElementType());
  mlir::Block& block = body.emplaceBlock();
  block.addArguments({scalar, scalar}, {location, location});
  mlir::OpBuilder builder(parser.getContext());
  builder.setInsertionPointToEnd(&block);
  mlir::OperationState state(location, *registered);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  ReturnOp::create(builder, location, builder.create(state)->getResults());
  return success();
}

} // namespace

ParseResult ReduceOp::parse(OpAsmParser& parser, mlir::OperationState& state) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> initValues;
  const mlir::Location location = parser.getEncodedSourceLoc(parser.getNameLoc());
  if (parseInputs(parser, inputs, initValues))
    return failure();
  mlir::OperationName applied(getOperationName(), parser.getContext());
  llvm::SMLoc appliedAt;
  bool applies = false;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    appliedAt = parser.getCurrentLocation();
    const mlir::FailureOr<mlir::OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    applied = *name;
    applies = true;
  }
  mlir::DenseI64ArrayAttr dimensions;
  mlir::FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual())
    return failure();
  dimensions = llvm::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(
      mlir::DenseI64ArrayAttr::parse(parser, mlir::Type()));
  const llvm::SMLoc typesAt = parser.getCurrentLocation();
  if (!dimensions || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  operands.append(initValues);
  if (parser.resolveOperands(operands, type.getInputs(), typesAt, state.operands))
    return failure();
  state.addTypes(type.getResults());
  state.getOrAddProperties<Properties>().dimensions = dimensions;
  mlir::Region& body = *state.addRegion();
  if (!applies)
    return parseReducer(parser, inputs.size(), body);
  // A location at the end is also the body's, so it is read here.
  Location given;
  if (parser.parseOptionalLocationSpecifier(given))
    return failure();
  state.location = given.value_or(location);
  return buildAppliedBody(parser, appliedAt, applied.getStringRef(), state.location,
                          mlir::ValueRange(state.operands).take_front(inputs.size()).getTypes(),
                          body);
}

void ReduceOp::print(OpAsmPrinter& printer) {
  printer << '(';
  llvm::interleave(
      llvm::zip(getInputs(), getInitValues()),
      [&](const auto& pair) {
        printer << std::get<0>(pair) << " init: " << std::get<1>(pair) << ')';
      },
      [&] { printer << ", ("; });
  mlir::Operation* applied = appliedOperation(*this);
  if (applied != nullptr)
    printer << " applies " << applied->getName();
  printer << " across dimensions = " << spell(getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName().getValue()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied != nullptr)
    return;
  printer.printNewline();
  printer << " reducer";
  const mlir::Block::BlockArgListType arguments = getBody().getArguments();
  const std::size_t pairs = getInputs().size();
  for (std::size_t i = 0; i < pairs; ++i) {
    printer << '(';
    printer.printRegionArgument(arguments[i]);
    printer << ", ";
    printer.printRegionArgument(arguments[pairs + i]);
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ReduceOp::verify() {
  const mlir::Location location = getLoc();
  const std::size_t count = getInputs().size();
  if (getNumOperands() % 2 != 0 || count == 0 || getNumResults() != count)
    return violates<ReduceOp>(location, "C3",
                              "inputs, init_values and results must be as many, and "
                              "at least one; found ",
                              getNumOperands(), " operands and ", getNumResults(), " results");
  const llvm::ArrayRef<std::int64_t> dimensions = getDimensions();
  const auto first = llvm::cast<RankedTensorType>(getInputs().front().getType());
  if (const auto outside = firstOutside(dimensions, first.getRank()))
    return violates<ReduceOp>(location, "C4", "dimensions must be in [0, ", first.getRank(),
                              "), the axes of the inputs; found ", *outside);
  if (const auto repeated = firstRepeated(dimensions))
    return violates<ReduceOp>(location, "C5", "dimensions must be unique; found ", *repeated,
                              " twice in ", spell(dimensions));
  Extents shape;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(first)))
    if (!llvm::is_contained(dimensions, static_cast<std::int64_t>(axis)))
      shape.push_back(extent);
  for (std::size_t k = 0; k < count; ++k) {
    const auto input = llvm::cast<RankedTensorType>(getInputs()[k].getType());
    const auto init = llvm::cast<RankedTensorType>(getInitValues()[k].getType());
    const auto result = llvm::cast<RankedTensorType>(getResult(k).getType());
    if (!isCompatibleShape(input, first))
      return violates<ReduceOp>(location, "C1", "inputs must have one shape; input ", k, " has ",
                                spell(extentsOf(input)), ", input 0 has ", spell(extentsOf(first)));
    if (init.getRank() != 0)
      return violates<ReduceOp>(location, "I2", "init_values must be scalars; found ", init);
    if (init.getElementType() != input.getElementType())
      return violates<ReduceOp>(location, "C2", "init value ", k,
                                " must have the input's element type ", input.getElementType(),
                                "; found ", init.getElementType());
    if (!areCompatible(extentsOf(result), shape))
      return violates<ReduceOp>(location, "C7", "result ", k, " must have the shape ", spell(shape),
                                "; found ", spell(extentsOf(result)));
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyReducer(*this, getBody(), getInputs().getTypes(), getResultTypes(), "C6", "C8");
}

} // namespace octavo::stablehlo
