#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <array>
#include <optional>

namespace octavo::transforms {

#define GEN_PASS_DEF_NORMALIZEFLOATS
#include "octavo/Transforms/Passes.h.inc"

namespace {

/// The formats that a target computes in, as names separated by spaces. Every target moves and
/// converts every type.
struct Target {
  llvm::StringLiteral name;
  llvm::StringLiteral arithmetic; ///< elementwise operations, reductions, and results of dots
  llvm::StringLiteral dotOperands;
  llvm::StringLiteral notBothOperands; ///< a format that a dot takes on one side only; may be empty
};

// XLA's CPU compiler computes bf16 in f32; its FP8 products on CUDA take E4M3FN and E5M2, but not
// E5M2 on both sides.
constexpr std::array kTargets = {
    Target{"xla-cpu", "f16 f32 f64", "f16 f32 f64", ""},
    Target{"xla-gpu-sm89", "bf16 f16 f32 f64", "e4m3fn e5m2 bf16 f16 f32 f64", "e5m2"},
    Target{"f32-only", "f32", "f32", ""},
    Target{"bf16", "bf16 f32", "bf16 f32", ""},
};

enum class Family { Other, Elementwise, Dot, Reduction };

bool lists(llvm::StringRef formats, const format::ElementFormat& format) {
  return llvm::is_contained(llvm::split(formats, ' '), llvm::StringRef(format.name));
}

const format::ElementFormat* elementOf(mlir::Type type) {
  return elementFormat(mlir::getElementTypeOrSelf(type));
}

/// Whether a reduction's body is one operation that runs in f32 whatever its type (rule I10).
bool isCombiner(mlir::Region& body) {
  if (!body.hasOneBlock() || body.getNumArguments() != 2 ||
      body.front().getOperations().size() != 2)
    return false;
  mlir::Operation& op = body.front().front();
  return llvm::isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp>(op) &&
         op.getOperand(0) != op.getOperand(1) &&
         llvm::all_of(op.getOperands(), llvm::IsaPred<mlir::BlockArgument>) &&
         body.front().back().getOperands() == mlir::ValueRange(op.getResults());
}

Family familyOf(mlir::Operation* op) {
  const llvm::StringRef name = op->getName().getStringRef();
  const auto family =
      llvm::StringSwitch<Family>(name)
          .Cases({"stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution"}, Family::Dot)
          .Cases({"stablehlo.reduce", "stablehlo.reduce_window"}, Family::Reduction)
          .Cases({"stablehlo.convert", "stablehlo.select", "stablehlo.reduce_precision"},
                 Family::Other)
          .Default(op->hasTrait<mlir::OpTrait::Elementwise>() ||
                           op->hasTrait<stablehlo::Elementwise>()
                       ? Family::Elementwise
                       : Family::Other);
  return family == Family::Reduction && !isCombiner(op->getRegion(0)) ? Family::Other : family;
}

/// Whether an operation can be computed only in the element type of its operands.
bool isBoundToItsType(mlir::Operation* op) {
  return llvm::StringSwitch<bool>(op->getName().getStringRef())
      .Cases({"stablehlo.reduce_precision", "stablehlo.batch_norm_grad",
              "stablehlo.batch_norm_inference", "stablehlo.batch_norm_training",
              "stablehlo.cholesky", "stablehlo.triangular_solve", "stablehlo.rng",
              "stablehlo.einsum", "stablehlo.unary_einsum", "stablehlo.dynamic_conv"},
             true)
      .Default(false);
}

class Normalization {
public:
  explicit Normalization(const Target& target) : target(target) {}

  mlir::LogicalResult normalize(mlir::Operation* op) {
    const Family family = familyOf(op);
    if (family == Family::Other) {
      if (isBoundToItsType(op))
        if (const format::ElementFormat* lacking = lackingIn(op, Family::Elementwise))
          op->emitRemark() << "left in " << lacking->irName() << ", which " << target.name
                           << " does not compute in";
      return mlir::success();
    }
    const format::ElementFormat* lacking = lackingIn(op, family);
    if (lacking == nullptr)
      return mlir::success();
    if (op->hasAttr("algorithm")) {
      op->emitRemark() << "left in " << lacking->irName() << ", which " << target.name
                       << " does not multiply: the algorithm names the types of the operands";
      return mlir::success();
    }
    const format::ElementFormat* wide = wideFor(op, family);
    if (wide == nullptr)
      return op->emitError() << target.name << " does not compute in " << lacking->irName()
                             << ", nor in a type that gives the same values";
    widen(op, mlirType(op->getContext(), *wide), family);
    return mlir::success();
  }

private:
  bool takes(const format::ElementFormat& format, Family family, bool isOperand) const {
    return lists(family == Family::Dot && isOperand ? target.dotOperands : target.arithmetic,
                 format);
  }

  /// Whether both sides of a dot have the format that the target takes on one side only.
  bool isRefusedPair(mlir::Operation* op, Family family) const {
    return family == Family::Dot && llvm::all_of(op->getOperandTypes(), [&](mlir::Type type) {
             const format::ElementFormat* format = elementOf(type);
             return format != nullptr && target.notBothOperands == llvm::StringRef(format->name);
           });
  }

  /// A format of the operation that the target does not compute in; null if there is none.
  const format::ElementFormat* lackingIn(mlir::Operation* op, Family family) const {
    if (isRefusedPair(op, family))
      return elementOf(op->getOperand(0).getType());
    for (const bool isOperand : {true, false})
      for (const mlir::Type type : isOperand ? llvm::to_vector(op->getOperandTypes())
                                             : llvm::to_vector(op->getResultTypes()))
        if (const format::ElementFormat* format = elementOf(type))
          if (!takes(*format, family, isOperand))
            return format;
    return nullptr;
  }

  /// Whether the target takes the operands of a dot as they are, whatever the result.
  bool takesOperands(mlir::Operation* op, Family family) const {
    return family == Family::Dot && !isRefusedPair(op, family) &&
           llvm::all_of(op->getOperandTypes(), [&](mlir::Type type) {
             const format::ElementFormat* format = elementOf(type);
             return format == nullptr || takes(*format, family, true);
           });
  }

  /// The format to compute the operation in: f32; f64 beside f64, and for elementwise operations on
  /// e8m0fnu, whose products can leave f32's range but not their own. Null if the target does not
  /// compute in it.
  const format::ElementFormat* wideFor(mlir::Operation* op, Family family) const {
    bool needsF64 = false;
    for (const mlir::Type type : llvm::concat<const mlir::Type>(
             llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
      if (const format::ElementFormat* format = elementOf(type))
        needsF64 |= *format == format::element("f64") ||
                    (family == Family::Elementwise && *format == format::element("e8m0fnu"));
    const format::ElementFormat& wide = needsF64 ? format::element("f64") : format::element("f32");
    return lists(target.arithmetic, wide) ? &wide : nullptr;
  }

  static mlir::Type withElement(mlir::Type type, mlir::Type element) {
    return elementOf(type) != nullptr ? llvm::cast<mlir::ShapedType>(type).clone(element) : type;
  }

  void widen(mlir::Operation* op, mlir::Type wide, Family family) const {
    mlir::OpBuilder builder(op);
    mlir::IRMapping mapping;
    const bool operandsStay = takesOperands(op, family);
    for (const mlir::Value operand : op->getOperands()) {
      if (operandsStay || mapping.contains(operand) ||
          operand.getType() == withElement(operand.getType(), wide))
        continue;
      mapping.map(operand, stablehlo::ConvertOp::create(
                               builder, op->getLoc(), withElement(operand.getType(), wide), operand)
                               .getResult());
    }
    mlir::Operation* copy = builder.clone(*op, mapping);
    for (mlir::Region& region : copy->getRegions())
      for (mlir::Block& block : region) {
        for (mlir::BlockArgument argument : block.getArguments())
          argument.setType(withElement(argument.getType(), wide));
        for (mlir::Operation& inner : block)
          for (mlir::Value result : inner.getResults())
            result.setType(withElement(result.getType(), wide));
      }
    for (auto [before, after] : llvm::zip_equal(op->getResults(), copy->getResults())) {
      const mlir::Type type = before.getType();
      const format::ElementFormat* format = elementOf(type);
      // Only a dot may have a result of another type than its operands.
      const bool stays =
          family == Family::Dot && format != nullptr && takes(*format, family, false);
      mlir::Value result = after;
      if (!stays && type != withElement(type, wide)) {
        after.setType(withElement(type, wide));
        result = stablehlo::ConvertOp::create(builder, op->getLoc(), type, after);
      }
      before.replaceAllUsesWith(result);
    }
    op->erase();
  }

  const Target& target;
};

struct NormalizeFloats : impl::NormalizeFloatsBase<NormalizeFloats> {
  using NormalizeFloatsBase::NormalizeFloatsBase;

  void runOnOperation() override {
    const auto* found = llvm::find_if(
        kTargets, [&](const Target& known) { return known.name == llvm::StringRef(target); });
    if (found == kTargets.end()) {
      std::string names;
      for (const Target& known : kTargets)
        names += " " + known.name.str();
      return fail("no target '" + target.getValue() + "'; available:" + names);
    }
    llvm::SmallVector<mlir::Operation*> ops;
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      ops.push_back(op);
      return familyOf(op) == Family::Reduction ? mlir::WalkResult::skip()
                                               : mlir::WalkResult::advance();
    });
    Normalization normalization(*found);
    for (mlir::Operation* op : ops)
      if (mlir::failed(normalization.normalize(op)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace octavo::transforms
