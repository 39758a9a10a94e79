// out=: a result in memory that the caller gives.
#pragma once

#include "python/bindings/Array.h"

#include <optional>
#include <span>
#include <string_view>

namespace octavo::python {

/// The array that a result is computed in: a new one, or the caller's own.
class OutputArray {
public:
  /// `given` is None, or a NumPy array of that shape in the dtype of `format`, or uint8 for codes
  /// of at most 8 bits, that can be written to. Where it is not row-major or may share memory with
  /// one of `inputs`, the result is computed beside it and copied. `name` is for messages. Raises
  /// DtypeError, ShapeError.
  OutputArray(nanobind::handle given, const Shape& shape, const ElementFormat& format,
              std::string_view name, std::span<const Array> inputs);

  /// Where the result is computed: row-major.
  const Array& array() const { return computed; }
  bool isGiven() const { return given.has_value(); }

  /// The result in the dtype of its format, of what was computed: the caller's memory if given.
  Array stored(const Array& result) const;
  Array stored() const { return stored(computed); }
  /// The same as Python has it: the caller's own object if given.
  nanobind::object toPython(const Array& result) const;
  nanobind::object toPython() const { return toPython(computed); }

private:
  nanobind::object object; ///< the caller's
  std::optional<Array> given;
  Array computed;
};

} // namespace octavo::python
