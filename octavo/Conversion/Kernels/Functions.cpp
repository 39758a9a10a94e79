#include "octavo/Conversion/Kernels/Functions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Intrinsics.h"

#include <limits>
#include <numbers>

namespace octavo::conversion {

namespace {

// By scripts/function-coefficients, lowest power first.
/// e^(z^2) erfc(z) in powers of t - 1/2, t = 2 / (2 + z), z from 0 to 10.5.
constexpr double kErfcx[] = {0.25539567631053006,  0.8543716948282533,    0.9666327769465926,
                             0.631828648030592,    0.0597262821991402,    -0.22391876929212046,
                             -0.05421740043719479, 0.12569296576251313,   0.011157469597543176,
                             -0.089276607575361,   0.028062200884250776,  0.05663727766105149,
                             -0.05602944458639604, -0.013658270380307001, 0.056130767837664235,
                             -0.02346458481040105, -0.021871161075990617, 0.01780113856463429};
/// erf(x) / x in powers of x^2 from 0 to 1.
constexpr double kErf[] = {1.1283791670955126,      -0.37612638903183543,   0.11283791670945006,
                           -0.02686617064323777,    0.0052239776071164225,  -0.0008548325975389692,
                           0.00012055294904839707,  -1.492473690741966e-05, 1.6447424703317362e-06,
                           -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10};
/// 1 / k!
constexpr double kExp[] = {
    1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
/// 2 / (2k + 1)
constexpr double kLog[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7, 2.0 / 9,
                           2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17};

/// Adding it leaves a number's integer part in the low bits.
constexpr double kRounder = 0x1.8p52;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

llvm::Value* number(llvm::IRBuilder<>& b, double value) {
  return llvm::ConstantFP::get(b.getDoubleTy(), value);
}

llvm::Value* fma(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, llvm::Value* z) {
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {b.getDoubleTy()}, {x, y, z});
}

llvm::Value* polynomial(llvm::IRBuilder<>& b, llvm::ArrayRef<double> coefficients, llvm::Value* x) {
  llvm::Value* sum = number(b, coefficients.back());
  for (const double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(b, sum, x, number(b, coefficient));
  return sum;
}

llvm::Value* fabs(llvm::IRBuilder<>& b, llvm::Value* x) {
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

/// x, or the bound where it is beyond; NaN stays.
llvm::Value* atMost(llvm::IRBuilder<>& b, llvm::Value* x, double bound) {
  return b.CreateSelect(b.CreateFCmpOGT(x, number(b, bound)), number(b, bound), x);
}
llvm::Value* atLeast(llvm::IRBuilder<>& b, llvm::Value* x, double bound) {
  return b.CreateSelect(b.CreateFCmpOLT(x, number(b, bound)), number(b, bound), x);
}

/// Of a function that is x near 0: x itself where it is a zero, whose sign the sum of `near` loses,
/// `near` where |x| is below the bound, else `far`.
llvm::Value* nearZero(llvm::IRBuilder<>& b, llvm::Value* x, double bound, llvm::Value* near,
                      llvm::Value* far) {
  llvm::Value* value = b.CreateSelect(b.CreateFCmpOLT(fabs(b, x), number(b, bound)), near, far);
  return b.CreateSelect(b.CreateFCmpOEQ(x, number(b, 0)), x, value);
}

} // namespace

/// 2^n e^r with |r| <= log(2) / 2. Beyond the bounds f32 has 0 and infinity.
llvm::Value* emitExp(llvm::IRBuilder<>& b, llvm::Value* x) {
  x = atLeast(b, atMost(b, x, 128), -256);
  llvm::Value* shifted = fma(b, x, number(b, std::numbers::log2e), number(b, kRounder));
  llvm::Value* n = b.CreateFSub(shifted, number(b, kRounder));
  llvm::Value* r = fma(b, n, number(b, -0x1.62e42fefa39efp-1), x);
  r = fma(b, n, number(b, -0x1.abc9e3b39803fp-56), r);
  llvm::Value* bits = b.CreateAdd(b.CreateBitCast(shifted, b.getInt64Ty()), b.getInt64(1023));
  llvm::Value* scale = b.CreateBitCast(b.CreateShl(bits, 52), b.getDoubleTy());
  return b.CreateFMul(polynomial(b, kExp, r), scale);
}

llvm::Value* emitExpm1(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* near = fma(b, b.CreateFMul(x, x), fma(b, x, number(b, 1.0 / 6), number(b, 0.5)), x);
  return nearZero(b, x, 0x1p-13, near, b.CreateFSub(emitExp(b, x), number(b, 1)));
}

/// k log 2 + 2 artanh((m - 1) / (m + 1)), x = 2^k m with m from sqrt(1/2) to sqrt(2).
llvm::Value* emitLog(llvm::IRBuilder<>& b, llvm::Value* x) {
  constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCD; // of sqrt(1/2)
  llvm::Value* bits = b.CreateBitCast(x, b.getInt64Ty());
  llvm::Value* past = b.CreateSub(bits, b.getInt64(kHalfRoot));
  // The exponent as a double, without a conversion that AVX2 does not have.
  llvm::Value* biased = b.CreateAdd(b.CreateLShr(past, 52), b.getInt64(0x4330000000000000));
  llvm::Value* wrapped = b.CreateFSub(b.CreateBitCast(biased, b.getDoubleTy()), number(b, 0x1p52));
  llvm::Value* k = b.CreateSelect(b.CreateFCmpOGE(wrapped, number(b, 2048)),
                                  b.CreateFSub(wrapped, number(b, 4096)), wrapped);
  llvm::Value* exponent = b.CreateAnd(past, b.getInt64(0xFFF0000000000000));
  llvm::Value* m = b.CreateBitCast(b.CreateSub(bits, exponent), b.getDoubleTy());
  llvm::Value* s = b.CreateFDiv(b.CreateFSub(m, number(b, 1)), b.CreateFAdd(m, number(b, 1)));
  llvm::Value* series = b.CreateFMul(s, polynomial(b, kLog, b.CreateFMul(s, s)));
  llvm::Value* log = fma(b, k, number(b, std::numbers::ln2), series);
  log = b.CreateSelect(b.CreateFCmpOEQ(x, number(b, kInfinity)), x, log);
  log = b.CreateSelect(b.CreateFCmpOEQ(x, number(b, 0)), number(b, -kInfinity), log);
  llvm::Value* nan = number(b, std::numeric_limits<double>::quiet_NaN());
  return b.CreateSelect(b.CreateFCmpULT(x, number(b, 0)), nan, log);
}

llvm::Value* emitLog1p(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* square = b.CreateFMul(x, x);
  llvm::Value* near = fma(b, square, fma(b, x, number(b, 1.0 / 3), number(b, -0.5)), x);
  return nearZero(b, x, 0x1p-13, near, emitLog(b, b.CreateFAdd(x, number(b, 1))));
}

llvm::Value* emitLogistic(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* e = emitExp(b, b.CreateFNeg(x));
  return b.CreateFDiv(number(b, 1), b.CreateFAdd(e, number(b, 1)));
}

llvm::Value* emitTanh(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* size = fabs(b, x);
  llvm::Value* e = emitExp(b, b.CreateFMul(size, number(b, -2)));
  llvm::Value* far = b.CreateFDiv(b.CreateFSub(number(b, 1), e), b.CreateFAdd(number(b, 1), e));
  far = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, far, x);
  llvm::Value* cube = b.CreateFMul(b.CreateFMul(x, x), x);
  llvm::Value* near = fma(b, cube, number(b, -1.0 / 3), x);
  return nearZero(b, x, 0x1p-10, near, far);
}

llvm::Value* emitErf(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* near = b.CreateFMul(x, polynomial(b, kErf, b.CreateFMul(x, x)));
  llvm::Value* far = b.CreateFSub(number(b, 1), emitErfc(b, fabs(b, x)));
  return nearZero(b, x, 1, near, b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, far, x));
}

llvm::Value* emitErfc(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* z = atMost(b, fabs(b, x), 10.5);
  llvm::Value* t = b.CreateFDiv(number(b, 2), b.CreateFAdd(z, number(b, 2)));
  llvm::Value* scaled = polynomial(b, kErfcx, b.CreateFSub(t, number(b, 0.5)));
  llvm::Value* upper = b.CreateFMul(scaled, emitExp(b, b.CreateFNeg(b.CreateFMul(z, z))));
  return b.CreateSelect(b.CreateFCmpOLT(x, number(b, 0)), b.CreateFSub(number(b, 2), upper), upper);
}

} // namespace octavo::conversion
