#include "octavo/Kernels/Product/PlainProduct.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Kernels/Product/ProductPlan.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <numeric>
#include <random>
#include <vector>

namespace octavo::kernels {
namespace {

class PlainProduct : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(PlainProduct);

using Random = std::mt19937;

float valueOf(float x) { return x; }
float valueOf(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }
void put(float& to, float value) { to = value; }
/// Toward zero, which is as good as any bf16 here.
void put(std::uint16_t& to, float value) { to = std::bit_cast<std::uint32_t>(value) >> 16; }

template <typename T> std::vector<T> standardNormals(std::int64_t n, Random& random) {
  std::normal_distribution<float> normal;
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values)
    put(value, normal(random));
  return values;
}

/// One more term of a sum, as docs/semantics.md P10 says.
float added(float sum, float a, float b, Isa isa) {
  return isa == Isa::Portable ? sum + a * b : std::fmaf(a, b, sum);
}
/// The sum of `depth` products that P10 states: a chain, pairs, or groups of 32.
template <typename T>
float statedSum(const T* a, const T* b, std::ptrdiff_t bStride, std::int64_t depth, Isa isa) {
  const auto term = [&](float sum, std::int64_t k) {
    return added(sum, valueOf(a[k]), valueOf(b[k * bStride]), isa);
  };
  const bool isOfBf16 = sizeof(T) == 2;
  float sum = 0;
  if (isOfBf16 && usesTiles(isa)) {
    for (std::int64_t first = 0; first < depth; first += 32) {
      float even = 0, odd = 0;
      for (std::int64_t k = first; k < std::min(first + 32, depth); ++k)
        (k % 2 == 0 ? even : odd) = term(k % 2 == 0 ? even : odd, k);
      sum += even + odd;
    }
  } else if (isOfBf16 && usesBf16(isa)) {
    for (std::int64_t k = 0; k < depth; k += 2)
      sum = term(k + 1 < depth ? term(sum, k + 1) : sum, k);
  } else {
    for (std::int64_t k = 0; k < depth; ++k)
      sum = term(sum, k);
  }
  return sum;
}

std::vector<std::uint32_t> bitsOf(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (float value : values)
    bits.push_back(std::isnan(value) ? 0x7FC00000 : std::bit_cast<std::uint32_t>(value));
  return bits;
}

template <typename T>
std::vector<float> product(const std::vector<T>& a, const std::vector<T>& b, std::int64_t m,
                           std::int64_t n, std::int64_t k, const Execution& execution) {
  std::vector<float> c(static_cast<std::size_t>(m * n), -1.0f);
  multiplyRows(a.data(), k, m, packMatrix(b.data(), k, n, n, 1, execution), c.data(), n, execution);
  return c;
}

/// Corners of two matrices have the bits of sums that were made once, whatever the extents.
template <typename T> void expectEveryRaggedSize(const Execution& execution) {
  constexpr std::int64_t kMost = 40;
  Random random(1);
  const std::vector<T> a = standardNormals<T>(kMost * kMost, random),
                       b = standardNormals<T>(kMost * kMost, random);
  std::vector<float> sums(kMost * kMost, 0.0f);
  for (std::int64_t k = 0; k <= kMost; ++k) {
    for (std::int64_t n = 1; n <= kMost; ++n) {
      const PackedMatrix right = packMatrix(b.data(), k, n, kMost, 1, execution);
      for (std::int64_t i = 0; i < kMost * kMost && n == 1; ++i)
        sums[i] =
            statedSum(a.data() + i / kMost * kMost, b.data() + i % kMost, kMost, k, execution.isa);
      for (std::int64_t m = 1; m <= kMost; ++m) {
        std::vector<float> c(static_cast<std::size_t>(m * n), -1.0f);
        multiplyRows(a.data(), kMost, m, right, c.data(), n, execution);
        for (std::int64_t i = 0; i < m * n; ++i)
          ASSERT_EQ(c[i], sums[i / n * kMost + i % n])
              << m << " x " << n << " x " << k << ": " << i;
      }
    }
  }
}
std::vector<std::int8_t> int8s(std::int64_t n, Random& random) {
  std::uniform_int_distribution<int> number(-128, 127);
  std::vector<std::int8_t> values(static_cast<std::size_t>(n));
  for (std::int8_t& value : values)
    value = static_cast<std::int8_t>(number(random));
  return values;
}

/// The sum of products modulo 2^32.
std::int32_t dotOf(const std::int8_t* a, const std::int8_t* b, std::int64_t depth,
                   std::ptrdiff_t depthStride) {
  std::uint32_t sum = 0;
  for (std::int64_t k = 0; k < depth; ++k)
    sum += static_cast<std::uint32_t>(a[k] * b[k * depthStride]);
  return static_cast<std::int32_t>(sum);
}

TEST_P(PlainProduct, OfInt8IsTheSumForEveryRaggedSize) {
  constexpr std::int64_t kMost = 40;
  Random random(5);
  const auto a = int8s(kMost * kMost, random), b = int8s(kMost * kMost, random);
  for (std::int64_t k = 0; k <= kMost; ++k)
    for (const std::int64_t n : {1, 2, 7, 15, 16, 17, 31, 33, 40}) {
      const PackedMatrix rowMajor = packMatrix(b.data(), k, n, kMost, 1, execution());
      const PackedMatrix turned = packMatrix(b.data(), k, n, 1, kMost, execution());
      for (std::int64_t m = 1; m <= kMost; ++m) {
        std::vector<std::int32_t> c(static_cast<std::size_t>(m * n), -1), d = c;
        multiplyRows(a.data(), kMost, m, rowMajor, c.data(), n, execution());
        multiplyRows(a.data(), kMost, m, turned, d.data(), n, execution());
        for (std::int64_t i = 0; i < m * n; ++i) {
          const std::int8_t* row = a.data() + i / n * kMost;
          ASSERT_EQ(c[i], dotOf(row, b.data() + i % n, k, kMost)) << m << " " << n << " " << k;
          ASSERT_EQ(d[i], dotOf(row, b.data() + i % n * kMost, k, 1)) << m << " " << n << " " << k;
        }
      }
    }
}

TEST_P(PlainProduct, OfInt8WrapsAround) {
  constexpr std::int64_t kDepth = (std::int64_t{1} << 17) + 3; // 2^31 and more
  const std::vector<std::int8_t> least(kDepth * 20, -128);
  std::vector<std::int32_t> c(2 * 20);
  multiplyRows(least.data(), kDepth, 2, packMatrix(least.data(), kDepth, 20, 1, kDepth), c.data(),
               20, execution());
  for (const std::int32_t sum : c)
    EXPECT_EQ(sum, std::numeric_limits<std::int32_t>::min() + 3 * 128 * 128);
}

TEST_P(PlainProduct, OfInt8ByManyThreadsAndInBatches) {
  constexpr std::int64_t kRows = 210, kColumns = 333, kDepth = 517, kProducts = 3;
  Random random(6);
  const auto a = int8s(kProducts * kRows * kDepth, random),
             b = int8s(kProducts * kDepth * kColumns, random);
  std::vector<BatchOffsets> products;
  for (std::int64_t i = 0; i < kProducts; ++i)
    products.push_back({i * kRows * kDepth, i * kDepth * kColumns, i * kRows * kColumns});
  for (const int threads : {1, 3}) {
    Execution run = execution();
    run.threads = threads;
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, kRows}) {
      std::vector<std::int32_t> c(kProducts * kRows * kColumns, 0), d = c;
      multiplyBatch(a.data(), b.data(), c.data(),
                    {.rows = rows,
                     .depth = kDepth,
                     .columns = kColumns,
                     .leftStride = kDepth,
                     .rightDepthStride = kColumns,
                     .rightColumnStride = 1,
                     .cStride = kColumns},
                    products, run);
      for (const BatchOffsets& at : products)
        multiplyRows(a.data() + at.left, kDepth, rows,
                     packMatrix(b.data() + at.right, kDepth, kColumns, kColumns, 1),
                     d.data() + at.c, kColumns, run);
      EXPECT_EQ(c, d);
      for (const BatchOffsets& at : products)
        for (std::int64_t i = 0; i < rows * kColumns; i += 11)
          ASSERT_EQ(c[at.c + i], dotOf(a.data() + at.left + i / kColumns * kDepth,
                                       b.data() + at.right + i % kColumns, kDepth, kColumns));
    }
  }
}

/// Packs a matrix of which no more than a few pieces are in memory, and compares with all at once.
template <typename T>
void expectPiecesAreTheWhole(PlainType type, std::int64_t depth, std::int64_t columns,
                             std::ptrdiff_t depthStride, std::ptrdiff_t columnStride) {
  Random random(7);
  const std::int64_t size = 1 + (depth - 1) * depthStride + (columns - 1) * columnStride;
  const std::vector<T> values = standardNormals<T>(size, random);
  const PackedMatrix whole = packMatrix(values.data(), depth, columns, depthStride, columnStride);
  int pieces = 0;
  std::vector<T> piece;
  const auto packed =
      packMatrixInPieces(type, depth, columns, depthStride, columnStride,
                         [&](std::int64_t first, std::int64_t count) -> const void* {
                           ++pieces;
                           EXPECT_LE(count * static_cast<std::int64_t>(sizeof(T)), 2 * kPieceBytes);
                           EXPECT_LE(first + count, size);
                           piece.assign(values.begin() + first, values.begin() + first + count);
                           return piece.data();
                         });
  ASSERT_TRUE(packed.has_value());
  EXPECT_GT(pieces, 2);
  EXPECT_EQ(packed->type, type);
  ASSERT_EQ(packed->panels.size(), whole.panels.size());
  EXPECT_TRUE(std::equal(packed->panels.data(), packed->panels.data() + whole.panels.size(),
                         whole.panels.data()));
}
TEST(PackMatrix, InPiecesIsTheSameAsAtOnce) {
  expectPiecesAreTheWhole<float>(PlainType::F32, 701, 1003, 1003, 1);
  expectPiecesAreTheWhole<float>(PlainType::F32, 701, 1003, 1, 703);
  expectPiecesAreTheWhole<std::uint16_t>(PlainType::Bf16, 1501, 1003, 1010, 1);
  expectPiecesAreTheWhole<std::uint16_t>(PlainType::Bf16, 1501, 1003, 1, 1501);
}
TEST(PackMatrix, InPiecesEndsWhereThereIsNothingToRead) {
  int asked = 0;
  EXPECT_FALSE(packMatrixInPieces(PlainType::F32, 1000, 1000, 1000, 1,
                                  [&](std::int64_t, std::int64_t) -> const void* {
                                    ++asked;
                                    return nullptr;
                                  }));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(packMatrixInPieces(PlainType::F32, 0, 3, 3, 1,
                               [&](std::int64_t, std::int64_t) -> const void* {
                                 ++asked;
                                 return nullptr;
                               })
                ->columns,
            3);
  EXPECT_EQ(asked, 1);
}

TEST_P(PlainProduct, IsTheStatedChainForEveryRaggedSize) {
  expectEveryRaggedSize<float>(execution());
}
TEST_P(PlainProduct, OfBf16IsTheStatedChainForEveryRaggedSize) {
  expectEveryRaggedSize<std::uint16_t>(execution());
}

/// Pieces of a line that overlap, as those of windows do; more of them than a chunk of K has, too.
TEST_P(PlainProduct, OfRowsInPiecesIsTheStatedChain) {
  constexpr std::int64_t kColumns = 37;
  Random random(2);
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{1}, {9, 9, 9}, {4, 1, 7, 16}, {700, 3, 900}}) {
    const std::int64_t depth = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    const std::vector<float> line = standardNormals<float>(2 * depth + 200, random),
                             b = standardNormals<float>(depth * kColumns, random);
    const PackedMatrix right = packMatrix(b.data(), depth, kColumns, kColumns, 1);
    for (const std::int64_t rows : {1, 2, 5, 6, 7, 8, 17, 50}) {
      std::vector<const float*> beginnings;
      for (std::size_t p = 0; p < lengths.size(); ++p)
        for (std::int64_t m = 0; m < rows; ++m)
          beginnings.push_back(line.data() + 3 * m + static_cast<std::int64_t>(7 * p));
      std::vector<float> c(static_cast<std::size_t>(rows * kColumns), -1.0f), wanted(c.size(), 0);
      for (std::int64_t i = 0; i < rows * kColumns; ++i)
        for (std::int64_t p = 0, k = 0; p < std::ssize(lengths); ++p)
          for (std::int64_t at = 0; at < lengths[p]; ++at, ++k)
            wanted[i] = added(wanted[i], beginnings[p * rows + i / kColumns][at],
                              b[k * kColumns + i % kColumns], execution().isa);
      multiplyPieces({.beginnings = beginnings.data(), .lengths = lengths}, rows, right, c.data(),
                     kColumns, execution().isa);
      ASSERT_EQ(bitsOf(c), bitsOf(wanted)) << rows << " rows, " << depth;
    }
  }
}

template <typename T> void expectWithinBound(const Execution& execution) {
  constexpr double kU = 0x1p-24;
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Shape{1, 70, 3001}, Shape{101, 203, 1537}, Shape{7, 33, 5000}}) {
    Random random(static_cast<std::uint32_t>(m));
    const std::vector<T> a = standardNormals<T>(m * k, random),
                         b = standardNormals<T>(k * n, random);
    const std::vector<float> c = product(a, b, m, n, k, execution);
    for (std::int64_t i = 0; i < m; i += 1 + m / 8)
      for (std::int64_t j = 0; j < n; ++j) {
        double exact = 0, size = 0;
        for (std::int64_t d = 0; d < k; ++d) {
          const float x = valueOf(a[i * k + d]), y = valueOf(b[d * n + j]);
          exact += double{x} * y;
          size += std::fabs(double{x} * y);
        }
        const double rounded = static_cast<double>(k) + 1;
        ASSERT_LE(std::fabs(c[i * n + j] - exact),
                  (std::pow(1 + kU, rounded) - 1) * size + 0x1p-125 * static_cast<double>(k));
        ASSERT_EQ(c[i * n + j], statedSum(a.data() + i * k, b.data() + j, n, k, execution.isa))
            << i << ", " << j;
      }
  }
}
TEST_P(PlainProduct, OfLargeMatricesIsWithinTheStatedBound) {
  expectWithinBound<float>(execution());
}
TEST_P(PlainProduct, OfLargeMatricesOfBf16IsWithinTheStatedBound) {
  expectWithinBound<std::uint16_t>(execution());
}

template <typename T> void expectSameBits(Isa isa) {
  constexpr std::int64_t kRows = 333, kColumns = 250, kDepth = 1100;
  Random random(5);
  const std::vector<T> a = standardNormals<T>(kRows * kDepth, random);
  const std::vector<T> b = standardNormals<T>(kDepth * kColumns, random);
  const auto one = bitsOf(product(a, b, kRows, kColumns, kDepth, {.isa = isa, .threads = 1}));
  for (int threads : {2, 3, 7})
    EXPECT_EQ(one, bitsOf(product(a, b, kRows, kColumns, kDepth, {.isa = isa, .threads = threads})))
        << threads;
  const PackedMatrix right = packMatrix(b.data(), kDepth, kColumns, kColumns, 1);
  for (std::int64_t range : {1, 2, 5, 9, 16, 61}) {
    std::vector<float> c(kRows * kColumns);
    for (std::int64_t row = 0; row < kRows; row += range)
      multiplyRows(a.data() + row * kDepth, kDepth, std::min(range, kRows - row), right,
                   c.data() + row * kColumns, kColumns, {.isa = isa, .threads = 2});
    EXPECT_EQ(one, bitsOf(c)) << range;
  }
}
TEST_P(PlainProduct, HasTheSameBitsForEveryRangeOfRowsAndNumberOfThreads) {
  expectSameBits<float>(GetParam());
}
TEST_P(PlainProduct, OfBf16HasTheSameBitsForEveryRangeOfRowsAndNumberOfThreads) {
  expectSameBits<std::uint16_t>(GetParam());
}

/// Both operands and C through strides; what lies between is neither read nor written.
template <typename T> void expectStrides(const Execution& execution) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t m : {1, 5, 14})
    for (std::int64_t n : {1, 3, 4, 7, 16, 21, 32})
      for (std::int64_t k : {1, 2, 5, 8, 9, 31}) {
        Random random(static_cast<std::uint32_t>(m + 100 * n + 10000 * k));
        const std::vector<T> a = standardNormals<T>(m * k, random),
                             b = standardNormals<T>(k * n, random);
        const auto expected = bitsOf(product(a, b, m, n, k, execution));
        T nan;
        put(nan, kNan);
        std::vector<T> left(static_cast<std::size_t>(m * (k + 3)), nan);
        for (std::int64_t i = 0; i < m * k; ++i)
          left[i / k * (k + 3) + i % k] = a[i];
        struct Strides {
          std::int64_t depth, column;
        };
        for (const auto& [ofDepth, ofColumn] :
             {Strides{1, k}, {1, k + 5}, {n + 2, 1}, {2, 2 * k + 1}, {2 * n, 2}}) {
          std::vector<T> right(static_cast<std::size_t>((k - 1) * ofDepth + (n - 1) * ofColumn + 1),
                               nan);
          for (std::int64_t i = 0; i < k * n; ++i)
            right[i / n * ofDepth + i % n * ofColumn] = b[i];
          std::vector<float> c(static_cast<std::size_t>(m * (n + 4)), -7.0f);
          multiplyRows(left.data(), k + 3, m,
                       packMatrix(right.data(), k, n, ofDepth, ofColumn, execution), c.data(),
                       n + 4, execution);
          std::vector<float> written;
          for (std::int64_t i = 0; i < m * (n + 4); ++i)
            if (i % (n + 4) < n)
              written.push_back(c[i]);
            else
              ASSERT_EQ(c[i], -7.0f);
          ASSERT_EQ(bitsOf(written), expected)
              << m << " x " << n << " x " << k << ", strides " << ofDepth << ", " << ofColumn;
        }
      }
}
TEST_P(PlainProduct, ReadsAndWritesThroughStrides) { expectStrides<float>(execution()); }
TEST_P(PlainProduct, OfBf16ReadsAndWritesThroughStrides) {
  expectStrides<std::uint16_t>(execution());
}

template <typename T> void expectSpecialValues(const Execution& execution) {
  constexpr float kInf = std::numeric_limits<float>::infinity(),
                  kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::int64_t kRows = 9, kColumns = 20, kDepth = 7;
  std::vector<T> a(kRows * kDepth), b(kDepth * kColumns);
  for (T& x : a)
    put(x, 1.0f);
  for (T& y : b)
    put(y, 2.0f);
  put(a[2 * kDepth + 6], kNan); // the last of K, in bf16 without a partner
  put(a[3 * kDepth + 0], kInf);
  put(a[4 * kDepth + 1], -kInf);
  put(a[4 * kDepth + 4], kInf);
  put(b[3 * kColumns + 19], 0.0f);
  put(a[5 * kDepth + 3], kInf); // times that 0
  const std::vector<float> c = product(a, b, kRows, kColumns, kDepth, execution);
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const float value = c[i * kColumns + j];
      if (i == 2 || i == 4 || (i == 5 && j == 19))
        EXPECT_TRUE(std::isnan(value)) << i << ", " << j;
      else
        EXPECT_EQ(value, i == 3 || i == 5 ? kInf : j == 19 ? 12.0f : 14.0f) << i << ", " << j;
    }
}
TEST_P(PlainProduct, CarriesNanAndInf) { expectSpecialValues<float>(execution()); }
TEST_P(PlainProduct, OfBf16CarriesNanAndInf) { expectSpecialValues<std::uint16_t>(execution()); }

TEST_P(PlainProduct, WithoutColumnsOrRowsWritesNothing) {
  const float one = 1;
  float c = -1;
  multiplyRows(&one, 1, 1, packMatrix(&one, 1, 0, 1, 1), &c, 1, execution());
  multiplyRows(&one, 1, 0, packMatrix(&one, 1, 1, 1, 1), &c, 1, execution());
  multiplyBatch(&one, &one, &c, {1, 1, 1, 1, 1, 1, 1}, {}, execution());
  EXPECT_EQ(c, -1);
}

TEST(PlainMatrix, ThatNoMemoryHoldsIsRefused) {
  const float one = 1; // seen through strides of 0, a matrix of any extents
  EXPECT_THROW(packMatrix(&one, std::int64_t{1} << 40, std::int64_t{1} << 40, 0, 0),
               std::bad_alloc);
}

/// Counts how often each row is finished, and whether it was whole.
struct Finished {
  const std::vector<float>& c;
  const std::vector<float>& expected;
  std::int64_t columns;
  std::vector<std::atomic<int>> times;
  std::atomic<bool> isWhole = true;

  Finished(const std::vector<float>& c, const std::vector<float>& expected, std::int64_t rows,
           std::int64_t columns)
      : c(c), expected(expected), columns(columns), times(static_cast<std::size_t>(rows)) {}
  RowFinisher finisher() {
    return {.finish =
                [](void* context, std::int64_t begin, std::int64_t end) {
                  auto& self = *static_cast<Finished*>(context);
                  for (std::int64_t row = begin; row < end; ++row)
                    ++self.times[row];
                  if (!std::equal(self.c.begin() + begin * self.columns,
                                  self.c.begin() + end * self.columns,
                                  self.expected.begin() + begin * self.columns))
                    self.isWhole = false;
                },
            .context = this};
  }
  void expectEachRowOnce() const {
    EXPECT_TRUE(isWhole);
    for (const auto& time : times)
      ASSERT_EQ(time, 1);
  }
};

TEST_P(PlainProduct, FinishesEachRowOnceWhenItIsWhole) {
  constexpr std::int64_t kDepth = 256;
  for (std::int64_t rows : {1, 16, 150})
    for (std::int64_t columns : {0, 40, 500})
      for (int threads : {1, 2, 5}) {
        Random random(3);
        const std::vector<float> a = standardNormals<float>(rows * kDepth, random);
        const std::vector<float> b = standardNormals<float>(kDepth * columns, random);
        const std::vector<float> expected = product(a, b, rows, columns, kDepth, execution());
        std::vector<float> c(expected.size());
        Finished finished(c, expected, rows, columns);
        multiplyRows(a.data(), kDepth, rows, packMatrix(b.data(), kDepth, columns, columns, 1),
                     c.data(), columns, execution(threads), finished.finisher());
        finished.expectEachRowOnce();
      }
}

/// Attention's scores: heads side by side in rows of all, keys transposed.
template <typename T> void expectBatch(Isa isa) {
  for (std::int64_t heads : {1, 3, 12})
    for (std::int64_t tokens : {1, 9, 70}) {
      constexpr std::int64_t kDepth = 32;
      const std::int64_t width = heads * kDepth;
      Random random(7);
      const std::vector<T> q = standardNormals<T>(tokens * width, random);
      const std::vector<T> k = standardNormals<T>(tokens * width, random);
      std::vector<BatchOffsets> products;
      std::vector<float> expected;
      for (std::int64_t head = heads - 1; head >= 0; --head) {
        products.push_back({.left = head * kDepth,
                            .right = head * kDepth,
                            .c = static_cast<std::ptrdiff_t>(expected.size())});
        std::vector<float> c(static_cast<std::size_t>(tokens * tokens));
        multiplyRows(q.data() + head * kDepth, width, tokens,
                     packMatrix(k.data() + head * kDepth, kDepth, tokens, 1, width), c.data(),
                     tokens, {.isa = isa, .threads = 1});
        expected.insert(expected.end(), c.begin(), c.end());
      }
      const BatchShape shape{.rows = tokens,
                             .depth = kDepth,
                             .columns = tokens,
                             .leftStride = width,
                             .rightDepthStride = 1,
                             .rightColumnStride = width,
                             .cStride = tokens};
      for (int threads : {1, 2, 3}) {
        std::vector<float> c(expected.size());
        Finished finished(c, expected, heads * tokens, tokens);
        multiplyBatch(q.data(), k.data(), c.data(), shape, products,
                      {.isa = isa, .threads = threads}, finished.finisher());
        EXPECT_EQ(c, expected);
        finished.expectEachRowOnce();
      }
    }
}
TEST_P(PlainProduct, OfABatchIsEachProductByItself) { expectBatch<float>(GetParam()); }
TEST_P(PlainProduct, OfABatchOfBf16IsEachProductByItself) {
  expectBatch<std::uint16_t>(GetParam());
}

/// Attention's sums of values and products of keys with few rows, columns that fill panels and that
/// do not; NaN lies between rows and behind the last one, and is not read.
template <typename T> void expectFewRowsAreTheStatedChain(const Execution& execution) {
  constexpr int kProducts = 3;
  T nan;
  put(nan, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t rows = 1; rows <= 9; ++rows)
    for (std::int64_t columns : {1, 15, 16, 33, 48, 64, 85})
      for (std::int64_t depth : {0, 1, 6, 35})
        for (bool isTransposed : {false, true}) {
          const std::int64_t ofDepth = isTransposed ? 1 : columns + 3;
          const std::int64_t ofColumn = isTransposed ? depth + 3 : 1;
          const std::int64_t size = isTransposed ? columns * ofColumn : depth * ofDepth;
          Random random(static_cast<std::uint32_t>(rows + 100 * columns + 10000 * depth));
          const std::vector<T> a = standardNormals<T>(kProducts * rows * depth, random);
          std::vector<T> b(static_cast<std::size_t>(kProducts * size), nan);
          std::vector<BatchOffsets> products;
          std::vector<float> expected;
          for (std::int64_t p = 0; p < kProducts; ++p) {
            products.push_back({p * rows * depth, p * size, p * rows * columns});
            const std::vector<T> values = standardNormals<T>(depth * columns, random);
            for (std::int64_t k = 0; k < depth; ++k)
              for (std::int64_t n = 0; n < columns; ++n)
                b[p * size + k * ofDepth + n * ofColumn] = values[k * columns + n];
            for (std::int64_t i = 0; i < rows * columns; ++i)
              expected.push_back(statedSum(a.data() + (p * rows + i / columns) * depth,
                                           values.data() + i % columns, columns, depth,
                                           execution.isa));
          }
          std::vector<float> c(expected.size() + 1, -1.0f);
          multiplyBatch(a.data(), b.data(), c.data(),
                        {.rows = rows,
                         .depth = depth,
                         .columns = columns,
                         .leftStride = depth,
                         .rightDepthStride = ofDepth,
                         .rightColumnStride = ofColumn,
                         .cStride = columns},
                        products, execution);
          ASSERT_EQ(c.back(), -1.0f);
          c.pop_back();
          ASSERT_EQ(bitsOf(c), bitsOf(expected))
              << rows << " x " << columns << " x " << depth << ", " << isTransposed;
        }
}
TEST_P(PlainProduct, OfABatchOfFewRowsIsTheStatedChain) {
  expectFewRowsAreTheStatedChain<float>(execution());
}
TEST_P(PlainProduct, OfABatchOfFewRowsOfBf16IsTheStatedChain) {
  expectFewRowsAreTheStatedChain<std::uint16_t>(execution());
}

/// A finisher that multiplies a batch itself leaves what the outer one has packed alone.
/// Right sides that are made while they are multiplied, of more rows than are made at a time,
/// beside the same ones in memory.
template <typename T> void expectMadeAsInMemory(Isa isa) {
  constexpr int kProducts = 3;
  constexpr std::int64_t kMostRows = 40;
  Random random(11);
  for (const auto [depth, columns] :
       {std::pair(1, 1), {5, 700}, {701, 3}, {64, 150}, {151, 64}, {3000, 40}, {40, 3000}}) {
    const std::vector<T> a = standardNormals<T>(kProducts * kMostRows * depth, random);
    const std::vector<T> b = standardNormals<T>((kProducts + 1) * depth * columns, random);
    for (std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, kMostRows})
      for (const auto [isTransposed, isBetween] :
           {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
        std::vector<BatchOffsets> products;
        const std::int64_t ofRow = isTransposed ? depth : columns;
        const std::int64_t rowsOfOne = isTransposed ? columns : depth;
        const std::int64_t apart = isBetween ? kProducts + 1 : 1;
        for (std::int64_t p = 0; p < kProducts; ++p)
          products.push_back({p * rows * depth,
                              (kProducts - p) * ofRow * (isBetween ? 1 : rowsOfOne),
                              p * rows * columns});
        const BatchShape shape{.rows = rows,
                               .depth = depth,
                               .columns = columns,
                               .leftStride = depth,
                               .rightDepthStride = isTransposed ? 1 : apart * ofRow,
                               .rightColumnStride = isTransposed ? apart * ofRow : 1,
                               .cStride = columns};
        const auto make = [&](std::int64_t begin, std::int64_t end, std::byte* to) {
          std::memcpy(to, b.data() + begin * ofRow,
                      static_cast<std::size_t>((end - begin) * ofRow) * sizeof(T));
        };
        const RowMaker maker{
            .make = [](const void* context, std::int64_t begin, std::int64_t end,
                       std::byte* to) { (*static_cast<decltype(&make)>(context))(begin, end, to); },
            .context = &make};
        std::vector<float> expected(static_cast<std::size_t>(kProducts * rows * columns));
        multiplyBatch(a.data(), b.data(), expected.data(), shape, products,
                      {.isa = isa, .threads = 1});
        for (int threads : {1, 3}) {
          std::vector<float> c(expected.size());
          Finished finished(c, expected, kProducts * rows, columns);
          multiplyBatch(a.data(), nullptr, c.data(), shape, products,
                        {.isa = isa, .threads = threads}, finished.finisher(), maker);
          ASSERT_EQ(bitsOf(c), bitsOf(expected))
              << rows << " x " << columns << " x " << depth << ", " << isTransposed << isBetween;
          finished.expectEachRowOnce();
        }
      }
  }
}
TEST_P(PlainProduct, OfABatchWhoseRightSideIsMadeIsTheSame) {
  expectMadeAsInMemory<float>(GetParam());
}
TEST_P(PlainProduct, OfABatchOfBf16WhoseRightSideIsMadeIsTheSame) {
  expectMadeAsInMemory<std::uint16_t>(GetParam());
}

TEST_P(PlainProduct, OfABatchMayBeFinishedByAnother) {
  constexpr std::int64_t kExtent = 60;
  const BatchShape shape{.rows = kExtent,
                         .depth = kExtent,
                         .columns = kExtent,
                         .leftStride = kExtent,
                         .rightDepthStride = kExtent,
                         .rightColumnStride = 1,
                         .cStride = kExtent};
  struct Inner {
    std::vector<float> ones = std::vector<float>(kExtent * kExtent, 1.0f);
    BatchShape shape;
    Execution execution;
  } inner{.shape = shape, .execution = execution()};
  Random random(9);
  const std::vector<float> a = standardNormals<float>(kExtent * kExtent, random);
  const std::vector<float> b = standardNormals<float>(kExtent * kExtent, random);
  const std::vector<float> expected = product(a, b, kExtent, kExtent, kExtent, execution());
  std::vector<float> c(kExtent * kExtent);
  const BatchOffsets at{0, 0, 0};
  multiplyBatch(a.data(), b.data(), c.data(), shape, std::span(&at, 1), execution(3),
                {.finish =
                     [](void* context, std::int64_t, std::int64_t) {
                       const Inner& inner = *static_cast<Inner*>(context);
                       std::vector<float> to(kExtent * kExtent);
                       const BatchOffsets first{0, 0, 0};
                       multiplyBatch(inner.ones.data(), inner.ones.data(), to.data(), inner.shape,
                                     std::span(&first, 1), inner.execution);
                     },
                 .context = &inner});
  EXPECT_EQ(c, expected);
}

} // namespace
} // namespace octavo::kernels
