#include "octavo/Compiler/Kernels/Functions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Intrinsics.h"

#include <limits>

namespace octavo::compiler {

namespace {

// By scripts/function-coefficients, lowest power first.
/// (e^r - 1 - r) / r^2 for |r| <= log(2) / 2.
constexpr float kExp[] = {0.5F, 0.16666513681411743F, 0.0416664257645607F, 0.008369507268071175F,
                          0.0013938586926087737F};
/// (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f from sqrt(1/2) to sqrt(2).
constexpr float kLog[] = {0.3333333134651184F,   -0.25000816583633423F, 0.20001231133937836F,
                          -0.16623494029045105F, 0.14201880991458893F,  -0.1315915882587433F,
                          0.12760022282600403F,  -0.07634861767292023F};
/// (tanh(x) - x) / x^3 in powers of x^2 up to 0.4.
constexpr float kTanh[] = {-0.33333277702331543F, 0.13331317901611328F, -0.05372856557369232F,
                           0.020600371062755585F, -0.005659363232553005F};
/// erf(x) / x - 1 in powers of x^2 up to 1.
constexpr float kErf[] = {0.12837916612625122F,  -0.3761262893676758F,  0.11283618211746216F,
                          -0.02685512602329254F, 0.005190733820199966F, -0.000803076196461916F,
                          7.920374628156424e-05F};
/// -log(erfc(x)) / x from 1 to 4.
constexpr float kLogErfc[] = {1.1286972761154175F,    0.6349577903747559F,
                              0.10655001550912857F,   -0.024026378989219666F,
                              0.0037651213351637125F, -0.00035246036713942885F,
                              1.4148409718472976e-05F};
/// e^(z^2) erfc(z) / t in powers of t - 1/2, t = 3 / (3 + z), z from 0 to 10.1.
constexpr float kErfcx[] = {0.35800230503082275F,   0.5889296531677246F,  0.7869704961776733F,
                            0.8279101848602295F,    0.637509822845459F,   0.286258339881897F,
                            -0.026413945481181145F, -0.1309930682182312F, -0.04043564200401306F,
                            0.05405733734369278F};

/// x + kRounder has the integer part of x in its low bits, plus twice the bias of f32.
/// `expandScaling` (Codegen) makes the exponents of two factors from it.
constexpr float kRounder = 0x1.8p23F + 254;
constexpr std::uint32_t kRounderBits = 0x4B400000 + 254;
constexpr float kLog2e = 0x1.715476p0F;
constexpr float kLog2High = 0x1.62e43p-1F, kLog2Low = -0x1.05c61p-29F; ///< log(2) = high + low
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Emits f32 operations, as expressions.
struct Math {
  llvm::IRBuilder<>& b;

  llvm::Value* number(float value) const {
    return llvm::ConstantFP::get(b.getFloatTy(), llvm::APFloat(value));
  }
  llvm::Value* add(llvm::Value* x, llvm::Value* y) const { return b.CreateFAdd(x, y); }
  llvm::Value* subtract(llvm::Value* x, llvm::Value* y) const { return b.CreateFSub(x, y); }
  llvm::Value* multiply(llvm::Value* x, llvm::Value* y) const { return b.CreateFMul(x, y); }
  llvm::Value* divide(llvm::Value* x, llvm::Value* y) const { return b.CreateFDiv(x, y); }
  llvm::Value* fma(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {b.getFloatTy()}, {x, y, z});
  }
  llvm::Value* polynomial(llvm::ArrayRef<float> coefficients, llvm::Value* x) const {
    llvm::Value* sum = number(coefficients.back());
    for (const float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// The same in two chains, of even and of odd powers: half the latency for one more
  /// multiplication.
  llvm::Value* polynomialByHalves(llvm::ArrayRef<float> coefficients, llvm::Value* x) const {
    llvm::SmallVector<float> halves[2];
    for (const auto& [power, coefficient] : llvm::enumerate(coefficients))
      halves[power % 2].push_back(coefficient);
    llvm::Value* square = multiply(x, x);
    return fma(polynomial(halves[1], square), x, polynomial(halves[0], square));
  }
  llvm::Value* fabs(llvm::Value* x) const {
    return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  }
  llvm::Value* withSignOf(llvm::Value* value, llvm::Value* x) const {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, value, x);
  }
  llvm::Value* bits(llvm::Value* x) const { return b.CreateBitCast(x, b.getInt32Ty()); }
  llvm::Value* ofBits(llvm::Value* x) const { return b.CreateBitCast(x, b.getFloatTy()); }
  llvm::Value* isBelow(llvm::Value* x, float bound) const {
    return b.CreateFCmpOLT(x, number(bound));
  }
  llvm::Value* isAbove(llvm::Value* x, float bound) const {
    return b.CreateFCmpOGT(x, number(bound));
  }
  llvm::Value* is(llvm::Value* x, float value) const { return b.CreateFCmpOEQ(x, number(value)); }
  llvm::Value* select(llvm::Value* condition, llvm::Value* x, llvm::Value* y) const {
    return b.CreateSelect(condition, x, y);
  }
  /// x, limited to the bound; NaN stays NaN.
  llvm::Value* atMost(llvm::Value* x, float bound) const {
    return select(isAbove(x, bound), number(bound), x);
  }
  llvm::Value* atLeast(llvm::Value* x, float bound) const {
    return select(isBelow(x, bound), number(bound), x);
  }
  /// 2^n for -126 <= n <= 127.
  llvm::Value* powerOfTwo(llvm::Value* n) const {
    return ofBits(b.CreateShl(b.CreateAdd(n, b.getInt32(127)), 23));
  }
};

/// e^x = 2^exponent * e^rest / e^(n * kLog2Low), where n = exponent as a float.
struct Reduction {
  llvm::Value *exponent, *n, *rest;
};

/// e^x is 0 in f32 up to the first, infinity from the second on.
constexpr float kExpIsZero = -104, kExpIsInfinite = 89;

/// Precondition: x is between -128 and 128, or NaN.
Reduction reduced(const Math& m, llvm::Value* x) {
  llvm::Value* shifted = m.fma(x, m.number(kLog2e), m.number(kRounder));
  llvm::Value* n = m.subtract(shifted, m.number(kRounder));
  return {m.b.CreateSub(m.bits(shifted), m.b.getInt32(kRounderBits)), n,
          m.fma(n, m.number(-kLog2High), x)};
}

/// e^x = (1 + fraction) * 2^exponent.
struct Exponential {
  llvm::Value *fraction, *exponent;
};

Exponential exponential(const Math& m, llvm::Value* x) {
  const Reduction e = reduced(m, x);
  llvm::Value* r = m.fma(e.n, m.number(-kLog2Low), e.rest);
  return {m.fma(m.multiply(r, r), m.polynomial(kExp, r), r), e.exponent};
}

/// x * 2^n for x near 1, rounded once.
llvm::Value* scaled(const Math& m, llvm::Value* x, llvm::Value* n) {
  return m.b.CreateIntrinsic(llvm::Intrinsic::ldexp, {m.b.getFloatTy(), m.b.getInt32Ty()}, {x, n});
}

llvm::Value* value(const Math& m, const Exponential& e) {
  return scaled(m, m.add(e.fraction, m.number(1)), e.exponent);
}

/// x = 2^exponent * significand, which is from sqrt(1/2) to sqrt(2). Precondition: x is normal.
struct Parts {
  llvm::Value *exponent, *significand;
};

Parts partsOf(const Math& m, llvm::Value* x) {
  constexpr std::uint32_t kHalfRoot = 0x3F3504F3; // of sqrt(1/2)
  llvm::Value* past = m.b.CreateSub(m.bits(x), m.b.getInt32(kHalfRoot));
  llvm::Value* exponent = m.b.CreateAShr(past, 23);
  return {exponent, m.ofBits(m.b.CreateSub(m.bits(x), m.b.CreateShl(exponent, 23)))};
}

/// exponent * log(2) + log(1 + f) + low.
llvm::Value* logOf(const Math& m, llvm::Value* exponent, llvm::Value* f, llvm::Value* low) {
  llvm::Value* k = m.b.CreateSIToFP(exponent, m.b.getFloatTy());
  llvm::Value* square = m.multiply(f, f);
  llvm::Value* rest = m.fma(k, m.number(kLog2Low), low);
  rest = m.fma(m.multiply(square, f), m.polynomial(kLog, f), rest);
  rest = m.fma(m.number(-0.5F), square, rest);
  return m.fma(k, m.number(kLog2High), m.add(f, rest));
}

/// Adds the special values of a logarithm whose argument is 0 at x = `pole`: -inf there, NaN below,
/// inf at infinity.
llvm::Value* withEnds(const Math& m, llvm::Value* log, llvm::Value* x, float pole) {
  log = m.select(m.is(x, kInfinity), x, log);
  log = m.select(m.is(x, pole), m.number(-kInfinity), log);
  llvm::Value* nan = m.number(std::numeric_limits<float>::quiet_NaN());
  return m.select(m.b.CreateFCmpULT(x, m.number(pole)), nan, log);
}

} // namespace

llvm::Value* emitExp(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  return value(m, exponential(m, m.atLeast(m.atMost(x, kExpIsInfinite), kExpIsZero)));
}

/// (2^n - 1) + 2^n * fraction; e^x itself where 2^n makes the 1 negligible.
llvm::Value* emitExpm1(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  const Exponential e = exponential(m, m.atLeast(m.atMost(x, kExpIsInfinite), -18));
  llvm::Value* n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, e.exponent, b.getInt32(126));
  llvm::Value* power = m.powerOfTwo(n);
  llvm::Value* small = m.fma(e.fraction, power, m.subtract(power, m.number(1)));
  llvm::Value* result = m.select(b.CreateICmpSGT(e.exponent, b.getInt32(30)), value(m, e), small);
  return m.select(m.is(x, 0), x, result);
}

llvm::Value* emitLog(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  llvm::Value* isSmall = m.isBelow(x, std::numeric_limits<float>::min());
  const Parts parts = partsOf(m, m.select(isSmall, m.multiply(x, m.number(0x1p24F)), x));
  llvm::Value* exponent =
      b.CreateSub(parts.exponent, m.select(isSmall, b.getInt32(24), b.getInt32(0)));
  llvm::Value* log = logOf(m, exponent, m.subtract(parts.significand, m.number(1)), m.number(0));
  return withEnds(m, log, x, 0);
}

/// log(u) + c / u, where u = 1 + x rounded and c is its rounding error. Near 0, f is x itself, and
/// c is not needed.
llvm::Value* emitLog1p(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  llvm::Value* u = m.add(x, m.number(1));
  llvm::Value* left = m.select(m.isAbove(x, 1), m.subtract(m.number(1), m.subtract(u, x)),
                               m.subtract(x, m.subtract(u, m.number(1))));
  const Parts parts = partsOf(m, u);
  llvm::Value* isNear = b.CreateICmpEQ(parts.exponent, b.getInt32(0));
  llvm::Value* f = m.select(isNear, x, m.subtract(parts.significand, m.number(1)));
  llvm::Value* low = m.select(isNear, m.number(0), m.divide(left, u));
  llvm::Value* log = withEnds(m, logOf(m, parts.exponent, f, low), x, -1);
  return m.select(m.is(x, 0), x, log);
}

/// q = n / d with n = e^-|x| or 1, and d = 1 + e^-|x|. The quotient is corrected by the rounding
/// error of d.
llvm::Value* emitLogistic(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  llvm::Value* e = value(m, exponential(m, m.atLeast(b.CreateFNeg(m.fabs(x)), kExpIsZero)));
  llvm::Value* d = m.add(e, m.number(1));
  llvm::Value* left = m.subtract(e, m.subtract(d, m.number(1)));
  llvm::Value* isNegative = m.isBelow(x, 0);
  llvm::Value* q = m.divide(m.select(isNegative, e, m.number(1)), d);
  llvm::Value* inverse = m.select(isNegative, m.subtract(m.number(1), q), q);
  return m.fma(b.CreateFNeg(q), m.multiply(left, inverse), q);
}

/// 1 - 2 / (e^2|x| + 1); near 0 a polynomial.
llvm::Value* emitTanh(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  llvm::Value* size = m.fabs(x);
  llvm::Value* square = m.multiply(x, x);
  llvm::Value* near = m.fma(m.multiply(size, square), m.polynomial(kTanh, square), size);
  llvm::Value* twice = m.multiply(size, m.number(2));
  llvm::Value* e = value(m, exponential(m, m.atMost(twice, kExpIsInfinite)));
  llvm::Value* far = m.subtract(m.number(1), m.divide(m.number(2), m.add(e, m.number(1))));
  return m.withSignOf(m.select(m.isBelow(size, 0.625F), near, far), x);
}

/// 1 - e^log(erfc(|x|)); near 0 a polynomial.
llvm::Value* emitErf(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  llvm::Value* size = m.fabs(x);
  llvm::Value* near = m.fma(size, m.polynomial(kErf, m.multiply(x, x)), size);
  llvm::Value* z = m.atMost(size, 4);
  llvm::Value* log = m.multiply(b.CreateFNeg(z), m.polynomial(kLogErfc, z));
  llvm::Value* far = m.subtract(m.number(1), value(m, exponential(m, log)));
  return m.withSignOf(m.select(m.isBelow(size, 1), near, far), x);
}

/// e^-z^2 * (e^z^2 erfc(z)) with z = |x|. The terms of the last sums carry their rounding errors:
/// in plain f32 the result would be off by 6 ulp.
llvm::Value* emitErfc(llvm::IRBuilder<>& b, llvm::Value* x) {
  const Math m{b};
  llvm::Value* z = m.atMost(m.fabs(x), 10.1F);
  llvm::Value* d = m.add(z, m.number(3));
  llvm::Value* t = m.divide(m.number(3), d);
  llvm::Value* residual = m.fma(b.CreateFNeg(t), d, m.number(3));
  residual = m.fma(b.CreateFNeg(t), m.subtract(z, m.subtract(d, m.number(3))), residual);
  // The error of t (residual * t / 3) changes t * v by about 0.6 + 2.7 t times as much as t alone.
  llvm::Value* slope = m.multiply(t, m.fma(t, m.number(0.9F), m.number(0.2F)));
  llvm::Value* tLow = m.multiply(residual, slope);
  llvm::Value* u = m.subtract(t, m.number(0.5F));
  llvm::Value* rest = m.polynomialByHalves(llvm::ArrayRef(kErfcx).drop_front(), u);
  llvm::Value* v = m.fma(rest, u, m.number(kErfcx[0]));
  llvm::Value* vLow = m.fma(rest, u, m.subtract(m.number(kErfcx[0]), v));
  llvm::Value* w = m.multiply(t, v);
  llvm::Value* wLow = m.fma(t, vLow, m.fma(tLow, v, m.fma(t, v, b.CreateFNeg(w))));
  llvm::Value* square = m.multiply(z, z);
  const Reduction e = reduced(m, b.CreateFNeg(square));
  llvm::Value* low = m.fma(e.n, m.number(-kLog2Low), m.fma(b.CreateFNeg(z), z, square));
  llvm::Value* r = m.add(e.rest, low);
  llvm::Value* rLow = m.add(m.subtract(e.rest, r), low);
  llvm::Value* curve = m.fma(m.multiply(r, r), m.polynomial(kExp, r), rLow);
  llvm::Value* sum = m.add(w, m.fma(r, w, m.fma(r, wLow, m.fma(curve, w, wLow))));
  llvm::Value* upper = scaled(m, sum, e.exponent);
  return m.select(m.isBelow(x, 0), m.subtract(m.number(2), upper), upper);
}

} // namespace octavo::compiler
