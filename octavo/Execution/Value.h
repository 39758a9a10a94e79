// What goes into a program and comes out of it: a tensor, a scaled tensor, a tuple of values, or a
// token.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Numerics/Tensor.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace octavo::execution {

using numerics::ScaledTensor;
using numerics::Tensor;

/// A value that nobody changes while it is shared. A copy shares the elements, so passing a weight
/// to a function costs nothing; what only one holds can be taken and written to.
class Value {
public:
  /// A token: it only orders operations.
  Value() = default;
  Value(Tensor tensor) : content(std::make_shared<Tensor>(std::move(tensor))) {}
  Value(ScaledTensor scaled) : content(std::make_shared<ScaledTensor>(std::move(scaled))) {}
  static Value tuple(std::vector<Value> elements) { return Value(std::move(elements)); }

  bool isToken() const { return std::holds_alternative<std::monostate>(content); }
  bool isTensor() const { return std::holds_alternative<TensorPointer>(content); }
  bool isScaled() const { return std::holds_alternative<ScaledPointer>(content); }
  bool isTuple() const { return std::holds_alternative<std::vector<Value>>(content); }

  /// Each requires that the value is of that kind.
  const Tensor& tensor() const { return *std::get<TensorPointer>(content); }
  const ScaledTensor& scaled() const { return *std::get<ScaledPointer>(content); }
  const std::vector<Value>& elements() const { return std::get<std::vector<Value>>(content); }

  /// Whether both hold the very same tensor, not only an equal one.
  bool isSameAs(const Value& other) const {
    if (isTensor() && other.isTensor())
      return std::get<TensorPointer>(content) == std::get<TensorPointer>(other.content);
    if (isScaled() && other.isScaled())
      return std::get<ScaledPointer>(content) == std::get<ScaledPointer>(other.content);
    return false;
  }

  /// Whether another value holds the same tensor, and may come again with it.
  bool isShared() const {
    if (isTensor())
      return std::get<TensorPointer>(content).use_count() > 1;
    return isScaled() && std::get<ScaledPointer>(content).use_count() > 1;
  }

  /// The tensor, to be written to: the one that was held where this was the only value that held
  /// it and its memory is its own, else a copy. The value is a token afterwards.
  Tensor takeTensor() {
    const TensorPointer held = std::move(std::get<TensorPointer>(content));
    content = std::monostate();
    if (held.use_count() != 1 || held->bytes.isLent())
      return *held;
    // Whoever let go of it last, in another thread, has read it before this one writes.
    std::atomic_thread_fence(std::memory_order_acquire);
    return std::move(*held);
  }

  /// A tensor of the same elements in memory that is lent, of as many bytes.
  Value movedTo(std::span<std::byte> memory) const {
    std::ranges::copy(tensor().bytes, memory.begin());
    return Value(
        Tensor{tensor().type, tensor().shape, numerics::Bytes::lent(memory, /*lender=*/nullptr)});
  }

private:
  using TensorPointer = std::shared_ptr<Tensor>;
  using ScaledPointer = std::shared_ptr<const ScaledTensor>;

  explicit Value(std::vector<Value> elements) : content(std::move(elements)) {}

  std::variant<std::monostate, TensorPointer, ScaledPointer, std::vector<Value>> content;
};

} // namespace octavo::execution
