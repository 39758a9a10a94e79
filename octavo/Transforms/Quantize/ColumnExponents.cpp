#include "octavo/Transforms/Quantize/ColumnExponents.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Quantize/DotChoice.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace octavo::transforms {

namespace {

/// Bound of the exponents' magnitude: far from where f32 and bf16 overflow or have subnormals.
constexpr double kMost = 24;

using Columns = std::span<const float>;

llvm::Expected<Columns> columnsOf(const DotSide& side, const std::string& name) {
  const StaticScales& known = *side.settings->moved;
  const char* const which = side.index == 0 ? "lhs" : "rhs";
  const std::string what = std::string(which) + " of dot \"" + name + "\"";
  const analysis::CalibratedTensor* found = known.calibration.find(name, which);
  if (!found) {
    const std::vector<std::string> near = base::nearNames(name, known.calibration.dotNames());
    return llvm::createStringError(known.file + ": the calibration has nothing of the " + what +
                                   (near.empty() ? "" : "; near it: " + llvm::join(near, ", ")) +
                                   "; calibrate this program with --columns");
  }
  if (found->columnAmax.empty() && found->columns != 0)
    return llvm::createStringError(known.file + ": the calibration has no columns of the " + what +
                                   "; calibrate with --columns");
  if (found->columnAmax.empty())
    return llvm::createStringError(
        known.file + ": the " + what +
        (found->magnitudes.count() == 0
             ? " had no values when it was calibrated; calibrate with inputs that reach it, or "
             : " had now more, now fewer columns when it was calibrated; ") +
        "give the dot a rule without \"migrate\"");
  if (side.columns() != found->columns)
    return llvm::createStringError(
        known.file + ": the " + what + " had " + std::to_string(found->columns) +
        " columns when it was calibrated, and has another number; calibrate this program");
  return Columns(found->columnAmax);
}

/// The dots that multiply one tensor of activations along one axis.
struct Group {
  std::vector<Dot*> dots;
  std::vector<float> activations, weights; ///< largest magnitudes of the columns
};

/// The powers of two nearest to activations^strength / weights^(1 - strength), divided by its
/// geometric mean over the columns.
ColumnExponents exponentsOf(const Group& group, double strength) {
  std::vector<double> wanted(group.activations.size());
  double sum = 0;
  std::size_t count = 0;
  const auto isZero = [&](std::size_t i) {
    return group.activations[i] == 0 || group.weights[i] == 0;
  };
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!isZero(i)) {
      wanted[i] = strength * std::log2(static_cast<double>(group.activations[i])) -
                  (1 - strength) * std::log2(static_cast<double>(group.weights[i]));
      sum += wanted[i];
      ++count;
    }
  const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
  ColumnExponents exponents(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!isZero(i))
      exponents[i] =
          static_cast<std::int8_t>(std::clamp(std::round(wanted[i] - mean), -kMost, kMost));
  return exponents;
}

float amaxAfter(Columns columns, const ColumnExponents& exponents) {
  float amax = 0;
  for (const auto [column, exponent] : llvm::zip_equal(columns, exponents))
    amax = std::max(amax, std::ldexp(column, -exponent));
  return amax;
}

bool takesExponents(const Dot& dot) {
  const DotSide* weight = dot.weight();
  if (!dot.record.isQuantized || !weight || !weight->settings->moved)
    return false;
  // Not f16: its subnormals begin at 2^-14, so multiplying by a power of two is often inexact.
  return llvm::all_of(dot.sides,
                      [&](const DotSide& side) {
                        const mlir::Type element = side.type().getElementType();
                        return side.contracting.size() == 1 && side.format &&
                               side.type().hasStaticShape() &&
                               (element.isF32() || element.isBF16());
                      }) &&
         dot.sides[0].isWeight() != dot.sides[1].isWeight();
}

} // namespace

llvm::Error checkColumnExponents(const DotFormats& formats) {
  if (!formats.moved)
    return llvm::Error::success();
  if (!formats.activations)
    return llvm::createStringError(
        "powers of two are moved from quantized activations, which stay wide here");
  if (formats.scales && formats.range.kind != analysis::RangeChoice::Kind::Amax)
    return llvm::createStringError("of columns that are moved the calibration knows amax: take it "
                                   "for the range");
  return llvm::Error::success();
}

llvm::Error setColumnExponents(llvm::MutableArrayRef<Dot> dots) {
  const std::vector<std::string> names = calibratedNames(dots);
  llvm::MapVector<std::pair<mlir::Value, std::int64_t>, Group> groups;
  for (const auto& [dot, name] : llvm::zip_equal(dots, names)) {
    if (!takesExponents(dot))
      continue;
    const unsigned weight = dot.sides[0].isWeight() ? 0 : 1;
    const DotSide& other = dot.sides[1 - weight];
    llvm::Expected<Columns> activations = columnsOf(other, name);
    if (!activations)
      return activations.takeError();
    llvm::Expected<Columns> weights = columnsOf(dot.sides[weight], name);
    if (!weights)
      return weights.takeError();
    Group& group = groups[{other.value(), other.contracting.front()}];
    group.dots.push_back(&dot);
    const auto raise = [](std::vector<float>& columns, Columns by) {
      columns.resize(by.size());
      for (const auto [column, each] : llvm::zip_equal(columns, by))
        column = std::max(column, each);
    };
    raise(group.activations, *activations);
    raise(group.weights, *weights);
  }
  for (auto& [tensor, group] : groups) {
    const auto exponents = std::make_shared<const ColumnExponents>(
        exponentsOf(group, group.dots.front()->weight()->settings->strength));
    if (llvm::all_of(*exponents, [](std::int8_t exponent) { return exponent == 0; }))
      continue;
    for (Dot* dot : group.dots)
      for (DotSide& side : dot->sides) {
        side.exponents = exponents;
        if (side.amax)
          side.amax = amaxAfter(group.activations, *exponents);
      }
  }
  return llvm::Error::success();
}

std::string describeExponents(const Dot& dot) {
  const DotSide* weight = dot.weight();
  if (!weight || !weight->exponents)
    return takesExponents(dot) ? "; no column has a power of two to move" : "";
  const ColumnExponents& exponents = *weight->exponents;
  const auto count = llvm::count_if(exponents, [](std::int8_t exponent) { return exponent != 0; });
  const auto [least, greatest] = std::ranges::minmax(exponents);
  return "; 2^" + std::to_string(least) + " to 2^" + std::to_string(greatest) +
         " moved to the weight in " + std::to_string(count) + " of " +
         std::to_string(exponents.size()) + " columns";
}

mlir::Value timesPowersOfTwo(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                             std::int64_t axis, llvm::ArrayRef<std::int8_t> exponents) {
  const auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  const auto vector = mlir::RankedTensorType::get({static_cast<std::int64_t>(exponents.size())},
                                                  type.getElementType());
  const auto factors = llvm::map_to_vector(exponents, [&](std::int8_t exponent) {
    return mlir::Attribute(builder.getFloatAttr(type.getElementType(), std::ldexp(1.0, exponent)));
  });
  mlir::Value factor = stablehlo::ConstantOp::create(builder, location, vector,
                                                     mlir::DenseElementsAttr::get(vector, factors));
  factor = stablehlo::BroadcastInDimOp::create(builder, location, type, factor,
                                               builder.getDenseI64ArrayAttr({axis}));
  return stablehlo::MulOp::create(builder, location, type, value, factor);
}

} // namespace octavo::transforms
