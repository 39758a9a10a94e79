// chlo.scan: its text and verifier.
#include "octavo/Dialect/CHLO/CHLO.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::chlo {

using mlir::OpAsmParser;
using mlir::RankedTensorType;
using stablehlo::Extent;
using stablehlo::Extents;
using stablehlo::extentsOf;

mlir::ParseResult ScanOp::parse(OpAsmParser& parser, mlir::OperationState& state) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  mlir::IntegerAttr dimension;
  mlir::FunctionType type;
  const auto operands = [&](auto& list) {
    return parser.parseOperandList(list, OpAsmParser::Delimiter::Paren);
  };
  if (operands(inputs) || parser.parseKeyword("inits") || operands(inits) ||
      parser.parseKeyword("dimension") || parser.parseEqual() ||
      parser.parseAttribute(dimension, parser.getBuilder().getI64Type(), "dimension",
                            state.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseRegion(*state.addRegion()))
    return mlir::failure();
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return mlir::failure();
  if (type.getNumResults() < inits.size())
    return parser.emitError(at) << "expected a result for each of " << inits.size()
                                << " carries; found " << type.getNumResults();
  const auto count = [](std::size_t n) { return static_cast<std::int32_t>(n); };
  auto& properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {count(inputs.size()), count(inits.size())};
  properties.resultSegmentSizes = {count(type.getNumResults() - inits.size()), count(inits.size())};
  inputs.append(inits);
  state.addTypes(type.getResults());
  return parser.resolveOperands(inputs, type.getInputs(), at, state.operands);
}

void ScanOp::print(mlir::OpAsmPrinter& printer) {
  printer << "(" << getInputs() << ") inits (" << getInits() << ") dimension=" << getDimension()
          << " ";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << " ";
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

void ScanOp::getAsmBlockArgumentNames(mlir::Region& region, mlir::OpAsmSetValueNameFn setName) {
  for (mlir::BlockArgument argument : region.getArguments())
    setName(argument, argument.getArgNumber() < getInputs().size() ? "input" : "carry");
}

namespace {

Extents withoutAxis(Extents extents, std::int64_t axis) {
  extents.erase(extents.begin() + axis);
  return extents;
}

} // namespace

llvm::LogicalResult ScanOp::verifyRegions() {
  if (getInputs().empty() && getOutputs().empty())
    return emitOpError("there must be an input or an output");
  const auto axis = static_cast<std::int64_t>(getDimension());
  std::optional<Extent> steps;
  if (const auto size = getScanDimSize())
    steps = Extent::known(static_cast<std::int64_t>(*size));
  else if (getInputs().empty())
    return emitOpError("scan_dim_size must be given where there are no inputs");
  llvm::SmallVector<mlir::Type> expected;
  for (mlir::Value input : getInputs()) {
    const auto type = llvm::cast<RankedTensorType>(input.getType());
    if (axis >= type.getRank())
      return emitOpError("dimension must be an axis of each input; found ")
             << axis << " for " << type;
    const Extents extents = extentsOf(type);
    if (steps && !steps->isCompatible(extents[axis]))
      return emitOpError("inputs and scan_dim_size must have one extent along dimension; found ")
             << steps->spell() << " and " << extents[axis].spell();
    steps = steps ? steps->mostSpecific(extents[axis]) : extents[axis];
    expected.push_back(stablehlo::tensorOf(withoutAxis(extents, axis), type.getElementType()));
  }
  llvm::append_range(expected, getInits().getTypes());
  if (!stablehlo::areCompatible(getBody().getArgumentTypes(), expected))
    return emitOpError("body must take a slice of each input and the carries, ")
           << expected << "; it takes " << getBody().getArgumentTypes();
  const mlir::TypeRange returned = getBody().front().getTerminator()->getOperandTypes();
  if (returned.size() != getNumResults())
    return emitOpError("body must return a slice of each output and the carries, ")
           << getNumResults() << " values; it returns " << returned.size();
  for (auto [value, result] : llvm::zip(returned, getOutputs().getTypes())) {
    const auto slice = llvm::dyn_cast<RankedTensorType>(value);
    if (!slice || axis > slice.getRank())
      return emitOpError("slices of outputs must be tensors of at least ")
             << axis << " axes; found " << value;
    Extents extents = extentsOf(slice);
    extents.insert(extents.begin() + axis, *steps);
    const RankedTensorType whole = stablehlo::tensorOf(extents, slice.getElementType());
    if (!stablehlo::isCompatible(whole, result))
      return emitOpError("the output must have type ") << whole << "; found " << result;
  }
  const mlir::TypeRange carries = returned.drop_front(getOutputs().size());
  if (!stablehlo::areCompatible(carries, getInits().getTypes()) ||
      !stablehlo::areCompatible(carries, getCarries().getTypes()))
    return emitOpError("carries must have the types of inits, ")
           << getInits().getTypes() << "; body returns " << carries << ", the results are "
           << getCarries().getTypes();
  return mlir::success();
}

} // namespace octavo::chlo
