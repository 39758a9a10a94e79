#include "octavo/Compiler/Kernels/ComplexArithmetic.h"

#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Intrinsics.h"

#include <string>

namespace octavo::compiler {

namespace {

/// One operation on complex numbers with parts of type `part`.
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

llvm::Value* addPairs(const OnPairs& c, Numbers x) { return addComplex(c.scalars, x[0], x[1]); }
llvm::Value* subtractPairs(const OnPairs& c, Numbers x) {
  const auto [a, b] = c.pair(x[0]);
  const auto [d, e] = c.pair(x[1]);
  return c.scalars.pair(c.b.CreateFSub(a, d), c.b.CreateFSub(b, e));
}

llvm::Value* multiplyPairs(const OnPairs& c, Numbers x) {
  return multiplyComplex(c.scalars, c.part, x[0], x[1]);
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

llvm::Value* convertPair(const OnPairs& c, Numbers x) {
  return c.scalars.convert(mlir::getElementTypeOrSelf(c.op->getOperand(0)),
                           mlir::getElementTypeOrSelf(c.op->getResult(0)), x[0]);
}

/// Rule I5: compares real parts, then imaginary parts.
llvm::Value* holds(const OnPairs& c, llvm::CmpInst::Predicate predicate, llvm::Value* x,
                   llvm::Value* y) {
  const auto [a, b] = c.pair(x);
  const auto [d, e] = c.pair(y);
  return c.b.CreateSelect(c.b.CreateFCmpOEQ(a, d), c.b.CreateFCmp(predicate, b, e),
                          c.b.CreateFCmp(predicate, a, d));
}

llvm::Value* larger(const OnPairs& c, Numbers x) {
  return c.b.CreateSelect(holds(c, llvm::CmpInst::FCMP_OLT, x[1], x[0]), x[0], x[1]);
}
llvm::Value* smaller(const OnPairs& c, Numbers x) {
  return c.b.CreateSelect(holds(c, llvm::CmpInst::FCMP_OLT, x[0], x[1]), x[0], x[1]);
}

llvm::Value* comparePairs(const OnPairs& c, Numbers x) {
  using stablehlo::ComparisonDirection;
  const auto [a, b] = c.pair(x[0]);
  const auto [d, e] = c.pair(x[1]);
  const auto isEqual = [&, a = a, b = b, d = d, e = e] {
    return c.b.CreateAnd(c.b.CreateFCmpOEQ(a, d), c.b.CreateFCmpOEQ(b, e));
  };
  switch (mlir::cast<stablehlo::CompareOp>(c.op).getComparisonDirection()) {
  case ComparisonDirection::EQ:
    return isEqual();
  case ComparisonDirection::NE:
    return c.b.CreateNot(isEqual());
  case ComparisonDirection::LT:
    return holds(c, llvm::CmpInst::FCMP_OLT, x[0], x[1]);
  case ComparisonDirection::LE:
    return holds(c, llvm::CmpInst::FCMP_OLE, x[0], x[1]);
  case ComparisonDirection::GT:
    return holds(c, llvm::CmpInst::FCMP_OGT, x[0], x[1]);
  case ComparisonDirection::GE:
    return holds(c, llvm::CmpInst::FCMP_OGE, x[0], x[1]);
  }
  llvm_unreachable("a direction that is none");
}

/// The function's name in Program/Steps/KernelLibrary, without its prefix and its suffixes for type
/// and part.
llvm::StringRef libraryName(mlir::Operation* op) {
  static const llvm::StringMap<const char*> names = {
      {"chlo.acos", "acos"},
      {"chlo.acosh", "acosh"},
      {"chlo.asin", "asin"},
      {"chlo.asinh", "asinh"},
      {"chlo.atan", "atan"},
      {"chlo.atanh", "atanh"},
      {"chlo.cosh", "cosh"},
      {"chlo.sinh", "sinh"},
      {"chlo.square", "square"},
      {"chlo.tan", "tan"},
      {"stablehlo.atan2", "atan2"},
      {"stablehlo.cbrt", "cbrt"},
      {"stablehlo.cosine", "cos"},
      {"stablehlo.exponential", "exp"},
      {"stablehlo.exponential_minus_one", "expm1"},
      {"stablehlo.log", "log"},
      {"stablehlo.log_plus_one", "log1p"},
      {"stablehlo.logistic", "logistic"},
      {"stablehlo.power", "pow"},
      {"stablehlo.rsqrt", "rsqrt"},
      {"stablehlo.sign", "sign"},
      {"stablehlo.sine", "sin"},
      {"stablehlo.sqrt", "sqrt"},
      {"stablehlo.tan", "tan"},
      {"stablehlo.tanh", "tanh"},
  };
  const auto found = names.find(op->getName().getStringRef());
  return found == names.end() ? "" : found->second;
}

llvm::Value* callForBoth(const OnPairs& c, Numbers x) {
  llvm::SmallVector<llvm::Value*> parts;
  for (llvm::Value* number : x) {
    const auto [re, im] = c.pair(number);
    parts.append({c.wide(re), c.wide(im)});
  }
  const std::string name =
      ("octavo_complex_" + libraryName(c.op) + (c.part.isF64() ? "_f64" : "_f32")).str();
  llvm::Type* f64 = c.b.getDoubleTy();
  return c.scalars.pair(c.narrow(c.scalars.call(name + "_real", f64, parts)),
                        c.narrow(c.scalars.call(name + "_imaginary", f64, parts)));
}

EmitPair pairOperation(mlir::Operation* op) {
  if (!libraryName(op).empty())
    return callForBoth;
  static const llvm::StringMap<EmitPair> rows = {
      {"stablehlo.add", addPairs},           {"stablehlo.subtract", subtractPairs},
      {"stablehlo.multiply", multiplyPairs}, {"stablehlo.divide", dividePairs},
      {"stablehlo.negate", negatePair},      {"stablehlo.abs", modulus},
      {"stablehlo.maximum", larger},         {"stablehlo.minimum", smaller},
      {"stablehlo.real", realPart},          {"stablehlo.imag", imaginaryPart},
      {"stablehlo.compare", comparePairs},   {"stablehlo.convert", convertPair},
  };
  return rows.lookup(op->getName().getStringRef());
}

} // namespace

bool isCompiledComplex(mlir::Operation* op) { return pairOperation(op) != nullptr; }

llvm::Value* addComplex(Scalars& scalars, llvm::Value* x, llvm::Value* y) {
  const auto [a, b] = scalars.parts(x);
  const auto [d, e] = scalars.parts(y);
  return scalars.pair(scalars.b.CreateFAdd(a, d), scalars.b.CreateFAdd(b, e));
}

/// (ac - bd, ad + bc), computed in f64.
llvm::Value* multiplyComplex(Scalars& scalars, mlir::Type part, llvm::Value* x, llvm::Value* y) {
  const OnPairs c{scalars, scalars.b, nullptr, part};
  const auto [re, im] = c.pair(x);
  const auto [re2, im2] = c.pair(y);
  llvm::Value *p = c.wide(re), *q = c.wide(im), *r = c.wide(re2), *s = c.wide(im2);
  llvm::IRBuilder<>& b = c.b;
  return scalars.pair(c.narrow(b.CreateFSub(b.CreateFMul(p, r), b.CreateFMul(q, s))),
                      c.narrow(b.CreateFAdd(b.CreateFMul(p, s), b.CreateFMul(q, r))));
}

llvm::Value* emitComplex(Scalars& scalars, mlir::Operation* op, Numbers operands) {
  const auto type = mlir::cast<mlir::ComplexType>(mlir::getElementTypeOrSelf(op->getOperand(0)));
  return pairOperation(op)({scalars, scalars.b, op, type.getElementType()}, operands);
}

} // namespace octavo::compiler
