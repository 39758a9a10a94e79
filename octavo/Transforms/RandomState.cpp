#include "octavo/Transforms/RandomState.h"

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Transforms/ProgramState.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>
#include <vector>

namespace octavo::transforms {

using mlir::RankedTensorType;

namespace {

constexpr std::int64_t kPerBlock = 4; // numbers of 32 bits that a counter of Philox gives

RankedTensorType unsignedType(mlir::OpBuilder& builder, llvm::ArrayRef<std::int64_t> shape,
                              unsigned width) {
  return RankedTensorType::get(shape, builder.getIntegerType(width, /*isSigned=*/false));
}

mlir::Value constant(mlir::OpBuilder& builder, mlir::Location location,
                     mlir::DenseElementsAttr value) {
  return stablehlo::ConstantOp::create(builder, location, value);
}

/// H / sqrt(size): the sign of an element is the parity of the bits that row and column share.
std::vector<float> hadamardMatrix(std::int64_t size) {
  const float magnitude = 1 / std::sqrt(static_cast<float>(size));
  std::vector<float> matrix;
  for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(size); ++row)
    for (std::uint64_t column = 0; column < static_cast<std::uint64_t>(size); ++column)
      matrix.push_back(std::popcount(row & column) % 2 == 0 ? magnitude : -magnitude);
  return matrix;
}

} // namespace

RandomState::RandomState(mlir::func::FuncOp function)
    : state(appendState(
          function, "octavo.random",
          RankedTensorType::get({2}, mlir::IntegerType::get(function.getContext(), 64,
                                                            mlir::IntegerType::Unsigned)))) {}

/// Past all that was drawn.
mlir::Value RandomState::after(mlir::OpBuilder& builder, mlir::Location location) const {
  const auto type = llvm::cast<RankedTensorType>(state.getType());
  const mlir::Value drawn = constant(
      builder, location,
      mlir::DenseElementsAttr::get(type, llvm::ArrayRef<std::uint64_t>{std::uint64_t{0}, blocks}));
  return stablehlo::AddOp::create(builder, location, type, state, drawn);
}

mlir::Value RandomState::bits(mlir::OpBuilder& builder, mlir::Location location,
                              llvm::ArrayRef<std::int64_t> shape) {
  auto drawn = stablehlo::RngBitGeneratorOp::create(
      builder, location, state.getType(), unsignedType(builder, shape, 32),
      stablehlo::RngAlgorithm::PHILOX, after(builder, location));
  const auto type = llvm::cast<RankedTensorType>(drawn.getOutput().getType());
  blocks += static_cast<std::uint64_t>(llvm::divideCeil(type.getNumElements(), kPerBlock));
  return drawn.getOutput();
}

void RandomState::finish() {
  mlir::OpBuilder builder(state.getOwner()->getTerminator());
  returnState(state, after(builder, state.getLoc()));
}

mlir::Value rotated(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                    std::int64_t axis, mlir::Value bits) {
  const auto floats = [&](llvm::ArrayRef<std::int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  const auto splat = [&](RankedTensorType type, llvm::ArrayRef<std::int64_t> shape, auto number) {
    return constant(builder, location,
                    mlir::DenseElementsAttr::get(type.clone(shape), llvm::ArrayRef{number}));
  };
  const auto bitsType = llvm::cast<RankedTensorType>(bits.getType());
  const std::int64_t size = bitsType.getDimSize(0);

  const auto signs = floats({size});
  const mlir::Value odd = stablehlo::AndOp::create(builder, location, bitsType, bits,
                                                   splat(bitsType, {size}, std::uint32_t{1}));
  mlir::Value sign = stablehlo::ConvertOp::create(builder, location, signs, odd);
  sign = stablehlo::MulOp::create(builder, location, signs, sign, splat(signs, {size}, -2.0f));
  sign = stablehlo::AddOp::create(builder, location, signs, sign, splat(signs, {size}, 1.0f));
  const auto square = floats({size, size});
  mlir::Value matrix = stablehlo::BroadcastInDimOp::create(builder, location, square, sign,
                                                           builder.getDenseI64ArrayAttr({0}));
  matrix = stablehlo::MulOp::create(
      builder, location, square, matrix,
      constant(builder, location,
               mlir::DenseElementsAttr::get(square, llvm::ArrayRef(hadamardMatrix(size)))));

  auto type = llvm::cast<RankedTensorType>(value.getType());
  llvm::SmallVector<std::int64_t> shape(type.getShape());
  if (!type.getElementType().isF32())
    value = stablehlo::ConvertOp::create(builder, location, floats(shape), value);
  const std::int64_t groups = llvm::divideCeil(shape[axis], size);
  if (const std::int64_t missing = groups * size - shape[axis]) {
    const llvm::SmallVector<std::int64_t> none(shape.size(), 0);
    llvm::SmallVector<std::int64_t> high(none);
    high[axis] = missing;
    shape[axis] += missing;
    value = stablehlo::PadOp::create(builder, location, floats(shape), value,
                                     splat(signs, {}, 0.0f), builder.getDenseI64ArrayAttr(none),
                                     builder.getDenseI64ArrayAttr(high),
                                     builder.getDenseI64ArrayAttr(none));
  }
  // [.., groups, size, ..] times the matrix has the elements of a group last.
  llvm::SmallVector<std::int64_t> split(shape);
  split[axis] = groups;
  split.insert(split.begin() + axis + 1, size);
  value = stablehlo::ReshapeOp::create(builder, location, floats(split), value);
  llvm::SmallVector<std::int64_t> product(split);
  product.erase(product.begin() + axis + 1);
  product.push_back(size);
  value = stablehlo::DotGeneralOp::create(
      builder, location, floats(product), value, matrix,
      stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), {}, {}, {axis + 1}, {0}),
      /*precision_config=*/nullptr, /*algorithm=*/nullptr);
  const auto rank = static_cast<std::int64_t>(split.size());
  if (axis + 2 != rank) {
    auto order = llvm::to_vector(llvm::seq<std::int64_t>(0, axis + 1));
    order.push_back(rank - 1);
    llvm::append_range(order, llvm::seq<std::int64_t>(axis + 1, rank - 1));
    value = stablehlo::TransposeOp::create(builder, location, floats(split), value, order);
  }
  return stablehlo::ReshapeOp::create(builder, location, floats(shape), value);
}

} // namespace octavo::transforms
