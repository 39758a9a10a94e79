// The operands and results of a LAPACK call on a batch of matrices, checked against the routine's
// signature.
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

/// Returns the value of an option of the call: a number, or the code of a letter. nullopt if the
/// option is not given.
using Options = std::function<std::optional<std::int64_t>(std::string_view)>;

/// The operands and results of one call. The bytes of a tensor are in the call's layouts: for
/// matrices of LAPACK column-major. The shape is that of the call.
class Batch {
public:
  /// Checks operands, results and options. The error says what does not fit.
  /// `signature` is like "T[m,n] T[p] -> T[m,n] i[k]". T is `type`; R its real part, or `type` if
  /// that is real; C its complex type, or `type` if that is complex; i a 32-bit integer. Letters in
  /// brackets are the extents after the batch's. k is min(m, n), and l is max(n - 1, 0).
  /// `letters` is like "side=LR low=#": the required options, each with its permitted letters, or #
  /// for any number.
  static tl::expected<Batch, std::string> make(std::string_view signature, std::string_view letters,
                                               const ElementType& type,
                                               std::vector<Tensor> operands,
                                               std::vector<Tensor> results, const Options& options);

  /// The batch size.
  std::int64_t size() const { return items; }
  /// The extent that the letter `name` of the signature stands for.
  Int extent(char name) const { return extents.at(name); }
  /// The value of a required option, as a number or a letter.
  std::int64_t option(std::string_view name) const { return options.find(name)->second; }
  char letter(std::string_view name) const { return static_cast<char>(option(name)); }

  /// The elements of sample `item` of an operand or a result.
  template <typename T> std::span<const T> operand(std::size_t number, std::int64_t item) const {
    return part(operands[number].as<T>(), item);
  }
  template <typename T> std::span<T> result(std::size_t number, std::int64_t item) {
    return part(results[number].as<T>(), item);
  }
  /// Copies the operand to the result of the same shape and returns the result's elements, for
  /// routines that work in place.
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

/// A leading dimension as LAPACK requires it: at least 1.
inline Int leading(Int extent) { return extent < 1 ? 1 : extent; }

/// Calls `routine(work, size)` twice: with size -1, which queries the size of the workspace, then
/// with a workspace of that size.
template <typename T, typename Routine> void withWork(Routine routine) {
  T wanted{};
  routine(&wanted, -1);
  std::vector<T> work(static_cast<std::size_t>(leading(static_cast<Int>(std::real(wanted)))));
  routine(work.data(), static_cast<Int>(work.size()));
}

} // namespace octavo::interpreter::lapack
