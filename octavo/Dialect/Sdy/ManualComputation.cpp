// sdy.manual_computation: its text, and constraints (M1) to (M4) of Sdy.td.
#include "octavo/Dialect/Sdy/Sdy.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace octavo::sdy {

using llvm::LogicalResult;
using mlir::ParseResult;
using mlir::RankedTensorType;

namespace {

template <typename Attr>
ParseResult parseNamed(mlir::OpAsmParser& parser, llvm::StringRef name, Attr& attribute,
                       llvm::function_ref<mlir::Attribute()> parse) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return mlir::failure();
  attribute = llvm::dyn_cast_or_null<Attr>(parse());
  return mlir::success(static_cast<bool>(attribute));
}

/// `[<@mesh, [{"a"}, {}]>, ...]`
mlir::Attribute parseShardings(mlir::OpAsmParser& parser) {
  llvm::SmallVector<TensorShardingAttr> shardings;
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&]() -> ParseResult {
        shardings.push_back(llvm::dyn_cast_or_null<TensorShardingAttr>(
            TensorShardingAttr::parse(parser, mlir::Type())));
        return mlir::success(static_cast<bool>(shardings.back()));
      }))
    return {};
  return TensorShardingPerValueAttr::get(parser.getContext(), shardings);
}

void printShardings(mlir::OpAsmPrinter& printer, TensorShardingPerValueAttr shardings) {
  printer << "[";
  llvm::interleaveComma(shardings.getShardings(), printer,
                        [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << "]";
}

MeshAttr meshOf(TensorShardingAttr sharding, mlir::Operation* from) {
  if (auto mesh = llvm::dyn_cast<MeshAttr>(sharding.getMeshOrRef()))
    return mesh;
  auto named = mlir::SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      from, llvm::cast<mlir::FlatSymbolRefAttr>(sharding.getMeshOrRef()));
  return named ? named.getMesh() : MeshAttr();
}

} // namespace

ParseResult ManualComputationOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  auto& properties = result.getOrAddProperties<Properties>();
  const auto shardings = [&] { return parseShardings(parser); };
  const auto axes = [&] { return ManualAxesAttr::parse(parser, mlir::Type()); };
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  mlir::FunctionType type;
  if (parser.parseOperandList(operands, mlir::OpAsmParser::Delimiter::Paren) ||
      parseNamed(parser, "in_shardings", properties.in_shardings, shardings) ||
      parseNamed(parser, "out_shardings", properties.out_shardings, shardings) ||
      parseNamed(parser, "manual_axes", properties.manual_axes, axes) ||
      parser.parseArgumentList(arguments, mlir::OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(*result.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), at, result.operands))
    return mlir::failure();
  result.addTypes(type.getResults());
  return mlir::success();
}

void ManualComputationOp::print(mlir::OpAsmPrinter& printer) {
  printer << "(" << getOperands() << ") in_shardings=";
  printShardings(printer, getInShardings());
  printer << " out_shardings=";
  printShardings(printer, getOutShardings());
  printer << " manual_axes=";
  getManualAxes().print(printer);
  printer << " (";
  llvm::interleaveComma(getBody().getArguments(), printer, [&](mlir::BlockArgument argument) {
    printer.printRegionArgument(argument);
  });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"in_shardings", "out_shardings", "manual_axes"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

MeshAttr ManualComputationOp::mesh() {
  for (TensorShardingPerValueAttr all : {getInShardings(), getOutShardings()})
    for (TensorShardingAttr sharding : all.getShardings())
      return meshOf(sharding, *this);
  return {};
}

bool ManualComputationOp::isManual(AxisRefAttr axis) {
  return llvm::any_of(getManualAxes().getValue(),
                      [&](mlir::StringAttr name) { return name.getValue() == axis.getName(); });
}

std::int64_t ManualComputationOp::parts(MeshAttr mesh, DimensionShardingAttr dimension) {
  std::int64_t count = 1;
  for (AxisRefAttr axis : dimension.getAxes())
    if (isManual(axis))
      count *=
          axis.getSubAxisInfo() ? axis.getSubAxisInfo().getSize() : mesh.sizeOf(axis.getName());
  return count;
}

RankedTensorType ManualComputationOp::partOf(RankedTensorType whole, TensorShardingAttr sharding) {
  llvm::SmallVector<std::int64_t> shape(whole.getShape());
  for (auto [extent, dimension] : llvm::zip_equal(shape, sharding.getDimShardings()))
    if (!mlir::ShapedType::isDynamic(extent))
      extent /= parts(mesh(), dimension);
  return RankedTensorType::get(shape, whole.getElementType());
}

RankedTensorType ManualComputationOp::wholeOf(RankedTensorType part, TensorShardingAttr sharding) {
  llvm::SmallVector<std::int64_t> shape(part.getShape());
  for (auto [extent, dimension] : llvm::zip_equal(shape, sharding.getDimShardings()))
    if (!mlir::ShapedType::isDynamic(extent))
      extent =
          llvm::checkedMul(extent, parts(mesh(), dimension)).value_or(mlir::ShapedType::kDynamic);
  return RankedTensorType::get(shape, part.getElementType());
}

namespace {

/// (M3) for one sharding.
LogicalResult verifyAxes(ManualComputationOp op, MeshAttr mesh, TensorShardingAttr sharding) {
  /// What an axis, or its part, is of the axis: from one stride up to another.
  struct Span {
    llvm::StringRef axis;
    std::int64_t from, to;
  };
  llvm::SmallVector<Span> seen;
  for (DimensionShardingAttr dimension : sharding.getDimShardings())
    for (AxisRefAttr axis : dimension.getAxes()) {
      const std::int64_t size = mesh.sizeOf(axis.getName());
      if (size == 0)
        return op.emitOpError() << "(M3) the mesh has no axis \"" << axis.getName()
                                << "\", which a sharding names";
      const SubAxisInfoAttr part = axis.getSubAxisInfo();
      if (part && (part.getPreSize() < 1 || part.getSize() < 1 || size % part.getPreSize() != 0 ||
                   size / part.getPreSize() % part.getSize() != 0))
        return op.emitOpError() << "(M3) a sharding names a part of the axis \"" << axis.getName()
                                << "\" that does not divide its " << size << " devices";
      const Span own{axis.getName(), part ? part.getPreSize() : 1,
                     part ? part.getPreSize() * part.getSize() : size};
      if (llvm::any_of(seen, [&](const Span& other) {
            return other.axis == own.axis && other.from < own.to && own.from < other.to;
          }))
        return op.emitOpError() << "(M3) a sharding names the axis \"" << axis.getName()
                                << "\" twice";
      seen.push_back(own);
    }
  return mlir::success();
}

/// (M1), (M2), (M3) and (M4) for the operands or for the results.
LogicalResult verifySide(ManualComputationOp op, llvm::StringRef side, MeshAttr mesh,
                         TensorShardingPerValueAttr shardings, mlir::TypeRange whole,
                         mlir::TypeRange parts) {
  if (shardings.getShardings().size() != whole.size())
    return op.emitOpError() << "(M1) needs a sharding for each " << side << ", found "
                            << shardings.getShardings().size() << " for " << whole.size();
  if (parts.size() != whole.size())
    return op.emitOpError() << "(M4) needs as many " << side << "s of the body as of itself, found "
                            << parts.size() << " and " << whole.size();
  for (auto [i, sharding, type, part] : llvm::enumerate(shardings.getShardings(), whole, parts)) {
    const TensorShardingAttr own = sharding;
    const auto tensor = llvm::cast<RankedTensorType>(type);
    if (meshOf(own, op) != mesh)
      return op.emitOpError() << "(M2) needs one mesh for all shardings, found another for " << side
                              << " " << i;
    if (static_cast<std::int64_t>(own.getDimShardings().size()) != tensor.getRank())
      return op.emitOpError() << "(M1) the sharding of " << side << " " << i << " has "
                              << own.getDimShardings().size() << " dimensions, " << tensor
                              << " has " << tensor.getRank();
    if (failed(verifyAxes(op, mesh, own)))
      return mlir::failure();
    for (auto [extent, dimension] : llvm::zip_equal(tensor.getShape(), own.getDimShardings())) {
      const std::int64_t count = op.parts(mesh, dimension);
      if (!mlir::ShapedType::isDynamic(extent) && extent % count != 0)
        return op.emitOpError() << "(M4) " << side << " " << i << ", " << tensor << ", is cut into "
                                << count << " along an extent of " << extent
                                << ", which they do not divide";
    }
    if (const RankedTensorType expected = op.partOf(tensor, own); part != expected)
      return op.emitOpError() << "(M4) " << side << " " << i << " of the body must be " << expected
                              << ", its part of " << tensor << "; found " << part;
  }
  return mlir::success();
}

} // namespace

LogicalResult ManualComputationOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  const mlir::TypeRange arguments = getBody().getArgumentTypes();
  auto end = llvm::dyn_cast_if_present<ReturnOp>(
      getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!end)
    return emitOpError() << "(M4) needs a body that ends with sdy.return";
  const mlir::TypeRange returned(end.getOperandTypes());
  const MeshAttr common = mesh();
  if (!common &&
      !(getInShardings().getShardings().empty() && getOutShardings().getShardings().empty()))
    return emitOpError() << "(M2) names a mesh that the program does not have";
  for (mlir::StringAttr axis : getManualAxes().getValue())
    if (common && common.sizeOf(axis) == 0)
      return emitOpError() << "(M3) the mesh has no axis " << axis << ", which is to be manual";
  if (failed(verifySide(*this, "operand", common, getInShardings(), getOperandTypes(), arguments)))
    return mlir::failure();
  return verifySide(*this, "result", common, getOutShardings(), getResultTypes(), returned);
}

} // namespace octavo::sdy
