// What the interpreter computes with: a tensor, a scaled tensor, or a tuple of values.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Numerics/Tensor.h"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace octavo::reference {

using numerics::ElementType;
using numerics::ScaledTensor;
using numerics::Tensor;

/// An immutable value. A copy shares the elements, so passing a weight to a function costs nothing.
class Value {
public:
  Value(Tensor tensor) : content(std::make_shared<const Tensor>(std::move(tensor))) {}
  Value(ScaledTensor scaled) : content(std::make_shared<const ScaledTensor>(std::move(scaled))) {}
  static Value tuple(std::vector<Value> elements) { return Value(std::move(elements)); }

  bool isTensor() const { return std::holds_alternative<TensorPointer>(content); }
  bool isScaled() const { return std::holds_alternative<ScaledPointer>(content); }
  bool isTuple() const { return std::holds_alternative<std::vector<Value>>(content); }

  /// Each requires that the value is of that kind.
  const Tensor& tensor() const { return *std::get<TensorPointer>(content); }
  const ScaledTensor& scaled() const { return *std::get<ScaledPointer>(content); }
  const std::vector<Value>& elements() const { return std::get<std::vector<Value>>(content); }

private:
  using TensorPointer = std::shared_ptr<const Tensor>;
  using ScaledPointer = std::shared_ptr<const ScaledTensor>;

  explicit Value(std::vector<Value> elements) : content(std::move(elements)) {}

  std::variant<TensorPointer, ScaledPointer, std::vector<Value>> content;
};

} // namespace octavo::reference
