#include "octavo/Transforms/Legalize/CHLO/LegalizeCHLO.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Types.h"
#include "octavo/Transforms/Legalize/CHLO/Functions.h"
#include "octavo/Transforms/Legalize/CHLO/Operations.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

namespace octavo::transforms {

#define GEN_PASS_DEF_LEGALIZECHLO
#include "octavo/Transforms/Passes.h.inc"

namespace {

using mlir::RankedTensorType;
using Legalization = Replacements (*)(mlir::OpBuilder&, mlir::Operation*);

RankedTensorType typeOfResult(mlir::Operation* op) {
  return llvm::cast<RankedTensorType>(op->getResult(0).getType());
}

/// A function of floats; floats narrower than f32 are computed in f32.
template <Term (*Of)(Term)> Replacements function(mlir::OpBuilder& builder, mlir::Operation* op) {
  Formula formula(builder, op->getLoc(), op->getOperands(), typeOfResult(op));
  return {formula.result(Of(formula.wideOperand(0)))};
}

/// A function of floats or complex numbers.
template <Term (*OfReal)(Term), Term (*OfComplex)(Term)>
Replacements function(mlir::OpBuilder& builder, mlir::Operation* op) {
  if (!stablehlo::isComplex(mlir::getElementTypeOrSelf(op->getOperand(0).getType())))
    return function<OfReal>(builder, op);
  Formula formula(builder, op->getLoc(), op->getOperands(), typeOfResult(op));
  return {formula.result(OfComplex(formula.operand(0)))};
}

Replacements operandsOf(mlir::OpBuilder& builder, mlir::Operation* op) {
  if (op->getName().stripDialect().starts_with("broadcast_"))
    return broadcastOperands(builder, op);
  return Replacements(op->getOperands());
}

/// A function of two floats.
template <Term (*Of)(Term, Term)>
Replacements binaryFunction(mlir::OpBuilder& builder, mlir::Operation* op) {
  const Replacements operands = operandsOf(builder, op);
  Formula formula(builder, op->getLoc(), operands, typeOfResult(op));
  return {formula.result(Of(formula.wideOperand(0), formula.wideOperand(1)))};
}

/// A function of two operands that are not widened.
template <Term (*Of)(Term, Term)>
Replacements exactFunction(mlir::OpBuilder& builder, mlir::Operation* op) {
  const Replacements operands = operandsOf(builder, op);
  Formula formula(builder, op->getLoc(), operands, typeOfResult(op));
  return {formula.result(Of(formula.operand(0), formula.operand(1)))};
}

Term isPositiveInfinite(Term x) { return x == std::numeric_limits<double>::infinity(); }
Term isNegativeInfinite(Term x) { return x == -std::numeric_limits<double>::infinity(); }

/// A square. A product is rounded once in its own type, so nothing is widened.
Replacements legalizeSquare(mlir::OpBuilder& builder, mlir::Operation* op) {
  Formula formula(builder, op->getLoc(), op->getOperands(), typeOfResult(op));
  const Term x = formula.operand(0);
  return {formula.result(stablehlo::isComplex(x.element()) ? complexSquare(x) : x * x)};
}

Replacements legalizeConjugate(mlir::OpBuilder& builder, mlir::Operation* op) {
  Formula formula(builder, op->getLoc(), op->getOperands(), typeOfResult(op));
  const Term x = formula.operand(0);
  return {formula.result(stablehlo::isComplex(x.element()) ? conjugate(x) : x)};
}

Replacements legalizeTan(mlir::OpBuilder& builder, mlir::Operation* op) {
  Formula formula(builder, op->getLoc(), op->getOperands(), typeOfResult(op));
  return {formula.result(tan(formula.operand(0)))};
}

const llvm::StringMap<Legalization>& legalizations() {
  static const llvm::StringMap<Legalization> table{
      {"chlo.acos", function<acos, complexAcos>},
      {"chlo.acosh", function<acosh, complexAcosh>},
      {"chlo.asin", function<asin, complexAsin>},
      {"chlo.asinh", function<asinh, complexAsinh>},
      {"chlo.atan", function<atan, complexAtan>},
      {"chlo.atanh", function<atanh, complexAtanh>},
      {"chlo.bessel_i1e", function<besselI1e>},
      {"chlo.broadcast_add", legalizeBroadcast},
      {"chlo.broadcast_and", legalizeBroadcast},
      {"chlo.broadcast_atan2", legalizeBroadcast},
      {"chlo.broadcast_compare", legalizeBroadcastCompare},
      {"chlo.broadcast_complex", legalizeBroadcast},
      {"chlo.broadcast_divide", legalizeBroadcast},
      {"chlo.broadcast_maximum", legalizeBroadcast},
      {"chlo.broadcast_minimum", legalizeBroadcast},
      {"chlo.broadcast_multiply", legalizeBroadcast},
      {"chlo.broadcast_next_after", exactFunction<nextAfter>},
      {"chlo.broadcast_or", legalizeBroadcast},
      {"chlo.broadcast_polygamma", binaryFunction<polygamma>},
      {"chlo.broadcast_power", legalizeBroadcast},
      {"chlo.broadcast_remainder", legalizeBroadcast},
      {"chlo.broadcast_select", legalizeBroadcast},
      {"chlo.broadcast_shift_left", legalizeBroadcast},
      {"chlo.broadcast_shift_right_arithmetic", legalizeBroadcast},
      {"chlo.broadcast_shift_right_logical", legalizeBroadcast},
      {"chlo.broadcast_subtract", legalizeBroadcast},
      {"chlo.broadcast_xor", legalizeBroadcast},
      {"chlo.broadcast_zeta", binaryFunction<zeta>},
      {"chlo.conj", legalizeConjugate},
      {"chlo.constant", legalizeConstant},
      {"chlo.constant_like", legalizeConstantLike},
      {"chlo.cosh", function<cosh, complexCosh>},
      {"chlo.digamma", function<digamma>},
      {"chlo.erf", function<erf>},
      {"chlo.erf_inv", function<erfInv>},
      {"chlo.erfc", function<erfc>},
      {"chlo.is_inf", function<isInfinite>},
      {"chlo.is_neg_inf", function<isNegativeInfinite>},
      {"chlo.is_pos_inf", function<isPositiveInfinite>},
      {"chlo.lgamma", function<lgamma>},
      {"chlo.mulhi", exactFunction<mulhi>},
      {"chlo.next_after", exactFunction<nextAfter>},
      {"chlo.polygamma", binaryFunction<polygamma>},
      {"chlo.ragged_dot", legalizeRaggedDot},
      {"chlo.scan", legalizeScan},
      {"chlo.sinh", function<sinh, complexSinh>},
      {"chlo.square", legalizeSquare},
      {"chlo.tan", legalizeTan},
      {"chlo.top_k", legalizeTopK},
      {"chlo.zeta", binaryFunction<zeta>},
  };
  return table;
}

/// Whether an extent beside open ones exceeds i32, the type of shape operands.
bool hasLargeExtent(RankedTensorType type) {
  return !type.hasStaticShape() && llvm::any_of(type.getShape(), [](std::int64_t extent) {
    return extent > std::numeric_limits<std::int32_t>::max();
  });
}

/// Why an operation cannot be legalized; empty if it may be.
std::string obstacle(mlir::Operation* op) {
  llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const mlir::Type type : types) {
    const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (!tensor || !stablehlo::isTensor(type)) {
      stream << "StableHLO does not have " << type;
      return text;
    }
    if (const mlir::Type element = tensor.getElementType(); !elementType(element)) {
      stream << "StableHLO does not have tensors of '" << element << "'";
      return text;
    }
    if (llvm::isa<chlo::RaggedDotOp, chlo::ScanOp>(op) && !tensor.hasStaticShape()) {
      stream << "its extents must be known, as --octavo-refine-shapes finds them from the types of "
                "a function's arguments; found "
             << type;
      return text;
    }
    if (hasLargeExtent(tensor)) {
      stream << "extents that are found at run time are i32; found " << type;
      return text;
    }
  }
  return text;
}

/// Verifies the operations made for `op`; reports a violation as one error of `op`.
llvm::LogicalResult verify(mlir::Operation* op, llvm::ArrayRef<mlir::Operation*> made) {
  std::string reason;
  {
    const mlir::ScopedDiagnosticHandler handler(op->getContext(), [&](mlir::Diagnostic& found) {
      if (reason.empty())
        reason = found.str();
      return mlir::success();
    });
    for (mlir::Operation* each : made)
      if (failed(mlir::verify(each)))
        break;
  }
  if (reason.empty())
    return mlir::success();
  return op->emitOpError("cannot be legalized: ") << reason;
}

} // namespace

llvm::LogicalResult legalizeCHLO(mlir::Operation* op) {
  if (const std::string why = obstacle(op); !why.empty())
    return op->emitOpError("cannot be legalized: ") << why;
  const auto found = legalizations().find(op->getName().getStringRef());
  if (found == legalizations().end())
    return op->emitOpError("cannot be legalized: nothing is known that computes it");
  mlir::Operation* const before = op->getPrevNode();
  mlir::OpBuilder builder(op);
  const Replacements replacements = found->second(builder, op);
  llvm::SmallVector<mlir::Operation*> made;
  for (mlir::Operation* each = before ? before->getNextNode() : &op->getBlock()->front();
       each != op; each = each->getNextNode())
    made.push_back(each);
  if (failed(verify(op, made))) {
    for (mlir::Operation* each : llvm::reverse(made))
      each->erase();
    return mlir::failure();
  }
  op->replaceAllUsesWith(replacements);
  op->erase();
  return mlir::success();
}

namespace {

struct LegalizeCHLO : impl::LegalizeCHLOBase<LegalizeCHLO> {
  void runOnOperation() override {
    llvm::SmallVector<mlir::Operation*> operations;
    getOperation().walk([&](mlir::Operation* op) {
      if (llvm::isa_and_nonnull<chlo::CHLODialect>(op->getDialect()))
        operations.push_back(op);
    });
    bool isWhole = true;
    for (mlir::Operation* op : operations)
      isWhole &= succeeded(legalizeCHLO(op));
    if (!isWhole)
      signalPassFailure();
  }
};

} // namespace

} // namespace octavo::transforms
