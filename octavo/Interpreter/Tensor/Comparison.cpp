#include "octavo/Interpreter/Tensor/Comparison.h"

#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Codec.h"
#include "octavo/Interpreter/Tensor/TotalOrder.h"

namespace octavo::interpreter {

namespace {

template <typename T> bool holds(Relation relation, T x, T y) {
  switch (relation) {
  case Relation::EQ:
    return x == y;
  case Relation::NE:
    return x != y;
  case Relation::GE:
    return x >= y;
  case Relation::GT:
    return x > y;
  case Relation::LE:
    return x <= y;
  case Relation::LT:
    return x < y;
  }
  return false;
}

/// Compares complex numbers by the real part, then by the imaginary part.
bool holds(Relation relation, Complex x, Complex y) {
  if (relation == Relation::EQ)
    return x == y;
  if (relation == Relation::NE)
    return x != y;
  return x.real() == y.real() ? holds(relation, x.imag(), y.imag())
                              : holds(relation, x.real(), y.real());
}

} // namespace

Tensor compare(Relation relation, bool isTotalOrder, const Tensor& lhs, const Tensor& rhs) {
  Tensor result = Tensor::zeros(kBoolean, lhs.shape);
  const auto target = result.as<std::uint8_t>();
  const auto fill = [&](const auto& codec, auto order) {
    using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
    const auto x = lhs.as<Container>(), y = rhs.as<Container>();
    for (std::size_t i = 0; i < x.size(); ++i)
      target[i] = holds(relation, order(codec.decode(x[i])), order(codec.decode(y[i])));
  };
  if (lhs.type.isFloat() && isTotalOrder) {
    const ElementFormat& format = lhs.type.format();
    for (std::int64_t i = 0; i < lhs.size(); ++i)
      result.setCode(
          i, holds(relation, totalOrder(format, lhs.code(i)), totalOrder(format, rhs.code(i))));
  } else if (lhs.type.isComplex()) {
    const std::vector<Complex> x = decodeComplex(lhs), y = decodeComplex(rhs);
    for (std::size_t i = 0; i < x.size(); ++i)
      target[i] = holds(relation, x[i], y[i]);
  } else if (lhs.type.isFloat()) {
    withCodec(lhs.type.format(),
              [&](const auto& codec) { fill(codec, [](double value) { return value; }); });
  } else {
    // Flipping the sign bit turns signed order into unsigned order.
    const IntegerType type = lhs.type.integer();
    const std::uint64_t flip = type.isUnsigned || type.width == 1 ? 0 : std::uint64_t{1} << 63;
    withCodec(type, [&](const auto& codec) {
      fill(codec, [&](std::uint64_t value) { return value ^ flip; });
    });
  }
  return result;
}

} // namespace octavo::interpreter
