#include "octavo/Compiler/Kernels/Scalars.h"

#include "octavo/Dialect/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ModRef.h"

#include <bit>
#include <cmath>

namespace octavo::compiler {

const format::ElementFormat* narrowFormat(mlir::Type element) {
  const format::ElementFormat* format = elementFormat(element);
  return format != nullptr && format->isNarrow() ? format : nullptr;
}

bool isCompiled(mlir::Type element) {
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(element)) {
    const unsigned width = integer.getWidth();
    return width <= 64 && llvm::isPowerOf2_32(width);
  }
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64() ||
         narrowFormat(element) != nullptr;
}

mlir::Type elementOf(mlir::Value tensor) { return mlir::getElementTypeOrSelf(tensor.getType()); }

std::int64_t containerBytes(mlir::Type element) {
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element))
    return 2 * containerBytes(complex.getElementType());
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

llvm::Type* Scalars::registerType(mlir::Type element) {
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element)) {
    llvm::Type* part = registerType(complex.getElementType());
    return llvm::StructType::get(part, part);
  }
  if (narrowFormat(element) != nullptr)
    return b.getInt8Ty();
  if (element.isF64())
    return b.getDoubleTy();
  if (mlir::isa<mlir::FloatType>(element))
    return b.getFloatTy();
  return b.getIntNTy(element.getIntOrFloatBitWidth());
}

llvm::Type* Scalars::memoryType(mlir::Type element) {
  if (element.isF16())
    return b.getHalfTy();
  if (element.isF32())
    return b.getFloatTy();
  if (element.isF64())
    return b.getDoubleTy();
  return b.getIntNTy(static_cast<unsigned>(8 * containerBytes(element)));
}

Scalars::Pair Scalars::parts(llvm::Value* number) {
  return {b.CreateExtractValue(number, 0), b.CreateExtractValue(number, 1)};
}

llvm::Value* Scalars::pair(llvm::Value* real, llvm::Value* imaginary) {
  llvm::Type* type = llvm::StructType::get(real->getType(), real->getType());
  return b.CreateInsertValue(b.CreateInsertValue(llvm::PoisonValue::get(type), real, 0), imaginary,
                             1);
}

llvm::Value* Scalars::load(mlir::Type element, llvm::Value* base, llvm::Value* index) {
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element)) {
    const mlir::Type part = complex.getElementType();
    llvm::Value* first = b.CreateNSWMul(index, b.getInt64(2));
    llvm::Value* real = load(part, base, first);
    return pair(real, load(part, base, b.CreateNSWAdd(first, b.getInt64(1))));
  }
  llvm::Type* type = memoryType(element);
  return fromMemory(element, b.CreateAlignedLoad(type, b.CreateInBoundsGEP(type, base, index),
                                                 llvm::Align(containerBytes(element))));
}

void Scalars::store(mlir::Type element, llvm::Value* value, llvm::Value* base, llvm::Value* index) {
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element)) {
    const mlir::Type part = complex.getElementType();
    llvm::Value* first = b.CreateNSWMul(index, b.getInt64(2));
    const Pair both = parts(value);
    store(part, both.real, base, first);
    store(part, both.imaginary, base, b.CreateNSWAdd(first, b.getInt64(1)));
    return;
  }
  b.CreateAlignedStore(toMemory(element, value),
                       b.CreateInBoundsGEP(memoryType(element), base, index),
                       llvm::Align(containerBytes(element)));
}

llvm::Value* Scalars::fromMemory(mlir::Type element, llvm::Value* value) {
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 8)
    return b.CreateTrunc(value, registerType(element));
  if (element.isF16())
    return b.CreateFPExt(value, b.getFloatTy());
  if (element.isBF16())
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(value, b.getInt32Ty()), 16), b.getFloatTy());
  return value;
}

llvm::Value* Scalars::toMemory(mlir::Type element, llvm::Value* value) {
  llvm::Type* type = memoryType(element);
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 8)
    return b.CreateZExt(value, type);
  if (element.isF16())
    return b.CreateFPTrunc(value, type);
  if (element.isBF16())
    return b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, b.getInt32Ty()), 16), type);
  return value;
}

llvm::Value* Scalars::bitcast(mlir::Type from, mlir::Type to, llvm::Value* value) {
  return fromMemory(to, b.CreateBitCast(toMemory(from, value), memoryType(to)));
}

/// Uses integers: the machine's conversion to bf16 flushes subnormals.
llvm::Value* Scalars::bf16Bits(llvm::Value* value) {
  llvm::Value* bits = b.CreateBitCast(value, b.getInt32Ty());
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), b.getInt32(1));
  llvm::Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, b.getInt32(0x7FFF)));
  llvm::Value* isNan = b.CreateFCmpUNO(value, value);
  llvm::Value* quiet = b.CreateOr(bits, b.getInt32(0x00400000));
  return b.CreateAnd(b.CreateSelect(isNan, quiet, rounded), b.getInt32(0xFFFF0000));
}

llvm::Value* Scalars::round(mlir::Type element, llvm::Value* value) {
  if (element.isF16())
    return b.CreateFPExt(b.CreateFPTrunc(value, b.getHalfTy()), b.getFloatTy());
  if (element.isBF16())
    return b.CreateBitCast(bf16Bits(value), b.getFloatTy());
  return value;
}

/// Uses integers and no branches, so that a loop over it is vectorized.
llvm::Value* Scalars::decode(const format::ElementFormat& format, llvm::Value* code) {
  llvm::Value* all = b.CreateZExt(code, b.getInt32Ty());
  const auto integer = [&](std::uint64_t bits) {
    return b.getInt32(static_cast<std::uint32_t>(bits));
  };
  constexpr std::uint32_t kInf = 0x7F800000, kNan = 0x7FC00000;
  if (!format.isSigned()) {
    llvm::Value* power =
        b.CreateSelect(b.CreateICmpEQ(all, integer(0)), integer(0x00400000), b.CreateShl(all, 23));
    llvm::Value* isNan = b.CreateICmpEQ(all, integer(*format.nanCode()));
    return b.CreateBitCast(b.CreateSelect(isNan, integer(kNan), power), b.getFloatTy());
  }
  const int trailing = format.trailingSignificandBits;
  llvm::Value* magnitude = b.CreateAnd(all, integer(format.signMask() - 1));
  llvm::Value* normal = b.CreateAdd(b.CreateShl(magnitude, static_cast<unsigned>(23 - trailing)),
                                    integer(static_cast<std::uint64_t>(127 - format.bias) << 23));
  // If the last bit of a float is the smallest subnormal, its low bits count subnormals.
  const float unit = std::ldexp(1.0F, format.quantumExponent() + 23);
  llvm::Value* shifted = b.CreateAdd(magnitude, integer(std::bit_cast<std::uint32_t>(unit)));
  llvm::Value* subnormal = b.CreateFSub(b.CreateBitCast(shifted, b.getFloatTy()),
                                        llvm::ConstantFP::get(b.getFloatTy(), unit));
  llvm::Value* bits =
      b.CreateSelect(b.CreateICmpULT(magnitude, integer(std::uint64_t{1} << trailing)),
                     b.CreateBitCast(subnormal, b.getInt32Ty()), normal);
  // NaN codes keep their order.
  if (format.hasNegativeZero() && format.hasNan()) {
    llvm::Value* isSpecial =
        b.CreateICmpUGE(magnitude, integer(format.infCode().value_or(*format.nanCode())));
    bits = b.CreateSelect(isSpecial, b.CreateOr(bits, integer(kInf)), bits);
  }
  bits = b.CreateOr(bits, b.CreateShl(b.CreateAnd(all, integer(format.signMask())),
                                      static_cast<unsigned>(32 - format.width())));
  if (!format.hasNegativeZero())
    bits = b.CreateSelect(b.CreateICmpEQ(all, integer(*format.nanCode())), integer(kNan), bits);
  return b.CreateBitCast(bits, b.getFloatTy());
}

/// Rounds to powers of two from 2^-127 on, ties upward; NaN for values that are not positive and
/// finite.
llvm::Value* Scalars::encodeScale(llvm::Value* value) {
  llvm::Value* bits = b.CreateBitCast(value, b.getInt32Ty());
  llvm::Value* normal = b.CreateLShr(b.CreateAdd(bits, b.getInt32(0x00400000)), 23);
  llvm::Value* isLeast = b.CreateICmpULE(bits, b.getInt32(0x00400000));
  llvm::Value* isSubnormal = b.CreateICmpULT(bits, b.getInt32(0x00800000));
  llvm::Value* code =
      b.CreateSelect(isLeast, b.getInt32(0), b.CreateSelect(isSubnormal, b.getInt32(1), normal));
  llvm::Value* isPositive = b.CreateAnd(b.CreateICmpNE(bits, b.getInt32(0)),
                                        b.CreateICmpULT(bits, b.getInt32(0x7F800000)));
  return b.CreateTrunc(b.CreateSelect(isPositive, code, b.getInt32(0xFF)), b.getInt8Ty());
}

llvm::Value* Scalars::encode(const format::ElementFormat& format, llvm::Value* value) {
  if (!format.isSigned())
    return encodeScale(value);
  const int trailing = format.trailingSignificandBits;
  const auto dropped = static_cast<unsigned>(23 - trailing);
  const auto rebias = static_cast<std::uint32_t>(127 - format.bias) << trailing;
  const auto integer = [&](std::uint64_t bits) {
    return b.getInt32(static_cast<std::uint32_t>(bits));
  };
  llvm::Value* all = b.CreateBitCast(value, b.getInt32Ty());
  llvm::Value* bits = b.CreateAnd(all, integer(0x7FFFFFFF));
  // Adding just under half of the last kept bit, plus 1 if that bit is set, carries exactly if ties
  // to even rounds up.
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(bits, dropped), integer(1));
  llvm::Value* carried =
      b.CreateAdd(bits, b.CreateAdd(odd, integer((std::uint64_t{1} << (dropped - 1)) - 1)));
  llvm::Value* normal = b.CreateSub(b.CreateLShr(carried, dropped), integer(rebias));
  // If the last bit of a float is the smallest subnormal, its low bits count subnormals.
  const float unit = std::ldexp(1.0F, format.quantumExponent() + 23);
  llvm::Value* shifted = b.CreateFAdd(b.CreateBitCast(bits, b.getFloatTy()),
                                      llvm::ConstantFP::get(b.getFloatTy(), unit));
  llvm::Value* subnormal = b.CreateSub(b.CreateBitCast(shifted, b.getInt32Ty()),
                                       integer(std::bit_cast<std::uint32_t>(unit)));
  const auto smallest = static_cast<std::uint32_t>(127 + format.emin()) << 23;
  llvm::Value* code = b.CreateSelect(b.CreateICmpULT(bits, integer(smallest)), subnormal, normal);
  const std::uint64_t beyond = format.infCode().value_or(format.nanCode().value_or(0));
  const bool isClosed = !format.hasInf() && !format.hasNan();
  llvm::Value* overflows = b.CreateICmpUGT(code, integer(format.maxCode()));
  llvm::Value* sign = b.CreateShl(b.CreateLShr(all, 31), static_cast<unsigned>(format.width() - 1));
  llvm::Value* isNan = b.CreateFCmpUNO(value, value);
  if (format.hasNegativeZero()) {
    code = b.CreateSelect(overflows, integer(isClosed ? format.maxCode() : beyond), code);
    code = b.CreateOr(code, sign);
    // N3: without a NaN, the code of -0 stands for a positive NaN, the code of +0 for a negative
    // one.
    code = b.CreateSelect(isNan,
                          format.hasNan() ? b.CreateOr(sign, integer(*format.nanCode()))
                                          : b.CreateXor(sign, integer(format.signMask())),
                          code);
  } else {
    code = b.CreateSelect(b.CreateICmpEQ(code, integer(0)), code, b.CreateOr(code, sign));
    code = b.CreateSelect(b.CreateOr(overflows, isNan), integer(beyond), code);
  }
  return b.CreateTrunc(code, b.getInt8Ty());
}

llvm::Value* Scalars::toOdd(mlir::Type from, llvm::Value* value) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(from)) {
    const auto toFloat = [&](llvm::Value* number, llvm::Type* type) {
      return isUnsigned(from) ? b.CreateUIToFP(number, type) : b.CreateSIToFP(number, type);
    };
    if (integer.getWidth() <= 24)
      return toFloat(value, b.getFloatTy());
    // The conversion of 64 bits to f64 rounds to 53 bits. The sticky bit keeps it from creating a
    // tie.
    if (integer.getWidth() == 64) {
      llvm::Value* low = b.CreateAnd(value, b.getInt64(0xFFF));
      llvm::Value* high = b.CreateAnd(value, b.getInt64(~std::uint64_t{0xFFF}));
      llvm::Value* sticky = b.CreateSelect(b.CreateICmpEQ(low, b.getInt64(0)), high,
                                           b.CreateOr(high, b.getInt64(0x800)));
      constexpr std::uint64_t kExact = std::uint64_t{1} << 52;
      llvm::Value* isSmall =
          isUnsigned(from)
              ? b.CreateICmpULT(value, b.getInt64(kExact))
              : b.CreateICmpULT(b.CreateAdd(value, b.getInt64(kExact)), b.getInt64(2 * kExact));
      value = b.CreateSelect(isSmall, value, sticky);
    }
    value = toFloat(value, b.getDoubleTy());
  } else if (!from.isF64()) {
    return value;
  }
  llvm::Value* narrow = b.CreateFPTrunc(value, b.getFloatTy());
  llvm::Value* back = b.CreateFPExt(narrow, b.getDoubleTy());
  llvm::Value* bits = b.CreateBitCast(narrow, b.getInt32Ty());
  llvm::Value* isExact = b.CreateFCmpUEQ(back, value);
  llvm::Value* isEven = b.CreateICmpEQ(b.CreateAnd(bits, b.getInt32(1)), b.getInt32(0));
  // An inexact even neighbour is replaced by the odd one on the other side of the value.
  llvm::Value* isPast = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                        b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  llvm::Value* odd =
      b.CreateSelect(isPast, b.CreateSub(bits, b.getInt32(1)), b.CreateAdd(bits, b.getInt32(1)));
  llvm::Value* keeps = b.CreateOr(isExact, b.CreateNot(isEven));
  return b.CreateBitCast(b.CreateSelect(keeps, bits, odd), b.getFloatTy());
}

llvm::Value* Scalars::convert(mlir::Type from, mlir::Type to, llvm::Value* value) {
  if (from == to)
    return value;
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(from)) {
    const Pair both = parts(value);
    const mlir::Type part = complex.getElementType();
    if (auto target = mlir::dyn_cast<mlir::ComplexType>(to))
      return pair(convert(part, target.getElementType(), both.real),
                  convert(part, target.getElementType(), both.imaginary));
    return convert(part, to, both.real);
  }
  if (auto target = mlir::dyn_cast<mlir::ComplexType>(to))
    return pair(convert(from, target.getElementType(), value),
                llvm::Constant::getNullValue(registerType(target.getElementType())));
  const mlir::Type f32 = mlir::Float32Type::get(to.getContext());
  if (const format::ElementFormat* format = narrowFormat(from))
    return convert(f32, to, decode(*format, value));
  if (const format::ElementFormat* format = narrowFormat(to))
    return encode(*format, toOdd(from, value));
  llvm::Type* type = registerType(to);
  const bool fromFloat = mlir::isa<mlir::FloatType>(from), toFloat = mlir::isa<mlir::FloatType>(to);
  if (to.isInteger(1))
    return fromFloat ? b.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0.0))
                     : b.CreateICmpNE(value, llvm::ConstantInt::get(value->getType(), 0));
  if (fromFloat && toFloat) {
    if (from.isF64() && to.isF32())
      return b.CreateFPTrunc(value, b.getFloatTy());
    if (from.isF64())
      return round(to, toOdd(from, value));
    return to.isF64() ? b.CreateFPExt(value, type) : round(to, value);
  }
  if (fromFloat) {
    const auto intrinsic =
        to.isUnsignedInteger() ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
    return b.CreateIntrinsic(intrinsic, {type, value->getType()}, {value});
  }
  if (toFloat) {
    if (to.isF16() || to.isBF16())
      return round(to, toOdd(from, value));
    return isUnsigned(from) ? b.CreateUIToFP(value, type) : b.CreateSIToFP(value, type);
  }
  return isUnsigned(from) ? b.CreateZExtOrTrunc(value, type) : b.CreateSExtOrTrunc(value, type);
}

llvm::Value* Scalars::constant(mlir::Type element, double value) {
  if (mlir::isa<mlir::FloatType>(element))
    return llvm::ConstantFP::get(registerType(element), value);
  return llvm::ConstantInt::get(registerType(element),
                                static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), true);
}

llvm::Value* Scalars::constant(mlir::Type element, const llvm::APInt& value) {
  if (narrowFormat(element) != nullptr)
    return b.getInt8(static_cast<std::uint8_t>(value.getZExtValue()));
  if (auto type = mlir::dyn_cast<mlir::FloatType>(element)) {
    llvm::APFloat number(type.getFloatSemantics(), value);
    bool losesInfo = false;
    number.convert(element.isF64() ? llvm::APFloat::IEEEdouble() : llvm::APFloat::IEEEsingle(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return llvm::ConstantFP::get(b.getContext(), number);
  }
  return llvm::ConstantInt::get(b.getContext(), value);
}

llvm::Value* Scalars::call(llvm::StringRef name, llvm::Type* result,
                           llvm::ArrayRef<llvm::Value*> operands) {
  llvm::SmallVector<llvm::Type*> types;
  for (llvm::Value* operand : operands)
    types.push_back(operand->getType());
  llvm::Module* module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee function =
      module->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto* callee = llvm::cast<llvm::Function>(function.getCallee());
  callee->setDoesNotThrow();
  callee->setWillReturn();
  callee->setMemoryEffects(llvm::MemoryEffects::none());
  return b.CreateCall(function, operands);
}

} // namespace octavo::compiler
