#include "octavo/Dialect/VHLO/Codes.h"

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <utility>

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::Type;

template <int width, bool isUnsigned = false> Type integer(mlir::MLIRContext* context) {
  return mlir::IntegerType::get(
      context, width, isUnsigned ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
}
template <typename T> Type plain(mlir::MLIRContext* context) { return T::get(context); }

constexpr SimpleType kSimpleTypes[] = {
    {0, {0, 9}, integer<1>},
    {2, {0, 9}, plain<mlir::BFloat16Type>},
    {3, {0, 9}, plain<mlir::Float16Type>},
    {4, {0, 9}, plain<mlir::Float32Type>},
    {5, {0, 9}, plain<mlir::Float64Type>},
    {6, {0, 9}, plain<mlir::Float8E4M3FNType>},
    {7, {0, 9}, plain<mlir::Float8E5M2Type>},
    {9, {0, 9}, plain<mlir::IndexType>},
    {10, {0, 9}, integer<4>},
    {11, {0, 9}, integer<8>},
    {12, {0, 9}, integer<16>},
    {13, {0, 9}, integer<32>},
    {14, {0, 9}, integer<64>},
    {15, {0, 9}, integer<4, true>},
    {16, {0, 9}, integer<8, true>},
    {17, {0, 9}, integer<16, true>},
    {18, {0, 9}, integer<32, true>},
    {19, {0, 9}, integer<64, true>},
    {22, {0, 9}, plain<stablehlo::TokenType>},
    {27, {0, 10}, plain<mlir::Float8E4M3FNUZType>},
    {28, {0, 10}, plain<mlir::Float8E5M2FNUZType>},
    {29, {0, 11}, plain<mlir::Float8E4M3B11FNUZType>},
    {31, {1, 2}, integer<2>},
    {32, {1, 2}, integer<2, true>},
    {33, {1, 6}, plain<mlir::NoneType>},
    {34, {1, 6}, plain<mlir::FloatTF32Type>},
    {35, {1, 7}, plain<mlir::Float8E4M3Type>},
    {36, {1, 7}, plain<mlir::Float8E3M4Type>},
    {37, {1, 8}, plain<mlir::Float4E2M1FNType>},
    {38, {1, 8}, plain<mlir::Float6E2M3FNType>},
    {39, {1, 8}, plain<mlir::Float6E3M2FNType>},
    {40, {1, 8}, plain<mlir::Float8E8M0FNUType>},
};

template <typename Enumerator>
using ValueOf = decltype(std::declval<const Enumerator&>().getValue());

template <typename Enumerator, std::optional<ValueOf<Enumerator>> (*symbolize)(std::uint32_t)>
constexpr Enumeration row(std::uint64_t code, llvm::StringLiteral name, Version since = {0, 9}) {
  return {code, name, since,
          [](mlir::MLIRContext* context, std::uint32_t number) -> Attribute {
            const auto value = symbolize(number);
            return value ? Enumerator::get(context, *value) : Attribute();
          },
          [](Attribute attribute) -> std::optional<std::uint32_t> {
            const auto enumerator = llvm::dyn_cast<Enumerator>(attribute);
            return enumerator ? std::optional(static_cast<std::uint32_t>(enumerator.getValue()))
                              : std::nullopt;
          }};
}

/// The API versions of custom calls, a number in StableHLO.
constexpr Enumeration apiVersions() {
  return {5,
          "api_version",
          {0, 9},
          [](mlir::MLIRContext* context, std::uint32_t number) -> Attribute {
            return stablehlo::symbolizeCustomCallApiVersion(number)
                       ? mlir::IntegerAttr::get(integer<32>(context), number)
                       : Attribute();
          },
          [](Attribute attribute) -> std::optional<std::uint32_t> {
            const auto version = llvm::dyn_cast<ApiVersionAttribute>(attribute);
            return version ? std::optional(version.number()) : std::nullopt;
          }};
}

constexpr Enumeration kEnumerations[] = {
    row<stablehlo::ComparisonDirectionAttr, stablehlo::symbolizeComparisonDirection>(
        3, "comparison_direction"),
    row<stablehlo::ComparisonTypeAttr, stablehlo::symbolizeComparisonType>(4, "comparison_type"),
    apiVersions(),
    row<stablehlo::FftTypeAttr, stablehlo::symbolizeFftType>(7, "fft_type"),
    row<stablehlo::PrecisionAttr, stablehlo::symbolizePrecision>(11, "precision"),
    row<stablehlo::RngAlgorithmAttr, stablehlo::symbolizeRngAlgorithm>(12, "rng_algorithm"),
    row<stablehlo::RngDistributionAttr, stablehlo::symbolizeRngDistribution>(13,
                                                                             "rng_distribution"),
    row<stablehlo::TransposeAttr, stablehlo::symbolizeTranspose>(16, "transpose"),
    row<stablehlo::ResultAccuracyModeAttr, stablehlo::symbolizeResultAccuracyMode>(
        19, "result_accuracy_mode", {1, 9}),
};

} // namespace

const SimpleType* findSimpleType(Type type) {
  for (const SimpleType& row : kSimpleTypes)
    if (row.get(type.getContext()) == type)
      return &row;
  return nullptr;
}

const SimpleType* findSimpleType(std::uint64_t code) {
  for (const SimpleType& row : kSimpleTypes)
    if (row.code == code)
      return &row;
  return nullptr;
}

llvm::ArrayRef<Enumeration> enumerations() { return kEnumerations; }

} // namespace octavo::vhlo
