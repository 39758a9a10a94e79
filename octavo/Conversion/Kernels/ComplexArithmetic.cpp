#include "octavo/Conversion/Kernels/ComplexArithmetic.h"

#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Intrinsics.h"

namespace octavo::conversion {

namespace {

/// One operation on numbers of two parts of a type.
struct OnPairs {
  Scalars& scalars;
  llvm::IRBuilder<>& b;
  mlir::Operation* op;
  mlir::Type part;

  Scalars::Pair pair(llvm::Value* number) const { return scalars.parts(number); }
  llvm::Value* wide(llvm::Value* x) const {
    return part.isF64() ? x : b.CreateFPExt(x, b.getDoubleTy());
  }
  llvm::Value* narrow(llvm::Value* x) const {
    return part.isF64() ? x : b.CreateFPTrunc(x, b.getFloatTy());
  }
};

using Numbers = llvm::ArrayRef<llvm::Value*>;
using EmitPair = llvm::Value* (*)(const OnPairs&, Numbers);

template <llvm::Instruction::BinaryOps kOp> llvm::Value* partByPart(const OnPairs& c, Numbers x) {
  const auto [a, b] = c.pair(x[0]);
  const auto [d, e] = c.pair(x[1]);
  return c.scalars.pair(c.b.CreateBinOp(kOp, a, d), c.b.CreateBinOp(kOp, b, e));
}

/// (ac - bd, ad + bc) in f64, each part rounded once.
llvm::Value* multiplyPairs(const OnPairs& c, Numbers x) {
  const auto [re, im] = c.pair(x[0]);
  const auto [re2, im2] = c.pair(x[1]);
  llvm::Value *p = c.wide(re), *q = c.wide(im), *r = c.wide(re2), *s = c.wide(im2);
  llvm::IRBuilder<>& b = c.b;
  return c.scalars.pair(c.narrow(b.CreateFSub(b.CreateFMul(p, r), b.CreateFMul(q, s))),
                        c.narrow(b.CreateFAdd(b.CreateFMul(p, s), b.CreateFMul(q, r))));
}

llvm::Value* dividePairs(const OnPairs& c, Numbers x) {
  const auto [re, im] = c.pair(x[0]);
  const auto [re2, im2] = c.pair(x[1]);
  const llvm::SmallVector<llvm::Value*> parts{c.wide(re), c.wide(im), c.wide(re2), c.wide(im2)};
  return c.scalars.pair(
      c.narrow(c.scalars.call("octavo_quotient_real", c.b.getDoubleTy(), parts)),
      c.narrow(c.scalars.call("octavo_quotient_imaginary", c.b.getDoubleTy(), parts)));
}

llvm::Value* negatePair(const OnPairs& c, Numbers x) {
  const auto [re, im] = c.pair(x[0]);
  return c.scalars.pair(c.b.CreateFNeg(re), c.b.CreateFNeg(im));
}

llvm::Value* modulus(const OnPairs& c, Numbers x) {
  const auto [re, im] = c.pair(x[0]);
  return c.narrow(c.scalars.call("octavo_hypot", c.b.getDoubleTy(), {c.wide(re), c.wide(im)}));
}

llvm::Value* realPart(const OnPairs& c, Numbers x) { return c.pair(x[0]).real; }
llvm::Value* imaginaryPart(const OnPairs& c, Numbers x) { return c.pair(x[0]).imaginary; }

llvm::Value* comparePairs(const OnPairs& c, Numbers x) {
  const auto [a, b] = c.pair(x[0]);
  const auto [d, e] = c.pair(x[1]);
  llvm::Value* isEqual = c.b.CreateAnd(c.b.CreateFCmpOEQ(a, d), c.b.CreateFCmpOEQ(b, e));
  const bool isEquality = mlir::cast<stablehlo::CompareOp>(c.op).getComparisonDirection() ==
                          stablehlo::ComparisonDirection::EQ;
  return isEquality ? isEqual : c.b.CreateNot(isEqual);
}

llvm::Value* convertPair(const OnPairs& c, Numbers x) {
  return c.scalars.convert(mlir::getElementTypeOrSelf(c.op->getOperand(0)),
                           mlir::getElementTypeOrSelf(c.op->getResult(0)), x[0]);
}

EmitPair pairOperation(mlir::Operation* op) {
  static const llvm::StringMap<EmitPair> rows = {
      {"stablehlo.add", partByPart<llvm::Instruction::FAdd>},
      {"stablehlo.subtract", partByPart<llvm::Instruction::FSub>},
      {"stablehlo.multiply", multiplyPairs},
      {"stablehlo.divide", dividePairs},
      {"stablehlo.negate", negatePair},
      {"stablehlo.abs", modulus},
      {"stablehlo.real", realPart},
      {"stablehlo.imag", imaginaryPart},
      {"stablehlo.compare", comparePairs},
      {"stablehlo.convert", convertPair},
  };
  return rows.lookup(op->getName().getStringRef());
}

} // namespace

bool isCompiledComplex(mlir::Operation* op) {
  if (auto compare = mlir::dyn_cast<stablehlo::CompareOp>(op)) {
    const stablehlo::ComparisonDirection direction = compare.getComparisonDirection();
    return direction == stablehlo::ComparisonDirection::EQ ||
           direction == stablehlo::ComparisonDirection::NE;
  }
  return pairOperation(op) != nullptr;
}

llvm::Value* emitComplex(Scalars& scalars, mlir::Operation* op, Numbers operands) {
  const auto type = mlir::cast<mlir::ComplexType>(mlir::getElementTypeOrSelf(op->getOperand(0)));
  return pairOperation(op)({scalars, scalars.b, op, type.getElementType()}, operands);
}

} // namespace octavo::conversion
