// sdy.manual_computation: its text, and constraints (M1) to (M4) of Sdy.td.
#include "octavo/Dialect/Sdy/ComputationText.h"
#include "octavo/Dialect/Sdy/Sharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace octavo::sdy {

using llvm::LogicalResult;
using mlir::ParseResult;
using mlir::RankedTensorType;
using mlir::Type;

ParseResult ManualComputationOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  ComputationParser computation(parser, result);
  auto& properties = result.getOrAddProperties<Properties>();
  if (computation.parseOperands() || parser.parseKeyword("in_shardings") ||
      parseShardings(parser, properties.in_shardings) || parser.parseKeyword("out_shardings") ||
      parseShardings(parser, properties.out_shardings) || parser.parseKeyword("manual_axes") ||
      parser.parseEqual())
    return mlir::failure();
  properties.manual_axes =
      llvm::dyn_cast_or_null<ManualAxesAttr>(ManualAxesAttr::parse(parser, Type()));
  return mlir::failure(!properties.manual_axes || computation.parseBody());
}

void ManualComputationOp::print(mlir::OpAsmPrinter& printer) {
  printer << "(" << getOperands() << ")";
  printShardings(printer, "in_shardings", getInShardings());
  printShardings(printer, "out_shardings", getOutShardings());
  printer << " manual_axes=";
  getManualAxes().print(printer);
  printBody(printer, *this, {"in_shardings", "out_shardings", "manual_axes"});
}

namespace {

/// Whether a mesh has neither axes nor device ids.
bool isOpen(MeshAttr mesh) { return mesh.getAxes().empty() && mesh.getDeviceIds().empty(); }

} // namespace

MeshAttr ManualComputationOp::mesh() {
  MeshAttr found;
  for (TensorShardingPerValueAttr all : {getInShardings(), getOutShardings()})
    for (TensorShardingAttr sharding : all.getShardings())
      if (!found || isOpen(found))
        found = meshOf(sharding, *this);
  return found;
}

bool ManualComputationOp::isManual(llvm::StringRef axis) {
  return llvm::any_of(getManualAxes().getValue(),
                      [&](mlir::StringAttr name) { return name.getValue() == axis; });
}

std::int64_t ManualComputationOp::parts(MeshAttr mesh, DimensionShardingAttr dimension) {
  std::int64_t count = 1;
  for (AxisRefAttr axis : dimension.getAxes())
    if (isManual(axis.getName()))
      count *=
          axis.getSubAxisInfo() ? axis.getSubAxisInfo().getSize() : mesh.sizeOf(axis.getName());
  return count;
}

// A sharding on one device has no dimensions: the local part is the whole tensor.
Type ManualComputationOp::partOf(Type whole, TensorShardingAttr sharding) {
  const auto tensor = llvm::dyn_cast<RankedTensorType>(whole);
  if (!tensor)
    return whole;
  llvm::SmallVector<std::int64_t> shape(tensor.getShape());
  for (auto [extent, dimension] : llvm::zip(shape, sharding.getDimShardings()))
    if (!mlir::ShapedType::isDynamic(extent))
      extent /= parts(mesh(), dimension);
  return RankedTensorType::get(shape, tensor.getElementType());
}

Type ManualComputationOp::wholeOf(Type part, TensorShardingAttr sharding) {
  const auto tensor = llvm::dyn_cast<RankedTensorType>(part);
  if (!tensor)
    return part;
  llvm::SmallVector<std::int64_t> shape(tensor.getShape());
  for (auto [extent, dimension] : llvm::zip(shape, sharding.getDimShardings()))
    if (!mlir::ShapedType::isDynamic(extent))
      extent =
          llvm::checkedMul(extent, parts(mesh(), dimension)).value_or(mlir::ShapedType::kDynamic);
  return RankedTensorType::get(shape, tensor.getElementType());
}

namespace {

/// (M3)
LogicalResult verifyOrder(ManualComputationOp op, llvm::StringRef side, std::size_t number,
                          TensorShardingAttr sharding) {
  for (DimensionShardingAttr dimension : sharding.getDimShardings()) {
    AxisRefAttr free;
    for (AxisRefAttr axis : dimension.getAxes())
      if (!op.isManual(axis.getName()))
        free = axis;
      else if (free)
        return op.emitOpError() << "(M3) the sharding of " << side << " " << number
                                << " has the axis \"" << free.getName()
                                << "\", which is not manual, before \"" << axis.getName()
                                << "\", which is";
  }
  return mlir::success();
}

/// (M1), (M3), (M4) and the rules of every sharding, for the operands or the results.
LogicalResult verifySide(ManualComputationOp op, llvm::StringRef side, MeshAttr common,
                         llvm::ArrayRef<TensorShardingAttr> shardings, mlir::TypeRange whole,
                         mlir::TypeRange parts) {
  if (shardings.size() != whole.size())
    return op.emitOpError() << "(S1) needs a sharding for each " << side << ", found "
                            << shardings.size() << " for " << whole.size();
  if (failed(verifyShardings(op, side, shardings, whole)))
    return mlir::failure();
  if (parts.size() != whole.size())
    return op.emitOpError() << "(M4) needs as many " << side << "s of the body as of itself, found "
                            << parts.size() << " and " << whole.size();
  for (auto [i, sharding, type, part] : llvm::enumerate(shardings, whole, parts)) {
    const TensorShardingAttr own = sharding;
    if (const MeshAttr mesh = meshOf(own, op); mesh != common && !isOpen(mesh))
      return op.emitOpError() << "(M1) needs one mesh for all shardings, found another for " << side
                              << " " << i;
    if (failed(verifyOrder(op, side, i, own)))
      return mlir::failure();
    if (const auto tensor = llvm::dyn_cast<RankedTensorType>(type))
      for (auto [extent, dimension] : llvm::zip(tensor.getShape(), own.getDimShardings())) {
        const std::int64_t count = op.parts(common, dimension);
        if (!mlir::ShapedType::isDynamic(extent) && extent % count != 0)
          return op.emitOpError() << "(M4) " << side << " " << i << ", " << tensor
                                  << ", is cut into " << count << " along an extent of " << extent
                                  << ", which they do not divide";
      }
    if (const Type expected = op.partOf(type, own); part != expected)
      return op.emitOpError() << "(M4) " << side << " " << i << " of the body must be " << expected
                              << ", its part of " << type << "; found " << part;
  }
  return mlir::success();
}

/// (M2)
LogicalResult verifyManualAxes(ManualComputationOp op, MeshAttr mesh) {
  for (mlir::StringAttr axis : op.getManualAxes().getValue()) {
    if (mesh && mesh.sizeOf(axis) == 0)
      return op.emitOpError() << "(M2) the mesh has no axis " << axis << ", which is to be manual";
    if (isManualAround(op, axis))
      return op.emitOpError() << "(M2) the axis " << axis
                              << " is manual in a computation around it";
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
  if (failed(verifyManualAxes(*this, common)) ||
      failed(verifySide(*this, "operand", common, getInShardings().getShardings(),
                        getOperandTypes(), arguments)))
    return mlir::failure();
  return verifySide(*this, "result", common, getOutShardings().getShardings(), getResultTypes(),
                    returned);
}

} // namespace octavo::sdy
