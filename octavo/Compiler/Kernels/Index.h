// The index of an element as arithmetic on a kernel's loop variables. It is simplified before code
// is emitted, so that a reshape between two others, or a broadcast of a row, leaves no division.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::compiler {

/// A sum of digits of loop variables, each times a factor, plus a constant. A digit is (variable /
/// divisor) mod modulus.
class Index {
public:
  struct Digit {
    int variable;
    std::int64_t divisor, modulus, factor;
    friend bool operator==(const Digit&, const Digit&) = default;
  };

  Index() = default;
  explicit Index(std::int64_t constant) : offset(constant) {}
  /// A variable with values from 0 to extent - 1; 0 if the extent is 1.
  static Index variable(int name, std::int64_t extent);

  llvm::ArrayRef<Digit> digits() const { return sum; }
  std::int64_t constant() const { return offset; }
  /// The value of an index without digits; nullopt if it has any.
  std::optional<std::int64_t> asConstant() const;
  /// The largest value. The smallest is the constant if no factor is negative.
  std::int64_t largest() const;

  Index operator+(const Index& other) const;
  Index operator+(std::int64_t constant) const;
  Index operator*(std::int64_t factor) const;

  struct Division;
  /// Quotient and remainder as sums of digits. nullopt if a carry passes between digits, or the
  /// index may be negative. Precondition: divisor > 0.
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

/// Two numbers, the first less than the second.
using Comparison = std::pair<std::int64_t, std::int64_t>;

/// Records, for its lifetime, the calls of isLess that return true on its thread.
class Comparisons {
public:
  Comparisons();
  ~Comparisons();
  Comparisons(const Comparisons&) = delete;
  Comparisons& operator=(const Comparisons&) = delete;

  /// The recorded comparisons, each once. Empties the record.
  std::vector<Comparison> take() { return kept.takeVector(); }

private:
  friend bool isLess(std::int64_t, std::int64_t);
  llvm::SetVector<Comparison, std::vector<Comparison>> kept;
  Comparisons* around;
};

/// Whether a < b. To be called wherever emitted code is right only if a < b: code that is also to
/// be used for other extents is valid only where the recorded comparisons hold.
bool isLess(std::int64_t a, std::int64_t b);

/// The distance between neighbours along each axis of a row-major tensor, in elements.
llvm::SmallVector<std::int64_t> rowMajorStrides(llvm::ArrayRef<std::int64_t> shape);

/// The number of the element at `indices` in a row-major tensor.
Index linearIndex(llvm::ArrayRef<Index> indices, llvm::ArrayRef<std::int64_t> shape);

} // namespace octavo::compiler
