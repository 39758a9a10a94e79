#include "octavo/Conversion/Kernels/Scalars.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ModRef.h"

#include <cmath>

namespace octavo::conversion {

bool isCompiled(mlir::Type element) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(element)) {
    const unsigned width = integer.getWidth();
    return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
  }
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64();
}

mlir::Type elementOf(mlir::Value tensor) { return mlir::getElementTypeOrSelf(tensor.getType()); }

std::int64_t containerBytes(mlir::Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

llvm::Type* Scalars::registerType(mlir::Type element) {
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

llvm::Value* Scalars::load(mlir::Type element, llvm::Value* base, llvm::Value* index) {
  llvm::Type* type = memoryType(element);
  llvm::Value* value = b.CreateAlignedLoad(type, b.CreateInBoundsGEP(type, base, index),
                                           llvm::Align(containerBytes(element)));
  if (element.isInteger(1))
    return b.CreateTrunc(value, b.getInt1Ty());
  if (element.isF16())
    return b.CreateFPExt(value, b.getFloatTy());
  if (element.isBF16())
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(value, b.getInt32Ty()), 16), b.getFloatTy());
  return value;
}

void Scalars::store(mlir::Type element, llvm::Value* value, llvm::Value* base, llvm::Value* index) {
  llvm::Type* type = memoryType(element);
  if (element.isInteger(1))
    value = b.CreateZExt(value, type);
  else if (element.isF16())
    value = b.CreateFPTrunc(value, type);
  else if (element.isBF16())
    value = b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, b.getInt32Ty()), 16), type);
  b.CreateAlignedStore(value, b.CreateInBoundsGEP(type, base, index),
                       llvm::Align(containerBytes(element)));
}

/// The machine's own conversion to bf16 flushes subnormals: it is done on integers.
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

llvm::Value* Scalars::convert(mlir::Type from, mlir::Type to, llvm::Value* value) {
  if (from == to)
    return value;
  llvm::Type* type = registerType(to);
  const bool fromFloat = mlir::isa<mlir::FloatType>(from), toFloat = mlir::isa<mlir::FloatType>(to);
  if (to.isInteger(1))
    return fromFloat ? b.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0.0))
                     : b.CreateICmpNE(value, llvm::ConstantInt::get(value->getType(), 0));
  if (fromFloat && toFloat) {
    if (from.isF64() && !to.isF64()) {
      // f64 to f16 and bf16 in one rounding: f32 on the way is rounded to odd.
      llvm::Value* narrow = b.CreateFPTrunc(value, b.getFloatTy());
      if (to.isF32())
        return narrow;
      llvm::Value* back = b.CreateFPExt(narrow, b.getDoubleTy());
      llvm::Value* bits = b.CreateBitCast(narrow, b.getInt32Ty());
      llvm::Value* isExact = b.CreateFCmpUEQ(back, value);
      llvm::Value* isEven = b.CreateICmpEQ(b.CreateAnd(bits, b.getInt32(1)), b.getInt32(0));
      // An even neighbour gives way to the odd one on the value's side.
      llvm::Value* isPast = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                            b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
      llvm::Value* odd = b.CreateSelect(isPast, b.CreateSub(bits, b.getInt32(1)),
                                        b.CreateAdd(bits, b.getInt32(1)));
      llvm::Value* keeps = b.CreateOr(isExact, b.CreateNot(isEven));
      return round(to, b.CreateBitCast(b.CreateSelect(keeps, bits, odd), b.getFloatTy()));
    }
    return to.isF64() ? b.CreateFPExt(value, type) : round(to, value);
  }
  if (fromFloat) {
    const auto intrinsic =
        to.isUnsignedInteger() ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
    return b.CreateIntrinsic(intrinsic, {type, value->getType()}, {value});
  }
  if (toFloat) {
    const bool isNarrow = to.isF16() || to.isBF16();
    const bool isWide = from.getIntOrFloatBitWidth() > 24;
    if (isNarrow && isWide) {
      llvm::Value* wide = isUnsigned(from) ? b.CreateUIToFP(value, b.getDoubleTy())
                                           : b.CreateSIToFP(value, b.getDoubleTy());
      // Rounding 64 bits to 53 first moves no tie of 11 bits but those that 64 bits break.
      if (from.getIntOrFloatBitWidth() == 64) {
        llvm::Value* low = b.CreateAnd(value, llvm::ConstantInt::get(value->getType(), 0xFFF));
        llvm::Value* high =
            b.CreateAnd(value, llvm::ConstantInt::get(value->getType(), ~std::uint64_t{0xFFF}));
        llvm::Value* sticky =
            b.CreateSelect(b.CreateICmpEQ(low, llvm::ConstantInt::get(value->getType(), 0)), high,
                           b.CreateOr(high, llvm::ConstantInt::get(value->getType(), 0x800)));
        llvm::Value* isSmall =
            isUnsigned(from)
                ? b.CreateICmpULT(value, b.getInt64(std::uint64_t{1} << 52))
                : b.CreateICmpULT(b.CreateAdd(value, b.getInt64(std::uint64_t{1} << 52)),
                                  b.getInt64(std::uint64_t{1} << 53));
        sticky = b.CreateSelect(isSmall, value, sticky);
        wide = isUnsigned(from) ? b.CreateUIToFP(sticky, b.getDoubleTy())
                                : b.CreateSIToFP(sticky, b.getDoubleTy());
      }
      return convert(mlir::Float64Type::get(to.getContext()), to, wide);
    }
    llvm::Value* converted =
        isUnsigned(from) ? b.CreateUIToFP(value, type) : b.CreateSIToFP(value, type);
    return round(to, converted);
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

} // namespace octavo::conversion
