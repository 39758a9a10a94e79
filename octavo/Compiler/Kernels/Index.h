// Where an element lies, as arithmetic on the loops of a kernel that is simplified before any code
// is made of it: a reshape between two others, or a broadcast of a row, leaves no division behind.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::compiler {

/// A sum of digits of loop variables, each times a factor, and a constant. A digit is
/// (variable / divisor) mod modulus.
class Index {
public:
  struct Digit {
    int variable;
    std::int64_t divisor, modulus, factor;
    friend bool operator==(const Digit&, const Digit&) = default;
  };

  Index() = default;
  explicit Index(std::int64_t constant) : offset(constant) {}
  /// A variable that takes the values from 0 to extent - 1.
  static Index variable(int name, std::int64_t extent);

  llvm::ArrayRef<Digit> digits() const { return sum; }
  std::int64_t constant() const { return offset; }
  std::optional<std::int64_t> asConstant() const;
  /// The largest value. The least is the constant, where no factor is negative.
  std::int64_t largest() const;

  Index operator+(const Index& other) const;
  Index operator+(std::int64_t constant) const;
  Index operator*(std::int64_t factor) const;

  struct Division;
  /// Quotient and remainder, where they are sums of digits; nothing where a carry passes between
  /// digits. The divisor is positive, the index not negative.
  std::optional<Division> dividedBy(std::int64_t divisor) const;

  friend bool operator==(const Index&, const Index&) = default;

private:
  void add(Digit digit);

  llvm::SmallVector<Digit, 3> sum; ///< sorted, neighbours joined
  std::int64_t offset = 0;
};

struct Index::Division {
  Index quotient, remainder;
};

/// Two numbers of which the first is the less.
using Comparison = std::pair<std::int64_t, std::int64_t>;

/// While it lives, keeps what isLess says yes to on its thread.
class Comparisons {
public:
  Comparisons();
  ~Comparisons();
  Comparisons(const Comparisons&) = delete;
  Comparisons& operator=(const Comparisons&) = delete;

  /// Each once.
  std::vector<Comparison> take() { return kept.takeVector(); }

private:
  friend bool isLess(std::int64_t, std::int64_t);
  llvm::SetVector<Comparison, std::vector<Comparison>> kept;
  Comparisons* around;
};

/// Whether a < b, where code is right only if it is: code that is to be of other extents, too, is
/// held against these.
bool isLess(std::int64_t a, std::int64_t b);

/// Row-major distances between neighbours along each axis.
llvm::SmallVector<std::int64_t> rowMajorStrides(llvm::ArrayRef<std::int64_t> shape);

/// The number of the element at `indices` in a row-major tensor.
Index linearIndex(llvm::ArrayRef<Index> indices, llvm::ArrayRef<std::int64_t> shape);

} // namespace octavo::compiler
