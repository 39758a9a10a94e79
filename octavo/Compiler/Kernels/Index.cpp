#include "octavo/Compiler/Kernels/Index.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace octavo::compiler {

Index Index::variable(int name, std::int64_t extent) {
  Index index;
  if (extent > 1)
    index.sum.push_back({name, 1, extent, 1});
  return index;
}

std::optional<std::int64_t> Index::asConstant() const {
  return sum.empty() ? std::optional(offset) : std::nullopt;
}

std::int64_t Index::largest() const {
  std::int64_t value = offset;
  for (const Digit& digit : sum)
    value += std::max<std::int64_t>(0, (digit.modulus - 1) * digit.factor);
  return value;
}

/// Adds a digit. Adjacent digits of one variable are joined: (v / dm mod n) m f + (v / d mod m) f =
/// (v / d mod mn) f.
void Index::add(Digit digit) {
  for (bool joined = true; joined;) {
    joined = false;
    for (Digit* other = sum.begin(); other != sum.end(); ++other) {
      if (other->variable != digit.variable)
        continue;
      const bool isSame = other->divisor == digit.divisor && other->modulus == digit.modulus;
      const Digit& high = other->divisor > digit.divisor ? *other : digit;
      const Digit& low = other->divisor > digit.divisor ? digit : *other;
      const bool areNeighbours =
          high.divisor == low.divisor * low.modulus && high.factor == low.factor * low.modulus;
      if (!isSame && !areNeighbours)
        continue;
      digit =
          isSame ? Digit{digit.variable, digit.divisor, digit.modulus, digit.factor + other->factor}
                 : Digit{low.variable, low.divisor, low.modulus * high.modulus, low.factor};
      sum.erase(other);
      if (digit.factor == 0)
        return;
      joined = true;
      break;
    }
  }
  const auto place = std::ranges::find_if(sum, [&](const Digit& other) {
    return std::tie(other.variable, other.divisor, other.modulus) >
           std::tie(digit.variable, digit.divisor, digit.modulus);
  });
  sum.insert(place, digit);
}

Index Index::operator+(const Index& other) const {
  Index result = *this;
  result.offset += other.offset;
  for (const Digit& digit : other.sum)
    result.add(digit);
  return result;
}

Index Index::operator+(std::int64_t constant) const {
  Index result = *this;
  result.offset += constant;
  return result;
}

Index Index::operator*(std::int64_t factor) const {
  Index result;
  if (factor == 0)
    return result;
  result.offset = offset * factor;
  for (Digit digit : sum) {
    digit.factor *= factor;
    result.sum.push_back(digit);
  }
  return result;
}

std::optional<Index::Division> Index::dividedBy(std::int64_t divisor) const {
  assert(divisor > 0);
  if (divisor == 1)
    return Division{*this, Index()};
  if (offset < 0)
    return std::nullopt;
  Division division{Index(offset / divisor), Index(offset % divisor)};
  for (const Digit& digit : sum) {
    if (digit.factor < 0)
      return std::nullopt;
    if (digit.factor % divisor == 0) {
      division.quotient.add({digit.variable, digit.divisor, digit.modulus, digit.factor / divisor});
      continue;
    }
    const std::int64_t base = divisor / digit.factor;
    if (divisor % digit.factor == 0 && base < digit.modulus && digit.modulus % base == 0) {
      division.quotient.add({digit.variable, digit.divisor * base, digit.modulus / base, 1});
      division.remainder.add({digit.variable, digit.divisor, base, digit.factor});
      continue;
    }
    division.remainder.add(digit);
  }
  if (!isLess(division.remainder.largest(), divisor))
    return std::nullopt;
  return division;
}

static thread_local Comparisons* keeping = nullptr;

Comparisons::Comparisons() : around(std::exchange(keeping, this)) {}
Comparisons::~Comparisons() { keeping = around; }

bool isLess(std::int64_t a, std::int64_t b) {
  if (a < b && keeping != nullptr)
    keeping->kept.insert({a, b});
  return a < b;
}

llvm::SmallVector<std::int64_t> rowMajorStrides(llvm::ArrayRef<std::int64_t> shape) {
  llvm::SmallVector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * std::max<std::int64_t>(shape[axis], 1);
  return strides;
}

Index linearIndex(llvm::ArrayRef<Index> indices, llvm::ArrayRef<std::int64_t> shape) {
  const auto strides = rowMajorStrides(shape);
  Index linear;
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    linear = linear + indices[axis] * strides[axis];
  return linear;
}

} // namespace octavo::compiler
