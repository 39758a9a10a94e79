// The argument out=: a result in memory that the caller provides.
#pragma once

#include "python/bindings/Array.h"

#include <optional>
#include <span>
#include <string_view>

namespace octavo::python {

/// The array of a result: a new one, or the caller's `out`.
class OutputArray {
public:
  /// `given` is None or a writable NumPy array of this shape. Its dtype is that of `format`, or
  /// uint8 if codes have at most 8 bits. If `given` is not row-major or may overlap one of
  /// `inputs`, the result is computed in a new array and copied. `name` is the argument's name for
  /// messages. Raises DtypeError, ShapeError.
  OutputArray(nanobind::handle given, const Shape& shape, const ElementFormat& format,
              std::string_view name, std::span<const Array> inputs);

  /// The row-major array in which the caller computes the result.
  const Array& array() const { return computed; }
  bool isGiven() const { return given.has_value(); }

  /// The computed array in the dtype of its format; copied to the caller's memory if there is
  /// `out`.
  Array stored(const Array& result) const;
  Array stored() const { return stored(computed); }
  /// The result as a Python object: the caller's `out` object itself if there is one.
  nanobind::object toPython(const Array& result) const;
  nanobind::object toPython() const { return toPython(computed); }

private:
  nanobind::object object; ///< the caller's `out`
  std::optional<Array> given;
  Array computed;
};

} // namespace octavo::python
