#include "octavo/Compiler/Kernels/Arithmetic.h"

#include "octavo/Compiler/Kernels/ComplexArithmetic.h"
#include "octavo/Compiler/Kernels/Functions.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Intrinsics.h"

#include <algorithm>
#include <limits>

namespace octavo::compiler {

namespace {

using llvm::Intrinsic::ID;
using Operands = llvm::ArrayRef<llvm::Value*>;

/// One operation on elements of `type`, the type of its first operand.
struct Context {
  Scalars& scalars;
  llvm::IRBuilder<>& b;
  mlir::Operation* op;
  mlir::Type type;

  bool isFloat() const { return mlir::isa<mlir::FloatType>(type); }
  bool isBoolean() const { return type.isInteger(1); }
  bool isUnsigned() const { return compiler::isUnsigned(type); }
  llvm::Value* integer(llvm::Value* like, std::uint64_t value) const {
    return llvm::ConstantInt::get(like->getType(), value);
  }
  llvm::Value* number(llvm::Value* like, double value) const {
    return llvm::ConstantFP::get(like->getType(), value);
  }
  llvm::Value* rounded(llvm::Value* value) const { return scalars.round(type, value); }
};

using Emit = llvm::Value* (*)(const Context&, Operands);

/// The element types that an operation has code for.
enum Kinds : unsigned {
  kFloat = 1,
  kInteger = 2,
  kBoolean = 4,
  kNumber = kFloat | kInteger,
  kBits = kInteger | kBoolean,
  kAny = kFloat | kInteger | kBoolean
};

struct Row {
  unsigned kinds;
  int cost;
  Emit emit;
};

llvm::Value* add(const Context& c, Operands x) {
  return c.isFloat()     ? c.rounded(c.b.CreateFAdd(x[0], x[1]))
         : c.isBoolean() ? c.b.CreateOr(x[0], x[1])
                         : c.b.CreateAdd(x[0], x[1]);
}
llvm::Value* subtract(const Context& c, Operands x) {
  return c.isFloat() ? c.rounded(c.b.CreateFSub(x[0], x[1])) : c.b.CreateSub(x[0], x[1]);
}
llvm::Value* multiply(const Context& c, Operands x) {
  return c.isFloat()     ? c.rounded(c.b.CreateFMul(x[0], x[1]))
         : c.isBoolean() ? c.b.CreateAnd(x[0], x[1])
                         : c.b.CreateMul(x[0], x[1]);
}

/// Rule I6: handles a divisor of 0, and the lowest value over -1, before the machine divides.
struct SafeDivision {
  llvm::Value *isZero, *isMinusOne, *divisor;

  SafeDivision(const Context& c, llvm::Value* y)
      : isZero(c.b.CreateICmpEQ(y, c.integer(y, 0))),
        isMinusOne(c.isUnsigned() ? c.b.getFalse()
                                  : c.b.CreateICmpEQ(y, c.integer(y, ~std::uint64_t{0}))),
        divisor(c.b.CreateSelect(c.b.CreateOr(isZero, isMinusOne), c.integer(y, 1), y)) {}
};
llvm::Value* divide(const Context& c, Operands x) {
  if (c.isFloat())
    return c.rounded(c.b.CreateFDiv(x[0], x[1]));
  const SafeDivision safe(c, x[1]);
  llvm::Value* quotient =
      c.isUnsigned() ? c.b.CreateUDiv(x[0], safe.divisor) : c.b.CreateSDiv(x[0], safe.divisor);
  quotient = c.b.CreateSelect(safe.isMinusOne, c.b.CreateNeg(x[0]), quotient);
  return c.b.CreateSelect(safe.isZero, c.integer(x[0], ~std::uint64_t{0}), quotient);
}
llvm::Value* remainder(const Context& c, Operands x) {
  if (c.isFloat())
    return c.type.isF64() ? c.scalars.call("octavo_fmod", c.b.getDoubleTy(), x)
                          : c.scalars.call("octavo_fmodf", c.b.getFloatTy(), x);
  const SafeDivision safe(c, x[1]);
  llvm::Value* rest =
      c.isUnsigned() ? c.b.CreateURem(x[0], safe.divisor) : c.b.CreateSRem(x[0], safe.divisor);
  return c.b.CreateSelect(safe.isZero, x[0],
                          c.b.CreateSelect(safe.isMinusOne, c.integer(x[0], 0), rest));
}

/// The max or min of an element and a constant that is not NaN. One comparison selects the result
/// and keeps NaN. If the constant is a zero, it also selects the zero of the right sign.
llvm::Value* extremumOf(const Context& c, bool isLargest, llvm::Value* x, llvm::ConstantFP* bound) {
  using Predicate = llvm::CmpInst::Predicate;
  // Among equal zeros, the bound is selected if it is the result.
  const bool isTaken = !bound->isZero() || bound->isNegative() != isLargest;
  const Predicate predicate = isLargest ? (isTaken ? Predicate::FCMP_UGT : Predicate::FCMP_UGE)
                                        : (isTaken ? Predicate::FCMP_ULT : Predicate::FCMP_ULE);
  return c.b.CreateSelect(c.b.CreateFCmp(predicate, x, bound), x, bound);
}

template <ID kFloatOp, ID kSigned, ID kUnsigned>
llvm::Value* extremum(const Context& c, Operands x) {
  for (const std::size_t i : {0, 1})
    if (auto* bound = llvm::dyn_cast<llvm::ConstantFP>(x[i]); bound != nullptr && !bound->isNaN())
      return extremumOf(c, kFloatOp == llvm::Intrinsic::maximum, x[1 - i], bound);
  return c.b.CreateBinaryIntrinsic(c.isFloat()      ? kFloatOp
                                   : c.isUnsigned() ? kUnsigned
                                                    : kSigned,
                                   x[0], x[1]);
}
constexpr Emit kMaximum =
    extremum<llvm::Intrinsic::maximum, llvm::Intrinsic::smax, llvm::Intrinsic::umax>;
constexpr Emit kMinimum =
    extremum<llvm::Intrinsic::minimum, llvm::Intrinsic::smin, llvm::Intrinsic::umin>;
llvm::Value* clamp(const Context& c, Operands x) {
  return kMinimum(c, {kMaximum(c, {x[1], x[0]}), x[2]});
}

template <ID kOp> llvm::Value* unary(const Context& c, Operands x) {
  return c.b.CreateUnaryIntrinsic(kOp, x[0]);
}
llvm::Value* negate(const Context& c, Operands x) {
  return c.isFloat() ? c.b.CreateFNeg(x[0]) : c.b.CreateNeg(x[0]);
}
llvm::Value* abs(const Context& c, Operands x) {
  if (c.isFloat())
    return c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0]);
  return c.isUnsigned() ? x[0]
                        : c.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], c.b.getFalse());
}
llvm::Value* sign(const Context& c, Operands x) {
  if (c.isFloat()) {
    llvm::Value* keeps = c.b.CreateFCmpUEQ(x[0], c.number(x[0], 0));
    llvm::Value* one =
        c.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, c.number(x[0], 1), x[0]);
    return c.b.CreateSelect(keeps, x[0], one);
  }
  llvm::Value* positive =
      c.b.CreateZExt(c.b.CreateICmpNE(x[0], c.integer(x[0], 0)), x[0]->getType());
  if (c.isUnsigned())
    return positive;
  llvm::Value* isNegative = c.b.CreateICmpSLT(x[0], c.integer(x[0], 0));
  return c.b.CreateSelect(isNegative, c.integer(x[0], ~std::uint64_t{0}), positive);
}
llvm::Value* sqrt(const Context& c, Operands x) {
  return c.rounded(c.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]));
}
/// Narrower types: computed in f64, where two roundings give the correctly rounded f32. f64: with a
/// Newton step, as interpreter::Rsqrt does.
llvm::Value* rsqrt(const Context& c, Operands x) {
  llvm::Value* wide = c.b.CreateFPExt(x[0], c.b.getDoubleTy());
  llvm::Value* root = c.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, wide);
  llvm::Value* result = c.b.CreateFDiv(c.number(root, 1), root);
  if (!x[0]->getType()->getScalarType()->isDoubleTy())
    return c.rounded(c.b.CreateFPTrunc(result, x[0]->getType()));
  const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* sum) {
    return c.b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, sum});
  };
  llvm::Value* product = c.b.CreateFMul(wide, result);
  llvm::Value* rest = fma(wide, result, c.b.CreateFNeg(product));
  llvm::Value* error = c.b.CreateFSub(fma(c.b.CreateFNeg(product), result, c.number(root, 1)),
                                      c.b.CreateFMul(rest, result));
  llvm::Value* better = fma(c.b.CreateFMul(c.number(root, 0.5), result), error, result);
  return c.b.CreateSelect(c.b.CreateFCmpORD(error, error), better, result);
}

llvm::Value* bitAnd(const Context& c, Operands x) { return c.b.CreateAnd(x[0], x[1]); }
llvm::Value* bitOr(const Context& c, Operands x) { return c.b.CreateOr(x[0], x[1]); }
llvm::Value* bitXor(const Context& c, Operands x) { return c.b.CreateXor(x[0], x[1]); }
llvm::Value* bitNot(const Context& c, Operands x) { return c.b.CreateNot(x[0]); }
llvm::Value* populationCount(const Context& c, Operands x) {
  return c.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x[0]);
}
llvm::Value* countLeadingZeros(const Context& c, Operands x) {
  return c.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x[0], c.b.getFalse());
}

/// A shift by the type's width or more gives zeros, or copies of the sign bit.
template <llvm::Instruction::BinaryOps kOp> llvm::Value* shift(const Context& c, Operands x) {
  const unsigned width = x[0]->getType()->getIntegerBitWidth();
  llvm::Value* isInRange = c.b.CreateICmpULT(x[1], c.integer(x[1], width));
  llvm::Value* last = c.integer(x[1], width - 1);
  llvm::Value* amount = c.b.CreateSelect(isInRange, x[1], last);
  llvm::Value* shifted = c.b.CreateBinOp(kOp, x[0], amount);
  return kOp == llvm::Instruction::AShr ? shifted
                                        : c.b.CreateSelect(isInRange, shifted, c.integer(x[0], 0));
}

llvm::Value* compare(const Context& c, Operands x) {
  using Predicate = llvm::CmpInst::Predicate;
  auto op = mlir::cast<stablehlo::CompareOp>(c.op);
  const auto direction = static_cast<unsigned>(op.getComparisonDirection());
  llvm::Value *lhs = x[0], *rhs = x[1];
  const bool isTotal = op.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  if (c.isFloat() && !isTotal) {
    static constexpr Predicate kFloats[] = {Predicate::FCMP_OEQ, Predicate::FCMP_UNE,
                                            Predicate::FCMP_OGE, Predicate::FCMP_OGT,
                                            Predicate::FCMP_OLE, Predicate::FCMP_OLT};
    return c.b.CreateFCmp(kFloats[direction], lhs, rhs);
  }
  if (c.isFloat())
    for (llvm::Value** value : {&lhs, &rhs}) {
      const unsigned width = (*value)->getType()->getPrimitiveSizeInBits();
      llvm::Value* bits = c.b.CreateBitCast(*value, c.b.getIntNTy(width));
      llvm::Value* sign = c.b.CreateAShr(bits, width - 1);
      *value = c.b.CreateXor(bits, c.b.CreateLShr(sign, 1));
    }
  static constexpr Predicate kSigned[] = {Predicate::ICMP_EQ,  Predicate::ICMP_NE,
                                          Predicate::ICMP_SGE, Predicate::ICMP_SGT,
                                          Predicate::ICMP_SLE, Predicate::ICMP_SLT};
  static constexpr Predicate kUnsigned[] = {Predicate::ICMP_EQ,  Predicate::ICMP_NE,
                                            Predicate::ICMP_UGE, Predicate::ICMP_UGT,
                                            Predicate::ICMP_ULE, Predicate::ICMP_ULT};
  return c.b.CreateICmp((c.isUnsigned() ? kUnsigned : kSigned)[direction], lhs, rhs);
}
llvm::Value* select(const Context& c, Operands x) {
  if (!x[1]->getType()->isStructTy())
    return c.b.CreateSelect(x[0], x[1], x[2]);
  // Part by part: LLVM vectorizes no select of structures.
  const Scalars::Pair yes = c.scalars.parts(x[1]), no = c.scalars.parts(x[2]);
  return c.scalars.pair(c.b.CreateSelect(x[0], yes.real, no.real),
                        c.b.CreateSelect(x[0], yes.imaginary, no.imaginary));
}
llvm::Value* complexOf(const Context& c, Operands x) { return c.scalars.pair(x[0], x[1]); }
llvm::Value* realOf(const Context&, Operands x) { return x[0]; }
llvm::Value* imaginaryOf(const Context& c, Operands x) { return c.number(x[0], 0); }
llvm::Value* convert(const Context& c, Operands x) {
  return c.scalars.convert(c.type, mlir::getElementTypeOrSelf(c.op->getResult(0).getType()), x[0]);
}
llvm::Value* bitcastConvert(const Context& c, Operands x) {
  return c.scalars.bitcast(c.type, mlir::getElementTypeOrSelf(c.op->getResult(0).getType()), x[0]);
}
/// Rule N10, on the bits of the element's own type, so that its subnormals round as such.
llvm::Value* reducePrecision(const Context& c, Operands x) {
  auto op = mlir::cast<stablehlo::ReducePrecisionOp>(c.op);
  llvm::IRBuilder<>& b = c.b;
  // bf16 has the exponents of f32.
  const format::ElementFormat& format =
      c.type.isBF16() ? format::element("f32") : *elementFormat(c.type);
  llvm::Value* own = c.type.isF16() ? b.CreateFPTrunc(x[0], b.getHalfTy()) : x[0];
  llvm::Value* bits = b.CreateBitCast(own, b.getIntNTy(static_cast<unsigned>(format.width())));
  llvm::Value* magnitude = b.CreateAnd(bits, c.integer(bits, format.signMask() - 1));
  llvm::Value* rounded = magnitude;
  const int trailing = format.trailingSignificandBits;
  const int dropped = std::max(0, trailing - static_cast<int>(op.getMantissaBits()));
  if (dropped != 0) {
    const std::uint64_t below = (std::uint64_t{1} << dropped) - 1;
    llvm::Value* odd =
        b.CreateAnd(b.CreateLShr(magnitude, static_cast<unsigned>(dropped)), c.integer(bits, 1));
    rounded = b.CreateAdd(magnitude, b.CreateAdd(odd, c.integer(bits, below >> 1)));
    rounded = b.CreateAnd(rounded, c.integer(bits, (format.signMask() - 1) & ~below));
  }
  const std::uint64_t infinity = *format.infCode();
  const int exponentBits = static_cast<int>(op.getExponentBits());
  if (exponentBits < format.exponentBits) {
    const int bias = (1 << (exponentBits - 1)) - 1;
    const auto code = [&](int exponent) {
      return c.integer(bits, static_cast<std::uint64_t>(exponent + format.bias) << trailing);
    };
    llvm::Value* isBelow = b.CreateICmpULT(rounded, code(1 - bias));
    llvm::Value* isBeyond = b.CreateICmpUGE(rounded, code(bias + 1));
    rounded = b.CreateSelect(isBeyond, c.integer(bits, infinity),
                             b.CreateSelect(isBelow, c.integer(bits, 0), rounded));
  }
  rounded = b.CreateOr(rounded, b.CreateAnd(bits, c.integer(bits, format.signMask())));
  llvm::Value* isNumber = b.CreateICmpULT(magnitude, c.integer(bits, infinity));
  llvm::Value* result = b.CreateBitCast(b.CreateSelect(isNumber, rounded, bits), own->getType());
  return c.type.isF16() ? b.CreateFPExt(result, b.getFloatTy()) : result;
}
llvm::Value* isFinite(const Context& c, Operands x) {
  llvm::Value* size = c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0]);
  return c.b.CreateFCmpOLT(size, c.number(x[0], std::numeric_limits<double>::infinity()));
}
llvm::Value* isInfinite(const Context& c, Operands x) {
  llvm::Value* size = c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0]);
  return c.b.CreateFCmpOEQ(size, c.number(x[0], std::numeric_limits<double>::infinity()));
}
llvm::Value* isPositiveInfinite(const Context& c, Operands x) {
  return c.b.CreateFCmpOEQ(x[0], c.number(x[0], std::numeric_limits<double>::infinity()));
}
llvm::Value* isNegativeInfinite(const Context& c, Operands x) {
  return c.b.CreateFCmpOEQ(x[0], c.number(x[0], -std::numeric_limits<double>::infinity()));
}
llvm::Value* square(const Context& c, Operands x) { return multiply(c, {x[0], x[0]}); }

/// A function that LLVM vectorizes for elements narrower than f64; for f64 a library call.
template <RealFunction kEmit, const char* kName>
llvm::Value* function(const Context& c, Operands x) {
  return c.type.isF64() ? c.scalars.call(kName, c.b.getDoubleTy(), x) : c.rounded(kEmit(c.b, x[0]));
}

/// A library function on f64, rounded once to a narrower type.
template <const char* kName> llvm::Value* library(const Context& c, Operands x) {
  llvm::SmallVector<llvm::Value*> wide;
  for (llvm::Value* operand : x)
    wide.push_back(c.b.CreateFPExt(operand, c.b.getDoubleTy()));
  llvm::Value* result = c.scalars.call(kName, c.b.getDoubleTy(), wide);
  return c.scalars.convert(mlir::Float64Type::get(c.type.getContext()), c.type, result);
}

const llvm::StringMap<Row>& table() {
  static const llvm::StringMap<Row> rows = [] {
    llvm::StringMap<Row> t;
    const auto stablehlo = [&](llvm::StringRef name, unsigned kinds, int cost, Emit emit) {
      t[("stablehlo." + name).str()] = {kinds, cost, emit};
    };
    stablehlo("add", kAny, 1, add);
    stablehlo("subtract", kNumber, 1, subtract);
    stablehlo("multiply", kAny, 1, multiply);
    stablehlo("divide", kNumber, 4, divide);
    stablehlo("remainder", kNumber, 20, remainder);
    stablehlo("maximum", kAny, 2, kMaximum);
    stablehlo("minimum", kAny, 2, kMinimum);
    stablehlo("clamp", kNumber, 4, clamp);
    stablehlo("negate", kNumber, 1, negate);
    stablehlo("abs", kNumber, 1, abs);
    stablehlo("sign", kNumber, 2, sign);
    stablehlo("sqrt", kFloat, 4, sqrt);
    stablehlo("rsqrt", kFloat, 8, rsqrt);
    stablehlo("floor", kFloat, 1, unary<llvm::Intrinsic::floor>);
    stablehlo("ceil", kFloat, 1, unary<llvm::Intrinsic::ceil>);
    stablehlo("round_nearest_even", kFloat, 1, unary<llvm::Intrinsic::roundeven>);
    stablehlo("round_nearest_afz", kFloat, 2, unary<llvm::Intrinsic::round>);
    stablehlo("is_finite", kFloat, 1, isFinite);
    stablehlo("reduce_precision", kFloat, 4, reducePrecision);
    stablehlo("and", kBits, 1, bitAnd);
    stablehlo("or", kBits, 1, bitOr);
    stablehlo("xor", kBits, 1, bitXor);
    stablehlo("not", kBits, 1, bitNot);
    stablehlo("popcnt", kInteger, 2, populationCount);
    stablehlo("count_leading_zeros", kInteger, 2, countLeadingZeros);
    stablehlo("shift_left", kInteger, 1, shift<llvm::Instruction::Shl>);
    stablehlo("shift_right_logical", kInteger, 1, shift<llvm::Instruction::LShr>);
    stablehlo("shift_right_arithmetic", kInteger, 1, shift<llvm::Instruction::AShr>);
    stablehlo("compare", kAny, 1, compare);
    stablehlo("select", kBoolean, 1, select);
    stablehlo("convert", kAny, 1, convert);
    stablehlo("complex", kFloat, 1, complexOf);
    stablehlo("real", kFloat, 1, realOf);
    stablehlo("imag", kFloat, 1, imaginaryOf);
    stablehlo("bitcast_convert", kNumber, 1, bitcastConvert);
    static constexpr char kExp[] = "octavo_exp", kExpm1[] = "octavo_expm1", kLog[] = "octavo_log",
                          kLog1p[] = "octavo_log1p", kLogistic[] = "octavo_logistic",
                          kTanh[] = "octavo_tanh", kSin[] = "octavo_sin", kCos[] = "octavo_cos",
                          kTan[] = "octavo_tan", kCbrt[] = "octavo_cbrt", kPow[] = "octavo_pow",
                          kAtan2[] = "octavo_atan2", kErf[] = "octavo_erf", kErfc[] = "octavo_erfc",
                          kAcos[] = "octavo_acos", kAcosh[] = "octavo_acosh",
                          kAsin[] = "octavo_asin", kAsinh[] = "octavo_asinh",
                          kAtan[] = "octavo_atan", kAtanh[] = "octavo_atanh",
                          kCosh[] = "octavo_cosh", kSinh[] = "octavo_sinh";
    constexpr int kDear = 40, kVector = 16;
    stablehlo("exponential", kFloat, kVector, function<emitExp, kExp>);
    stablehlo("exponential_minus_one", kFloat, kVector, function<emitExpm1, kExpm1>);
    stablehlo("log", kFloat, kVector, function<emitLog, kLog>);
    stablehlo("log_plus_one", kFloat, kVector, function<emitLog1p, kLog1p>);
    stablehlo("logistic", kFloat, kVector, function<emitLogistic, kLogistic>);
    stablehlo("tanh", kFloat, kVector, function<emitTanh, kTanh>);
    stablehlo("sine", kFloat, kDear, library<kSin>);
    stablehlo("cosine", kFloat, kDear, library<kCos>);
    stablehlo("tan", kFloat, kDear, library<kTan>);
    stablehlo("cbrt", kFloat, kDear, library<kCbrt>);
    stablehlo("power", kFloat, kDear, library<kPow>);
    stablehlo("atan2", kFloat, kDear, library<kAtan2>);
    const auto chlo = [&](llvm::StringRef name, unsigned kinds, int cost, Emit emit) {
      t[("chlo." + name).str()] = {kinds, cost, emit};
    };
    chlo("square", kFloat, 1, square);
    chlo("is_inf", kFloat, 1, isInfinite);
    chlo("is_pos_inf", kFloat, 1, isPositiveInfinite);
    chlo("is_neg_inf", kFloat, 1, isNegativeInfinite);
    chlo("erf", kFloat, kVector, function<emitErf, kErf>);
    chlo("erfc", kFloat, kVector, function<emitErfc, kErfc>);
    chlo("acos", kFloat, kDear, library<kAcos>);
    chlo("acosh", kFloat, kDear, library<kAcosh>);
    chlo("asin", kFloat, kDear, library<kAsin>);
    chlo("asinh", kFloat, kDear, library<kAsinh>);
    chlo("atan", kFloat, kDear, library<kAtan>);
    chlo("atanh", kFloat, kDear, library<kAtanh>);
    chlo("cosh", kFloat, kDear, library<kCosh>);
    chlo("sinh", kFloat, kDear, library<kSinh>);
    chlo("tan", kFloat, kDear, library<kTan>);
    return t;
  }();
  return rows;
}

unsigned kindOf(mlir::Type element) {
  return mlir::isa<mlir::FloatType>(element) ? kFloat : element.isInteger(1) ? kBoolean : kInteger;
}

const Row* rowOf(mlir::Operation* op) {
  const auto found = table().find(op->getName().getStringRef());
  return found == table().end() ? nullptr : &found->second;
}

} // namespace

bool isCompiledElementwise(mlir::Operation* op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  const auto fits = [](mlir::Value value) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    return tensor && tensor.hasStaticShape() && isCompiled(tensor.getElementType());
  };
  if (!llvm::all_of(op->getOperands(), fits) || !fits(op->getResult(0)))
    return false;
  const mlir::Type from = mlir::getElementTypeOrSelf(op->getOperand(0));
  const mlir::Type to = mlir::getElementTypeOrSelf(op->getResult(0));
  if (mlir::isa<mlir::ComplexType>(from))
    return isCompiledComplex(op);
  const Row* row = rowOf(op);
  if (row == nullptr)
    return false;
  // e8m0fnu has no code for zero and negative numbers, and its products exceed f32: kernels only
  // compare and convert it.
  const auto isScale = [](mlir::Type type) {
    const format::ElementFormat* format = narrowFormat(type);
    return format != nullptr && !format->isSigned();
  };
  if (isScale(from) &&
      !llvm::isa<stablehlo::CompareOp, stablehlo::ConvertOp, stablehlo::BitcastConvertOp>(op))
    return false;
  if (llvm::isa<stablehlo::ReducePrecisionOp>(op) && narrowFormat(from) != nullptr)
    return false;
  if (llvm::isa<stablehlo::BitcastConvertOp>(op) &&
      (mlir::isa<mlir::ComplexType>(to) ||
       from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth() ||
       from.getIntOrFloatBitWidth() < 8))
    return false;
  return (kindOf(from) & row->kinds) != 0;
}

bool isElementwise(mlir::Operation* op) { return rowOf(op) != nullptr; }

int costOf(mlir::Operation* op) {
  constexpr int kSum = 100; // a sum over many elements
  if (llvm::isa<stablehlo::ReduceWindowOp, stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op))
    return kSum;
  const Row* row = rowOf(op);
  return row == nullptr ? 1 : row->cost;
}

llvm::Value* emitElementwise(Scalars& scalars, mlir::Operation* op, Operands operands) {
  const mlir::Type type = mlir::getElementTypeOrSelf(op->getOperand(0));
  if (mlir::isa<mlir::ComplexType>(type))
    return emitComplex(scalars, op, operands);
  const Emit emit = rowOf(op)->emit;
  const format::ElementFormat* format = narrowFormat(type);
  if (format == nullptr || llvm::isa<stablehlo::ConvertOp, stablehlo::BitcastConvertOp>(op))
    return emit({scalars, scalars.b, op, type}, operands);
  // Computes in f32 and rounds once.
  llvm::SmallVector<llvm::Value*> wide;
  for (llvm::Value* operand : operands)
    wide.push_back(scalars.decode(*format, operand));
  llvm::Value* result =
      emit({scalars, scalars.b, op, mlir::Float32Type::get(type.getContext())}, wide);
  if (mlir::getElementTypeOrSelf(op->getResult(0)) != type)
    return result;
  llvm::Value* code = scalars.encode(*format, result);
  // Rule I3: a NaN of arithmetic is positive; the machine's NaN may be negative. The code is
  // selected, because to LLVM all NaNs are equal.
  llvm::IRBuilderBase& b = scalars.b;
  const std::uint64_t nan = format->nanCode().value_or(format->signMask());
  return b.CreateSelect(b.CreateFCmpUNO(result, result),
                        llvm::ConstantInt::get(code->getType(), nan), code);
}

} // namespace octavo::compiler
