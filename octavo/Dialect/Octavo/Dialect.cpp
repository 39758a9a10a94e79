// The octavo dialect: its registration, and the verification of its attributes on arguments and
// results.
#include "octavo/Dialect/Inlining.h"
#include "octavo/Dialect/Octavo/ArgumentExponents.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include "octavo/Dialect/Octavo/OctavoDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/Octavo/OctavoAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "octavo/Dialect/Octavo/OctavoTypes.cpp.inc"

namespace octavo::ir {

void OctavoDialect::initialize() {
  addInterfaces<InlineEverything>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "octavo/Dialect/Octavo/OctavoAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "octavo/Dialect/Octavo/OctavoTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/Octavo/Octavo.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/Octavo/RowsOfGroups.cpp.inc"
      >();
}

static mlir::LogicalResult verifyName(mlir::Operation* op, mlir::NamedAttribute attribute) {
  if (!llvm::isa<mlir::StringAttr>(attribute.getValue()))
    return op->emitOpError() << "attribute " << attribute.getName().strref()
                             << " is a name and needs a string, found " << attribute.getValue();
  return mlir::success();
}

mlir::LogicalResult OctavoDialect::verifyRegionArgAttribute(mlir::Operation* op, unsigned region,
                                                            unsigned argument,
                                                            mlir::NamedAttribute attribute) {
  const llvm::StringRef name = attribute.getName().strref();
  if (name == kName)
    return verifyName(op, attribute);
  if (name == kParameter) {
    if (!llvm::isa<mlir::UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute " << name << " of argument " << argument
                               << " takes no value, found " << attribute.getValue();
    return mlir::success();
  }
  if (name == kExponents) {
    auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op);
    const auto scaled =
        function ? llvm::dyn_cast<ScaledType>(function.getArgumentTypes()[argument]) : ScaledType();
    if (!scaled || !scaled.hasStaticShape() ||
        !isArgumentExponents(attribute.getValue(), scaled.getShape()))
      return op->emitOpError()
             << "attribute " << name << " of argument " << argument
             << " needs {axis = A : i64, exponents = array<i8: ...>} with one for "
                "each place of that axis of a scaled tensor of known extents, "
                "found "
             << attribute.getValue();
    return mlir::success();
  }
  if (name != kQuantize)
    return op->emitOpError() << "argument " << argument << " has the unknown attribute " << name
                             << "; available: " << kName << ", " << kParameter << ", " << kQuantize
                             << ", " << kExponents;

  const auto quantization = llvm::dyn_cast<QuantizationAttr>(attribute.getValue());
  if (!quantization)
    return op->emitOpError() << "attribute " << name << " of argument " << argument
                             << " needs #octavo.quantization<...>, found " << attribute.getValue();
  mlir::Type type;
  if (auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op))
    type = function.getArgumentTypes()[argument];
  const auto scaled = llvm::dyn_cast_or_null<ScaledType>(type);
  if (!scaled)
    return op->emitOpError() << "attribute " << name << " of argument " << argument
                             << " needs an argument of type !octavo.scaled, found " << type;
  if (failed(quantization.verifyFor([&] { return op->emitOpError(); }, scaled)))
    return mlir::failure();
  if (quantization.getOptions(scaled, format::element("f32")).rounding ==
      numerics::Rounding::Stochastic)
    return op->emitOpError() << "attribute " << name << " of argument " << argument
                             << " cannot round stochastically: binding has no random bits";
  return mlir::success();
}

mlir::LogicalResult OctavoDialect::verifyRegionResultAttribute(mlir::Operation* op, unsigned region,
                                                               unsigned result,
                                                               mlir::NamedAttribute attribute) {
  if (attribute.getName() == kName)
    return verifyName(op, attribute);
  return op->emitOpError() << "result " << result << " has the unknown attribute "
                           << attribute.getName().strref() << "; available: " << kName;
}

mlir::LogicalResult OctavoDialect::verifyOperationAttribute(mlir::Operation* op,
                                                            mlir::NamedAttribute attribute) {
  return op->emitOpError() << "has the attribute " << attribute.getName().strref()
                           << ", which belongs on an argument of a function";
}

} // namespace octavo::ir
