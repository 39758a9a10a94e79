#include "octavo/Kernels/Product/DoubleProduct.h"

#include "octavo/Base/Lanes.h"
#include "octavo/Kernels/Product/PackedValues.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace octavo::kernels {

namespace {

/// The product of two values of at least this magnitude is a normal number.
constexpr float kTiny = 0x1p-58f;

/// Rows that are kept in f64 during the loop over the panels of a block.
constexpr std::size_t kRowsAtOnce = 64;

/// Every value of an element format, times a number in [1, 2), is below 2^this.
int exponentAbove(const ElementFormat& element) { return element.emax() + 2; }

/// The range of exponents of a side's f32 scales that are not folded into elements.
int leastOfFactors(const PackedOperand& operand) {
  return operand.factors.empty() ? 0 : operand.leastExponent;
}
int greatestOfFactors(const PackedOperand& operand) {
  return operand.factors.empty() ? 0 : operand.greatestExponent;
}

/// The dot products of `count` values of a row with a panel, which has 16 values for each k.
OCTAVO_VECTOR_CLONES void multiplyPanel(const double* row, const double* panel, std::int64_t count,
                                        double* sums) {
  using base::Lanes;
  constexpr int kVectors = kPanelColumns / base::kLanes;
  Lanes added[kVectors] = {};
  for (std::int64_t k = 0; k < count; ++k, panel += kPanelColumns)
    for (int v = 0; v < kVectors; ++v) {
      Lanes columns;
      std::memcpy(&columns, panel + v * base::kLanes, sizeof columns);
      added[v] += row[k] * columns;
    }
  std::memcpy(sums, added, sizeof added);
}

} // namespace

DoubleProduct::DoubleProduct(const ProductPlan& plan, const PackedOperand& left,
                             const PackedOperand& right, const OuterScales& outer)
    : plan(plan), left(left), right(right), outer(outer) {
  const double depth = static_cast<double>(plan.depth);
  if (isOfF32) {
    // The loss per value is at most half of the digits' least unit, 2^-80, or half of the least f32
    // in its product. In sums 2^24 times as large, the loss is below rounding.
    const bool areDigits = left.storage != PackedOperand::Storage::Rows && !plan.floats;
    lost = depth * (areDigits ? 0x1p-56 : 0x1p-100);
    leastSum = static_cast<float>(
        std::ldexp(lost, right.greatestExponent + exponentAbove(*plan.right.element)));
    return;
  }
  looksAtSums = left.greatestExponent + exponentAbove(*plan.left.element) + right.greatestExponent +
                    exponentAbove(*plan.right.element) + std::ilogb(depth) + 1 >
                127;
  const bool hasOuter = outer.left != 1 || outer.right != 1;
  if (int{!left.factors.empty()} + int{!right.factors.empty()} + int{hasOuter} < 2)
    return; // no factors are multiplied in f32
  leastFactor = hasOuter ? 0x1p-80f : std::numeric_limits<float>::min();
  greatestFactor = hasOuter ? 0x1p80f : std::numeric_limits<float>::max();
  hasFarFactors =
      leastOfFactors(left) + leastOfFactors(right) < std::ilogb(leastFactor) ||
      greatestOfFactors(left) + greatestOfFactors(right) + 1 >= std::ilogb(greatestFactor);
}

bool DoubleProduct::hasTinyValue(std::int64_t row) const {
  const float* values = left.activations + row * left.activationStride;
  return std::any_of(values, values + plan.depth,
                     [](float value) { return value != 0 && std::fabs(value) < kTiny; });
}

/// Whether the products of the f32 scales of a row and a column are in range.
bool DoubleProduct::hasOrdinaryFactors(std::int64_t row, std::int64_t column) const {
  const auto blocks =
      static_cast<std::int64_t>(left.factors.empty() ? right.factors.size() / right.paddedRows
                                                     : left.factors.size() / left.paddedRows);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const float ofRow = left.factorOf(b, row), ofColumn = right.factorOf(b, column);
    const float both = std::fabs(ofRow * ofColumn);
    if (ofRow != 0 && ofColumn != 0 && !(both >= leastFactor && both <= greatestFactor))
      return false;
  }
  return true;
}

/// Reads a row's values. If one is NaN, the first becomes NaN, since all products are NaN.
void DoubleProduct::readRowOrNan(std::int64_t row, double* to) const {
  readRow(plan, left, row, to);
  if (std::any_of(to, to + plan.depth, [](double value) { return std::isnan(value); }))
    to[0] = std::numeric_limits<double>::quiet_NaN();
}

/// A row that may have elements to recompute.
struct DoubleProduct::Row {
  std::int64_t row;
  bool isCandidate; ///< for any column
  bool hasTinyValue;
};

struct DoubleProduct::Redone {
  float* at;
  float value;
};

/// A panel's values, read on first use.
struct DoubleProduct::Panel {
  const DoubleProduct& product;
  std::int64_t number;
  ThreadVector<double>& values;
  double greatest[kPanelColumns] = {}; ///< largest magnitude of each column, factors included
  bool isRead = false;

  void read() {
    if (isRead)
      return;
    isRead = true;
    const ProductPlan& plan = product.plan;
    readPanel(plan, product.right, number, values.data());
    for (std::int64_t k = 0; k < plan.depth; ++k)
      for (int n = 0; n < kPanelColumns; ++n)
        greatest[n] = std::max(
            greatest[n],
            std::fabs(values[k * kPanelColumns + n] *
                      product.right.factorOf(plan.blockOf(k), number * kPanelColumns + n)));
  }

  /// The dot products of a row of values with the panel.
  void multiply(const double* row, std::int64_t rowNumber, double (&sums)[kPanelColumns]) const {
    const ProductPlan& plan = product.plan;
    std::ranges::fill(sums, 0.0);
    for (std::int64_t begin = 0; begin < plan.depth;) {
      const std::int64_t block = plan.blockOf(begin);
      const std::int64_t end = std::min(plan.depth, plan.endOfBlock(block));
      double ofBlock[kPanelColumns];
      multiplyPanel(row + begin, values.data() + begin * kPanelColumns, end - begin, ofBlock);
      for (int n = 0; n < kPanelColumns; ++n)
        sums[n] += ofBlock[n] * product.left.factorOf(block, rowNumber) *
                   product.right.factorOf(block, number * kPanelColumns + n);
      begin = end;
    }
  }
};

bool DoubleProduct::redo(const SumsBlock& block, const ProductEpilogue& epilogue) const {
  if (!looksAtSums && !hasFarFactors && left.far.rows.empty() && right.far.rows.empty())
    return false;
  const std::int64_t width = block.columnEnd - block.columnBegin;
  const bool hasFarColumn = right.far.hasAny(block.columnBegin, block.columnEnd);
  ThreadVector<Row> rows;
  for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row) {
    const bool isCandidate =
        hasFarFactors || left.far.has(row) ||
        (looksAtSums && !epilogue.areWithin(block.at(row, block.columnBegin), width, leastSum));
    if (isCandidate || hasFarColumn)
      rows.push_back({row, isCandidate, isCandidate && isOfF32 && hasTinyValue(row)});
  }
  ThreadVector<Redone> redone;
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsAtOnce)
    redo(block, std::span(rows).subspan(begin, std::min(kRowsAtOnce, rows.size() - begin)), redone);
  if (redone.empty())
    return false;
  epilogue.multiplyOuterScales(block);
  for (const auto& [at, value] : redone)
    *at = value;
  return true;
}

void DoubleProduct::redo(const SumsBlock& block, std::span<const Row> rows,
                         ThreadVector<Redone>& redone) const {
  const double bothOuter = double{outer.left} * outer.right;
  ThreadVector<double> ofPanel(static_cast<std::size_t>(plan.depth * kPanelColumns));
  ThreadVector<double> ofRows(rows.size() * static_cast<std::size_t>(plan.depth));
  bool isRead[kRowsAtOnce] = {};
  for (std::int64_t column = block.columnBegin; column < block.columnEnd; column += kPanelColumns) {
    Panel panel{.product = *this, .number = column / kPanelColumns, .values = ofPanel};
    const auto here =
        static_cast<int>(std::min<std::int64_t>(kPanelColumns, block.columnEnd - column));
    const bool isFarPanel = right.far.hasAny(column, column + here);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      if (!row.isCandidate && !isFarPanel)
        continue;
      float* const sums = block.at(row.row, column);
      const bool isFarRow = left.far.has(row.row);
      auto needsIt = [&](int n) {
        if (isFarRow || !std::isfinite(sums[n]) || (isFarPanel && right.far.has(column + n)) ||
            (hasFarFactors && !hasOrdinaryFactors(row.row, column + n)))
          return true;
        if (!row.hasTinyValue || std::fabs(sums[n]) >= leastSum)
          return false;
        panel.read();
        return std::fabs(sums[n]) < lost * panel.greatest[n];
      };
      bool needIt[kPanelColumns] = {};
      for (int n = 0; n < here; ++n)
        needIt[n] = needsIt(n);
      if (std::ranges::none_of(needIt, [](bool needed) { return needed; }))
        continue;
      double* const ofRow = ofRows.data() + i * static_cast<std::size_t>(plan.depth);
      if (!std::exchange(isRead[i], true))
        readRowOrNan(row.row, ofRow);
      double products[kPanelColumns];
      if (std::isnan(ofRow[0])) {
        std::ranges::fill(products, ofRow[0]);
      } else {
        panel.read();
        panel.multiply(ofRow, row.row, products);
      }
      for (int n = 0; n < here; ++n)
        if (needIt[n])
          redone.push_back({sums + n, static_cast<float>(products[n] * bothOuter)});
    }
  }
}

} // namespace octavo::kernels
