// Values of programs: a tensor, a scaled tensor, a tuple of values, or a token. A tensor may also
// be unread, for executables that read it once, in pieces.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Values/PackedForms.h"

#include <tl/expected.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace octavo::program {

using numerics::ScaledTensor;
using numerics::Tensor;

/// A tensor that is not in memory but, say, in a file. Its elements are laid out as in a Tensor.
struct UnreadTensor {
  numerics::ElementType type;
  std::vector<std::int64_t> shape;
  /// Copies the bytes from `offset` on; any thread may call it. The error is that of the file.
  std::function<tl::expected<void, std::string>(std::uint64_t offset, std::span<std::byte> to)>
      read;

  std::size_t bytes() const {
    return static_cast<std::size_t>(numerics::elementCount(shape)) *
           static_cast<std::size_t>(type.bytes());
  }
};

/// An immutable value. A copy shares the elements, so that passing a weight costs nothing. A sole
/// owner can take the tensor and write to it.
class Value {
public:
  /// A token, which only orders operations.
  Value() = default;
  Value(Tensor tensor) : content(hold(std::move(tensor))) {}
  Value(ScaledTensor scaled) : content(hold(std::move(scaled))) {}
  /// Only for an Executable that takes it (Executable::takesUnread).
  explicit Value(UnreadTensor unread) : content(hold(std::move(unread))) {}
  static Value tuple(std::vector<Value> elements) { return Value(std::move(elements)); }

  bool isToken() const { return std::holds_alternative<std::monostate>(content); }
  bool isTensor() const { return std::holds_alternative<TensorPointer>(content); }
  bool isScaled() const { return std::holds_alternative<ScaledPointer>(content); }
  bool isUnread() const { return std::holds_alternative<UnreadPointer>(content); }
  bool isTuple() const { return std::holds_alternative<std::vector<Value>>(content); }

  /// Each requires a value of that kind.
  const Tensor& tensor() const { return std::get<TensorPointer>(content)->value; }
  const ScaledTensor& scaled() const { return std::get<ScaledPointer>(content)->value; }
  const UnreadTensor& unread() const { return std::get<UnreadPointer>(content)->value; }
  const std::vector<Value>& elements() const { return std::get<std::vector<Value>>(content); }

  /// The packed forms of the elements. Requires a tensor, a scaled tensor or an unread one.
  PackedForms& forms() const {
    if (isTensor())
      return std::get<TensorPointer>(content)->forms;
    return isScaled() ? std::get<ScaledPointer>(content)->forms
                      : std::get<UnreadPointer>(content)->forms;
  }

  /// Whether both hold the same tensor object, not only an equal one.
  bool isSameAs(const Value& other) const { return held() != nullptr && held() == other.held(); }

  /// Whether another value holds the same tensor, and may be passed to another run.
  bool isShared() const {
    if (isTensor())
      return std::get<TensorPointer>(content).use_count() > 1;
    if (isUnread())
      return std::get<UnreadPointer>(content).use_count() > 1;
    return isScaled() && std::get<ScaledPointer>(content).use_count() > 1;
  }

  /// The tensor, for writing: the held tensor itself if this value is its only owner and its memory
  /// is not lent; else a copy. The value becomes a token.
  Tensor takeTensor() {
    const TensorPointer held = std::move(std::get<TensorPointer>(content));
    content = std::monostate();
    if (held.use_count() != 1 || held->value.bytes.isLent())
      return held->value;
    // The last owner in another thread has finished reading before this thread writes.
    std::atomic_thread_fence(std::memory_order_acquire);
    return std::move(held->value);
  }

  /// A tensor value with the same elements in `memory`, which is lent to it. The sizes must be
  /// equal.
  Value movedTo(std::span<std::byte> memory) const {
    std::ranges::copy(tensor().bytes, memory.begin());
    return Value(
        Tensor{tensor().type, tensor().shape, numerics::Bytes::lent(memory, /*lender=*/nullptr)});
  }

private:
  template <typename T> struct Held {
    explicit Held(T value) : value(std::move(value)) {}
    T value;
    PackedForms forms;
  };
  template <typename T> static std::shared_ptr<Held<T>> hold(T value) {
    return std::make_shared<Held<T>>(std::move(value));
  }
  using TensorPointer = std::shared_ptr<Held<Tensor>>;
  using ScaledPointer = std::shared_ptr<Held<ScaledTensor>>;
  using UnreadPointer = std::shared_ptr<Held<UnreadTensor>>;

  const void* held() const {
    if (isTensor())
      return std::get<TensorPointer>(content).get();
    if (isScaled())
      return std::get<ScaledPointer>(content).get();
    return isUnread() ? std::get<UnreadPointer>(content).get() : nullptr;
  }

  explicit Value(std::vector<Value> elements) : content(std::move(elements)) {}

  std::variant<std::monostate, TensorPointer, ScaledPointer, UnreadPointer, std::vector<Value>>
      content;
};

} // namespace octavo::program
