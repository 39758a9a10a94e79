// D6 to D9, and every pair of formats of the table, and f32 activations: a product within its
// stated bound, or a refusal that is listed here.
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Kernels/Product/ProductFloat.h"
#include "octavo/Kernels/Product/ProductTestOperands.h"
#include "octavo/Kernels/Product/RowProduct.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace octavo::kernels {
namespace {

class ProductFormats : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(ProductFormats);

/// Pairs that have no plan, "left*right", and what the refusal says. None at present.
const std::map<std::string, std::string> kRefusals = {};

constexpr Shape kShapes[] = {{1, 1, 1},    {1, 40, 70},   {3, 17, 300}, {6, 33, 128},
                             {20, 40, 32}, {29, 50, 257}, {50, 35, 700}};

bool isExactInteger(const OperandFormat& format) {
  return format.element->isInteger() ||
         (format.element->specials == format::Specials::None && format.element->width() < 8);
}

/// The left side of a product: quantized, or f32 activations.
struct Left {
  std::vector<float> values; ///< [M, K]
  std::optional<ScaledTensor> matrix;

  PackedOperand packed(const ProductPlan& plan, const Execution& execution) const {
    return matrix ? pack(*matrix, Side::Left, plan, execution) : pack(values, plan, execution);
  }
};

/// numerics::decode, of which this file asks much, looked up.
class Decoded {
public:
  explicit Decoded(const format::ElementFormat& format) : isNarrow(format.isNarrow()) {
    static std::map<const format::ElementFormat*, std::vector<double>> tables;
    table = &tables[&format];
    for (std::uint32_t c = 0; isNarrow && table->size() < 256; ++c)
      table->push_back(numerics::decode(format, c));
  }
  double operator()(std::uint32_t code) const {
    return isNarrow ? (*table)[code] : std::bit_cast<float>(code);
  }

private:
  bool isNarrow;
  std::vector<double>* table;
};

/// A row of values without the outer scale, and the greatest of its f32 scales, at least 1.
struct Row {
  std::vector<double> values;
  double unfolded = 1;

  Row(const ScaledTensor& matrix, std::int64_t row) {
    const numerics::ScaledVector v = vectorOf(matrix, row);
    const Decoded element(*v.element), scaleOf(*v.scale);
    for (std::size_t k = 0; k < v.elements.size(); ++k) {
      const double scale = scaleOf(v.scales[k / v.blockSize]);
      values.push_back(element(v.elements[k]) * scale);
      if (*v.scale == kF32)
        unfolded = std::max(unfolded, std::fabs(scale));
    }
  }
  Row(std::span<const float> row) : values(row.begin(), row.end()) {}
};

struct ExactDot {
  double value = 0, magnitudes = 0;
};

ExactDot dotOf(const Row& x, const Row& y) {
  ExactDot dot;
  for (std::size_t k = 0; k < x.values.size(); ++k) {
    dot.value += x.values[k] * y.values[k];
    dot.magnitudes += std::fabs(x.values[k] * y.values[k]);
  }
  return dot;
}

/// All rows, decoded once: each meets every row of the other side.
std::vector<Row> rowsOf(const ScaledTensor& matrix) {
  std::vector<Row> rows;
  for (std::int64_t row = 0; row < matrix.shape[0]; ++row)
    rows.emplace_back(matrix, row);
  return rows;
}
std::vector<Row> rowsOf(const Left& left, const Shape& shape) {
  if (left.matrix)
    return rowsOf(*left.matrix);
  std::vector<Row> rows;
  for (std::int64_t row = 0; row < shape.m; ++row)
    rows.emplace_back(std::span(left.values).subspan(row * shape.k, shape.k));
  return rows;
}

/// The product in f64 and the bound of Product.h for floats.
struct Exact {
  double value = 0, bound = 0;
};
Exact exactOf(const Left& a, const Row& x, const ScaledTensor& b, const Row& y) {
  const std::int64_t depth = b.shape[1];
  const double *xs = x.values.data(), *ys = y.values.data();
  double value = 0, magnitude = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    const double term = xs[k] * ys[k];
    value += term;
    magnitude += std::fabs(term);
  }
  const double outer = double{b.outer} * (a.matrix ? a.matrix->outer : 1.0f);
  const double blocks = static_cast<double>((depth + 127) / 128);
  const double roundings = static_cast<double>(a.matrix ? depth : 2 * depth) + blocks + 5;
  return {value * outer, (std::expm1(roundings * std::log1p(0x1p-24)) * magnitude +
                          0x1p-125 * static_cast<double>(depth) * x.unfolded * y.unfolded) *
                             outer};
}

/// D6 in scalar: a row's block as three digits, each digit a dot by D3 and D4.
float digitDot(std::span<const float> x, const numerics::ScaledVector& w) {
  const auto size = static_cast<std::int64_t>(x.size());
  const std::int64_t block = w.blockSize % 32 == 16 ? 16 : 32;
  const Decoded elementOf(*w.element), scaleOf(*w.scale);
  float sums[3] = {};
  for (std::int64_t begin = 0; begin < size; begin += block) {
    const std::int64_t end = std::min(size, begin + block);
    float amax = 0;
    for (std::int64_t k = begin; k < end; ++k)
      amax = std::max(amax, std::fabs(x[k]));
    const int e = amax == 0 ? 0 : std::max(std::ilogb(amax) - 21, -80);
    std::int64_t exact[3] = {};
    for (std::int64_t k = begin; k < end; ++k) {
      auto n = static_cast<std::int64_t>(std::nearbyint(std::ldexp(x[k], -e)));
      const double element = elementOf(w.elements[k]);
      const auto integer =
          static_cast<std::int64_t>(std::ldexp(element, -w.element->quantumExponent()));
      for (int d = 2; d >= 0; --d) { // balanced: -128 .. 127, the greatest one what is left
        const std::int64_t digit = d == 0 ? n : ((n + 128) & 255) - 128;
        exact[d] += digit * integer;
        n = (n - digit) / 256;
      }
    }
    const double scale = scaleOf(w.scales[begin / w.blockSize]);
    for (int d = 0; d < 3; ++d)
      sums[d] += static_cast<float>(std::ldexp(static_cast<double>(exact[d]),
                                               e + 8 * (2 - d) + w.element->quantumExponent()) *
                                    scale);
  }
  return ((sums[0] + sums[1]) + sums[2]) * w.outer;
}

/// D7 in scalar: the weight's values in f32, then P10.
float expandedDot(std::span<const float> x, const numerics::ScaledVector& w, float outer, Isa isa) {
  const Decoded elementOf(*w.element), scaleOf(*w.scale);
  const bool isFolded = isExactInteger({w.element, w.scale}) || *w.scale != kF32;
  float sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto scale = static_cast<float>(scaleOf(w.scales[k / w.blockSize]));
    const auto value =
        static_cast<float>(elementOf(w.elements[k]) * (isFolded ? double{scale} : 1.0));
    // Portable: the compiler of this file fuses nothing, as that set's does not.
    const float term = x[k] * value;
    sum = isa == Isa::Portable ? sum + term : std::fma(x[k], value, sum);
  }
  return (isFolded ? sum : sum * static_cast<float>(scaleOf(w.scales[0]))) * outer;
}

/// What f32 activations against integers may err by, in units of amax times sum |w| of a block: the
/// fixed point's rounding, then the roundings of terms and sums.
double digitBound(const Row& x, const ScaledTensor& b, const Row& y) {
  const std::int64_t depth = b.shape[1];
  double whole = 0;
  for (std::int64_t begin = 0; begin < depth; begin += 16) {
    double amax = 0, weights = 0;
    for (std::int64_t k = begin / 32 * 32; k < std::min(depth, begin / 32 * 32 + 32); ++k)
      amax = std::max(amax, std::fabs(x.values[k]));
    for (std::int64_t k = begin; k < std::min(depth, begin + 16); ++k)
      weights += std::fabs(y.values[k] * b.outer);
    whole += amax * weights;
  }
  const double blocks = std::ceil(static_cast<double>(depth) / 16);
  return whole * (0x1p-22 + 1.05 * (blocks + 5) * 0x1p-24);
}

void expectProduct(const OperandFormat& left, const OperandFormat& right, const Shape& shape,
                   const ProductPlan& plan, const Execution& execution, Random& random) {
  Left a;
  if (left.scale == nullptr)
    a.values = normals(static_cast<std::size_t>(shape.m * shape.k), 1, random);
  else
    a.matrix = drawFinite(left, shape.m, shape.k, random);
  const ScaledTensor b = drawFinite(right, shape.n, shape.k, random);
  std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n), -1.0f);
  multiply(plan, a.packed(plan, execution), pack(b, Side::Right, plan, execution), c, execution);
  const bool exact = isExactInteger(right) && (left.scale == nullptr || isExactInteger(left));
  EXPECT_EQ(plan.floats, !exact);
  const std::vector<Row> lefts = rowsOf(a, shape), rights = rowsOf(b);
  // Every dot of exact formats is ProductTest.cpp's; a step of 3 meets every row and column. All of
  // them are `make exhaustive`'s.
  const bool isSample = exact && a.matrix && std::getenv("OCTAVO_EXHAUSTIVE") == nullptr;
  for (std::int64_t at = 0; at < shape.m * shape.n; at += isSample ? 3 : 1) {
    const std::int64_t m = at / shape.n, n = at % shape.n;
    if (exact && a.matrix) {
      ASSERT_EQ(c[at], numerics::dot(vectorOf(*a.matrix, m), vectorOf(b, n))) << m << ", " << n;
      continue;
    }
    const bool isExpanded =
        left.scale == nullptr && shape.m > plan.mostFewRows && plan.groupsInBlock == plan.groups;
    if (isExpanded)
      ASSERT_EQ(c[at], expandedDot(std::span(a.values).subspan(m * shape.k, shape.k),
                                   vectorOf(b, n), b.outer, plan.isa))
          << m << ", " << n;
    if (plan.digitRows && !isExpanded)
      ASSERT_EQ(c[at], digitDot(std::span(a.values).subspan(m * shape.k, shape.k), vectorOf(b, n)))
          << m << ", " << n;
    Exact wanted = exactOf(a, lefts[m], b, rights[n]);
    if (exact && !isExpanded)
      wanted.bound = digitBound(lefts[m], b, rights[n]);
    ASSERT_LE(std::fabs(c[at] - wanted.value), wanted.bound)
        << m << ", " << n << ": " << c[at] << " for " << wanted.value;
  }
}

TEST_P(ProductFormats, OfEveryPairOfTheTableAreMultipliedOrListed) {
  std::vector<std::pair<std::string, OperandFormat>> lefts = {{"f32", floatOperand()}};
  for (const format::ScaledFormat& row : format::kScaledFormats)
    lefts.emplace_back(row.name, operandFormat(row));
  Random random(31);
  for (const auto& [name, left] : lefts)
    for (const format::ScaledFormat& row : format::kScaledFormats) {
      const std::string pair = name + "*" + std::string(row.name);
      SCOPED_TRACE(pair);
      for (const Shape& shape : kShapes) {
        const OperandFormat right = operandFormat(row);
        const auto plan = productPlan(left, right, shape.k, GetParam());
        const auto refusal = kRefusals.find(pair);
        if (refusal != kRefusals.end()) {
          ASSERT_FALSE(plan) << "listed as refused";
          ASSERT_NE(plan.error().find(refusal->second), std::string::npos) << plan.error();
          continue;
        }
        ASSERT_TRUE(plan) << plan.error();
        SCOPED_TRACE(std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
                     std::to_string(shape.k));
        ASSERT_NO_FATAL_FAILURE(expectProduct(left, right, shape, *plan, execution(), random));
      }
    }
}

/// Formats beyond the table: every narrow element, and blocks of other lengths.
TEST_P(ProductFormats, OfEveryNarrowElementAreMultiplied) {
  Random random(37);
  for (const format::ElementFormat& element : format::kElementFormats) {
    if (!element.isNarrow() || !element.hasZero())
      continue;
    OperandFormat by16{&element, &kE8M0, 1, 16}, wide{&element, &kE4M3, 1, 64};
    OperandFormat perRow{&element, &kF32, 1, format::kWholeAxis};
    for (const OperandFormat& left : {floatOperand(), by16, wide, perRow, mx("e5m2")})
      for (const OperandFormat& right : {by16, wide, perRow}) {
        SCOPED_TRACE(std::string(left.element->name) + " by " + std::to_string(left.along) + " " +
                     std::string(element.name) + " by " + std::to_string(right.along));
        for (const Shape& shape : {Shape{1, 37, 200}, {9, 20, 130}}) {
          const auto plan = productPlan(left, right, shape.k, GetParam());
          ASSERT_TRUE(plan) << plan.error();
          ASSERT_NO_FATAL_FAILURE(expectProduct(left, right, shape, *plan, execution(), random));
        }
      }
  }
}

TEST_P(ProductFormats, OfFloatActivationsKeepTheirAccuracyFarFromOne) {
  Random random(41);
  for (const OperandFormat& right : {mx("e4m3fn"), mx("int8")})
    for (int exponent : {-90, 90})
      for (const Shape& shape : {Shape{5, 20, 96}, {20, 20, 96}}) {
        Left a;
        a.values = normals(static_cast<std::size_t>(shape.m * shape.k), std::ldexp(1.0f, exponent),
                           random);
        const ScaledTensor b = drawFinite(right, shape.n, shape.k, random);
        const auto plan = productPlan(floatOperand(), right, shape.k, GetParam()).value();
        std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
        multiply(plan, a.packed(plan, execution()), pack(b, Side::Right, plan), c, execution());
        const std::vector<Row> lefts = rowsOf(a, shape), rights = rowsOf(b);
        for (std::int64_t at = 0; at < shape.m * shape.n; ++at) {
          const Row &x = lefts[at / shape.n], &y = rights[at % shape.n];
          Exact wanted = exactOf(a, x, b, y);
          if (plan.digitRows && shape.m <= plan.mostFewRows)
            wanted.bound = digitBound(x, b, y);
          ASSERT_LE(std::fabs(c[at] - wanted.value), wanted.bound) << at << " 2^" << exponent;
        }
      }
}

/// A matrix under f32 scales that are `magnitude` times drawn ones, of every second block along K
/// its reciprocal where `alternates`; row and column 1 are zeros.
ScaledTensor drawFar(const OperandFormat& format, std::int64_t rows, std::int64_t depth,
                     double magnitude, bool alternates, Random& random) {
  ScaledTensor matrix = drawFinite(format, rows, depth, random);
  const std::int64_t along = matrix.type.block[1], grid = (depth + along - 1) / along;
  for (std::size_t i = 0; i < matrix.scales.size(); ++i) {
    const bool isOdd = static_cast<std::int64_t>(i) % grid % 2 == 1;
    const double factor = alternates && isOdd ? 1 / magnitude : magnitude;
    matrix.scales[i] = std::bit_cast<std::uint32_t>(
        static_cast<float>(std::bit_cast<float>(matrix.scales[i]) * factor));
  }
  if (rows > 1)
    std::fill_n(matrix.elements.begin() + depth, depth, 0);
  return matrix;
}

/// The greatest scale of the left side and of the right.
constexpr std::pair<double, double> kFarMagnitudes[] = {
    {1e22, 1e22},   {1e19, 1e20},  {7e35, 7e35},  {1e-20, 1e-18}, {1e-22, 1e-24},
    {1e-41, 1e35},  {1e35, 1e-41}, {1e-38, 1e36}, {1e36, 1e-38},  {1e-42, 1},
    {1e-20, 1e-19}, {1, 1e37},     {1e37, 1e-9}};

/// Two f32 scales whose product is not a number of f32's normal range: neither are sums of zeros
/// NaN nor are those of small numbers less exact.
TEST_P(ProductFormats, OfF32ScalesFarFromOneAreAsNear) {
  Random random(59);
  const auto format = [](std::string_view name) {
    return operandFormat(*format::findScaledFormat(name));
  };
  const std::pair<OperandFormat, OperandFormat> pairs[] = {
      {format("fp8_tensor"), format("fp8_tensor")},   {format("fp8_row"), format("fp8_row")},
      {format("fp8_tensor"), format("fp8_e5m2_row")}, {format("fp8_group"), format("fp8_block")},
      {format("fp8_row"), format("fp8_group")},       {floatOperand(), format("fp8_row")},
      {floatOperand(), format("fp8_block")}};
  int compared = 0, infinite = 0;
  for (const auto& [left, right] : pairs)
    for (const auto& [magnitude, other] : kFarMagnitudes)
      for (const bool alternates : {false, true})
        for (const Shape& shape : {Shape{1, 37, 300}, Shape{5, 20, 384}, Shape{20, 50, 300}}) {
          const bool isPlain = left.scale == nullptr;
          const auto plan = productPlan(left, right, shape.k, GetParam()).value();
          Left a;
          if (isPlain)
            a.values = normals(static_cast<std::size_t>(shape.m * shape.k),
                               static_cast<float>(magnitude), random);
          else
            a.matrix = drawFar(left, shape.m, shape.k, magnitude, alternates, random);
          const ScaledTensor b = drawFar(right, shape.n, shape.k, other, alternates, random);
          std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n), -1.0f);
          multiply(plan, a.packed(plan, execution()), pack(b, Side::Right, plan, execution()), c,
                   execution());
          const std::vector<Row> lefts = rowsOf(a, shape), rights = rowsOf(b);
          for (std::int64_t at = 0; at < shape.m * shape.n; ++at) {
            const Row &x = lefts[at / shape.n], &y = rights[at % shape.n];
            const auto [value, magnitudes] = dotOf(x, y);
            const auto where = ::testing::Message()
                               << (isPlain ? "f32" : left.element->name) << " by " << left.along
                               << ", " << right.element->name << " by " << right.along << ", "
                               << magnitude << " times " << other << ", " << shape.m << " rows, at "
                               << at << ": " << c[at] << " for " << value;
            if (magnitudes < 0x1p127) {
              const double rounded = std::expm1(static_cast<double>(2 * shape.k + 8) * 0x1p-24);
              ASSERT_LE(std::fabs(c[at] - value), rounded * magnitudes + 4 * 0x1p-149) << where;
              ++compared;
            } else if (plan.groupsInBlock == plan.groups && std::fabs(value) > 0x1p129) {
              ASSERT_EQ(c[at], std::copysign(HUGE_VALF, static_cast<float>(value))) << where;
              ++infinite;
            }
          }
        }
  EXPECT_GT(compared, 100000);
  EXPECT_GT(infinite, 10000);
}

/// Values from the whole of f32's range, zeros, infinities and NaN, each row of one kind.
std::vector<float> drawExtreme(std::int64_t rows, std::int64_t depth, Random& random) {
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto kind = random() % 9;
    const int center = static_cast<int>(random() % 277) - 149;
    for (std::int64_t k = 0; k < depth; ++k) {
      const auto r = static_cast<std::uint32_t>(random());
      const float fraction = (r & 1 ? -1.0f : 1.0f) * (1 + static_cast<float>(r >> 9) * 0x1p-23f);
      const int wide = static_cast<int>(random() % 277) - 149;
      switch (kind) {
      case 0: // of one magnitude
        values.push_back(
            std::ldexp(fraction, std::min(center + static_cast<int>(r >> 8 & 3), 127)));
        break;
      case 1:
        values.push_back(std::ldexp(fraction, wide));
        break;
      case 2:
        values.push_back(k % 7 == 3 ? 0x1p120f * fraction : 0x1p-23f * fraction);
        break;
      case 3: // subnormals and zeros
        values.push_back(r & 2 ? std::ldexp(fraction, -127 - static_cast<int>(r >> 8 & 15)) : 0);
        break;
      case 4:
        values.push_back(k % 2 ? -std::numeric_limits<float>::max()
                               : std::numeric_limits<float>::max());
        break;
      case 5:
        values.push_back(k == depth / 2 ? std::copysign(HUGE_VALF, fraction) : fraction);
        break;
      case 6:
        values.push_back(k == 0 ? std::nanf("") : fraction);
        break;
      case 7:
        values.push_back(0);
        break;
      default:
        values.push_back(fraction);
      }
    }
  }
  return values;
}

/// A finite matrix under scales from the whole range of their format, each row's of one kind.
ScaledTensor drawExtreme(const OperandFormat& format, std::int64_t rows, std::int64_t depth,
                         Random& random) {
  ScaledTensor matrix = drawFinite(format, rows, depth, random);
  const auto grid = format::scaleShape(matrix.shape, matrix.type.block);
  const bool isWide = *format.scale == kF32;
  for (std::int64_t row = 0; row < grid[0]; ++row) {
    const auto kind = random() % 5;
    const auto center = static_cast<int>(random() % 254);
    for (std::int64_t i = 0; i < grid[1]; ++i) {
      std::uint32_t& scale = matrix.scales[row * grid[1] + i];
      const int biased = kind == 0   ? 127 + static_cast<int>(random() % 5) - 10
                         : kind == 1 ? center
                         : kind == 2 ? static_cast<int>(random() % 254)
                         : kind == 3 ? static_cast<int>(random() % 3)
                                     : 253 - static_cast<int>(random() % 3);
      if (*format.scale == kE8M0)
        scale = static_cast<std::uint32_t>(biased) + (kind == 4 ? 1 : 0);
      else if (isWide)
        scale = static_cast<std::uint32_t>(biased) << 23 | (random() & 0x7FFFFF);
      else
        scale = random() % 0x7F;
    }
  }
  for (std::int64_t row = 0; row < rows; row += 5)
    std::fill_n(matrix.elements.begin() + row * depth, std::min<std::int64_t>(32, depth), 0);
  if (rows > 2)
    std::fill_n(matrix.elements.begin() + depth, depth, 0);
  if (matrix.type.hasOuterScale) {
    constexpr float kOuter[] = {1, 0.37f, 3e30f, 1e-30f, 1e-41f, 3e38f};
    matrix.outer = kOuter[random() % std::size(kOuter)];
  }
  return matrix;
}

/// f32 rows of which all but one are zeros.
Left onlyRow(const Left& a, std::int64_t rows, std::int64_t only) {
  Left some = a;
  const auto depth = static_cast<std::int64_t>(a.values.size()) / rows;
  for (std::int64_t row = 0; row < rows; ++row)
    if (row != only)
      std::fill_n(some.values.begin() + row * depth, depth, 0.0f);
  return some;
}

/// Whatever the magnitudes, a product is as near to the exact one as others are, infinite only
/// where that is beyond f32, and NaN only where IEEE's products and sums are. It depends neither on
/// the other rows nor on the number of threads.
TEST_P(ProductFormats, OfExtremeValuesAreAsNear) {
  std::vector<std::pair<OperandFormat, OperandFormat>> pairs;
  for (const format::ScaledFormat& row : format::kScaledFormats)
    for (const OperandFormat& left : {floatOperand(), operandFormat(row), mx("e4m3fn"), nvfp4()})
      if (const OperandFormat right = operandFormat(row);
          left.scale == nullptr || !isExactInteger(left) || !isExactInteger(right))
        pairs.emplace_back(left, right);
  const int rounds = std::getenv("OCTAVO_EXHAUSTIVE") == nullptr ? 1 : 40;
  std::int64_t finite = 0, infinite = 0, nan = 0;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t pair = 0; pair < pairs.size(); ++pair)
      for (const std::int64_t m : {1, 2, 4, 9, 17, 40}) {
        Random random(static_cast<std::uint32_t>(1000 * round + 10 * pair + m));
        const auto& [left, right] = pairs[pair];
        const Shape shape{m, 21, m % 2 ? 300 : 96};
        const auto plan = productPlan(left, right, shape.k, GetParam());
        if (!plan)
          continue;
        Left a;
        if (left.scale == nullptr)
          a.values = drawExtreme(shape.m, shape.k, random);
        else
          a.matrix = drawExtreme(left, shape.m, shape.k, random);
        const ScaledTensor b = drawExtreme(right, shape.n, shape.k, random);
        const PackedOperand packed = pack(b, Side::Right, *plan, execution());
        const auto productOf = [&](const Left& side, int threads) {
          std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n), -1.0f);
          multiply(*plan, side.packed(*plan, execution()), packed, c, execution(threads));
          return c;
        };
        const std::vector<float> c = productOf(a, 1);
        ASSERT_EQ(bitsOf(c), bitsOf(productOf(a, 3)));
        const PackedOperand rows = a.packed(*plan, execution());
        std::vector<float> finished(c.size()), wanted(c.size());
        const std::vector<float> bias = normals(static_cast<std::size_t>(shape.n), 1, random);
        multiply(*plan, std::span(&rows, 1), std::span(&packed, 1), finished.data(),
                 {.bias = bias.data(), .activation = Activation::Relu}, execution());
        for (std::size_t i = 0; i < c.size(); ++i)
          wanted[i] = std::max(c[i] + bias[i % bias.size()], 0.0f);
        for (std::size_t i = 0; i < c.size(); ++i)
          ASSERT_TRUE(finished[i] == wanted[i] || std::isnan(c[i])) << i;
        if (left.scale == nullptr) {
          ASSERT_TRUE(multiplyRows(*plan, a.values.data(), shape.k, m, packed, wanted.data(),
                                   shape.n, {}, execution()));
          ASSERT_EQ(bitsOf(c), bitsOf(wanted));
        }
        const std::vector<Row> lefts = rowsOf(a, shape), rights = rowsOf(b);
        const double outer = double{b.outer} * (a.matrix ? a.matrix->outer : 1.0f);
        const bool areDigits = left.scale == nullptr && !plan->floats && m <= plan->mostFewRows;
        for (std::int64_t at = 0; at < shape.m * shape.n; ++at) {
          const Row &x = lefts[at / shape.n], &y = rights[at % shape.n];
          auto [value, magnitudes] = dotOf(x, y);
          value *= outer;
          double bound = std::expm1(static_cast<double>(2 * shape.k + 12) * 0x1p-24) * magnitudes;
          if (areDigits)
            bound = digitBound(x, b, y) / b.outer;
          bound = bound * outer + static_cast<double>(shape.k) * 0x1p-149;
          const auto where = ::testing::Message()
                             << (left.scale ? left.element->name : "f32") << " by "
                             << right.element->name << " under " << right.scale->name << ", round "
                             << round << ", " << m << " rows, at " << at << ": " << c[at] << " for "
                             << value;
          if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(c[at])) << where;
            ++nan;
          } else if (std::fabs(value) - bound > 0x1p128) {
            ASSERT_EQ(c[at], std::copysign(HUGE_VALF, static_cast<float>(value))) << where;
            ++infinite;
          } else if (std::fabs(value) + bound < 0x1.ffffffp127) {
            ASSERT_LE(std::fabs(c[at] - value), bound) << where;
            ++finite;
          }
        }
        if (left.scale == nullptr) {
          const std::int64_t row = m / 2;
          const std::vector<float> alone = productOf(onlyRow(a, m, row), 1);
          const auto ofRow = [&](const std::vector<float>& of) {
            return bitsOf({of.begin() + row * shape.n, of.begin() + (row + 1) * shape.n});
          };
          ASSERT_EQ(ofRow(c), ofRow(alone));
        }
      }
  EXPECT_GT(finite, 50000);
  EXPECT_GT(infinite, 5000);
  EXPECT_GT(nan, 500);
}

/// Product.h states one order of additions for up to 16 rows: what a row's neighbours are does not
/// show.
TEST_P(ProductFormats, OfFewRowsOfFloatsHaveTheBitsOfEachRowAlone) {
  Random random(43);
  const OperandFormat grid = operandFormat(*format::findScaledFormat("fp8_block"));
  for (const OperandFormat& right : {mx("e4m3fn"), mx("e5m2"), grid}) {
    const std::int64_t n = 37, k = 300;
    const ScaledTensor b = drawFinite(right, n, k, random);
    const auto plan = productPlan(floatOperand(), right, k, GetParam()).value();
    const std::vector<float> x = normals(16 * k, 1, random);
    const PackedOperand packed = pack(b, Side::Right, plan, execution());
    auto ofRows = [&](std::int64_t first, std::int64_t rows) {
      std::vector<float> c(static_cast<std::size_t>(rows * n));
      multiply(plan, pack(std::span(x).subspan(first * k, rows * k), plan, execution()), packed, c,
               execution());
      return c;
    };
    std::vector<float> alone;
    for (std::int64_t row = 0; row < 16; ++row)
      std::ranges::copy(ofRows(row, 1), std::back_inserter(alone));
    for (std::int64_t rows : {2, 3, 4, 5, 6, 7, 8, 9, 16}) {
      const std::vector<float> first(alone.begin(), alone.begin() + rows * n);
      EXPECT_EQ(bitsOf(ofRows(0, rows)), bitsOf(first)) << right.element->name << ", " << rows;
    }
  }
}

/// The same of narrow rows, in one pass and in two.
TEST_P(ProductFormats, OfFewRowsOfEightBitsHaveTheBitsOfEachRowAlone) {
  Random random(53);
  const std::int64_t n = 37, k = 300;
  for (const OperandFormat& format : {mx("e4m3fn"), mx("e5m2")}) {
    const auto plan = productPlan(format, format, k, GetParam()).value();
    const std::int64_t most = floatKernels(plan).directRows;
    const PackedOperand right =
        pack(drawFinite(format, n, k, random), Side::Right, plan, execution());
    const std::vector<float> x = normals(most * k, 1, random);
    auto ofRows = [&](std::int64_t first, std::int64_t rows) {
      std::vector<float> c(static_cast<std::size_t>(rows * n));
      const auto left =
          quantizeAndPack(std::span(x).subspan(first * k, rows * k), plan, {}, execution());
      multiply(plan, *left, right, c, execution());
      return c;
    };
    std::vector<float> alone;
    for (std::int64_t row = 0; row < most; ++row)
      std::ranges::copy(ofRows(row, 1), std::back_inserter(alone));
    for (std::int64_t rows = 2; rows <= most; ++rows) {
      const std::vector<float> first(alone.begin(), alone.begin() + rows * n);
      EXPECT_EQ(bitsOf(ofRows(0, rows)), bitsOf(first)) << format.element->name << ", " << rows;
    }
  }
}

TEST_P(ProductFormats, OfActivationsQuantizedInsideTheCallAreThoseOfNumericsQuantize) {
  const OperandFormat perRow{&format::element("int8"), &kF32, 1, format::kWholeAxis};
  std::vector<OperandFormat> lefts = {perRow};
  for (const format::ScaledFormat& row : format::kScaledFormats)
    lefts.push_back(operandFormat(row));
  Random random(17);
  for (const OperandFormat& left : lefts)
    for (const OperandFormat& right :
         {mx("e2m1fn"), mx("e2m3fn"), mx("e3m2fn"), mx("int8"), nvfp4(), mx("e4m3fn")}) {
      SCOPED_TRACE(std::string(left.element->name) + "*" + std::string(right.element->name));
      const Shape shape{13, 40, 150};
      const ScaledTensor w = drawFinite(right, shape.n, shape.k, random);
      std::vector<float> x = normals(static_cast<std::size_t>(shape.m * shape.k), 1, random);
      const std::int64_t extents[] = {shape.m, shape.k};
      auto extent = [](std::int64_t block, std::int64_t n) {
        return block == format::kWholeAxis ? n : std::min(block, n);
      };
      const ScaledTensor a =
          numerics::quantize(x, extents,
                             {left.element,
                              left.scale,
                              {extent(left.across, shape.m), extent(left.along, shape.k)},
                              *left.scale == kE4M3},
                             {})
              .tensor;
      const auto plan = productPlan(left, right, shape.k, GetParam());
      ASSERT_TRUE(plan) << plan.error();
      std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
      const auto packed = quantizeAndPack(x, *plan, {}, execution());
      ASSERT_TRUE(packed);
      multiply(*plan, *packed, pack(w, Side::Right, *plan), c, execution());
      EXPECT_EQ(bitsOf(c), bitsOf(product(a, w, *plan, execution())));

      x[77] = std::nanf("");
      const auto refused = quantizeAndPack(x, *plan, {}, execution());
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().index, 77);
    }
}

} // namespace
} // namespace octavo::kernels
