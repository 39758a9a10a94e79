// What a routine of LAPACK is called on: a batch of matrices, with a line of text that says which
// operands and results there are.
#pragma once

#include "octavo/Interpreter/Lapack/Routines.h"
#include "octavo/Numerics/Tensor.h"

#include <tl/expected.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::interpreter::lapack {

using numerics::ElementType;
using numerics::Tensor;

/// The value of an option of the call: a number, or the code of a letter. Nothing where it is not
/// given.
using Options = std::function<std::optional<std::int64_t>(std::string_view)>;

/// Operands and results of one call. The bytes of a tensor lie as the call's layouts say, which for
/// a matrix of LAPACK's is column after column; its shape is the one of the call.
class Batch {
public:
  /// `signature` is like "T[m,n] T[p] -> T[m,n] i[k]": T is `type`, R its real part or itself, C
  /// its complex type or itself, i a 32-bit integer; letters are extents after those of the batch,
  /// of which k is the lesser of m and n, and l is n - 1, but at least 0. `letters` is like
  /// "side=LR low=#": the options that must be given, and the letters or # for any number. The
  /// error says what does not fit.
  static tl::expected<Batch, std::string> make(std::string_view signature, std::string_view letters,
                                               const ElementType& type,
                                               std::vector<Tensor> operands,
                                               std::vector<Tensor> results, const Options& options);

  std::int64_t size() const { return items; }
  Int extent(char name) const { return extents.at(name); }
  std::int64_t option(std::string_view name) const { return options.find(name)->second; }
  char letter(std::string_view name) const { return static_cast<char>(option(name)); }

  template <typename T> std::span<const T> operand(std::size_t number, std::int64_t item) const {
    return part(operands[number].as<T>(), item);
  }
  template <typename T> std::span<T> result(std::size_t number, std::int64_t item) {
    return part(results[number].as<T>(), item);
  }
  /// The result, which begins as a copy of an operand of its shape.
  template <typename T>
  T* inPlace(std::size_t operandNumber, std::size_t number, std::int64_t item) {
    const std::span<const T> from = operand<T>(operandNumber, item);
    const std::span<T> to = result<T>(number, item);
    std::copy(from.begin(), from.end(), to.begin());
    return to.data();
  }

  std::vector<Tensor> takeResults() && { return std::move(results); }

private:
  template <typename T> std::span<T> part(std::span<T> all, std::int64_t item) const {
    const std::size_t count = items == 0 ? 0 : all.size() / static_cast<std::size_t>(items);
    return all.subspan(static_cast<std::size_t>(item) * count, count);
  }

  std::vector<Tensor> operands, results;
  std::map<char, Int> extents;
  std::map<std::string, std::int64_t, std::less<>> options;
  std::int64_t items = 1;
};

/// LAPACK's wish for a leading extent.
inline Int leading(Int extent) { return extent < 1 ? 1 : extent; }

/// Calls `routine(work, size)` for the size that it wants, then with as much.
template <typename T, typename Routine> void withWork(Routine routine) {
  T wanted{};
  routine(&wanted, -1);
  std::vector<T> work(static_cast<std::size_t>(leading(static_cast<Int>(std::real(wanted)))));
  routine(work.data(), static_cast<Int>(work.size()));
}

} // namespace octavo::interpreter::lapack
