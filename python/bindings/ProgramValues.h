// Values and result arrays of programs from and to Python's objects.
#pragma once

#include "python/bindings/Array.h"
#include "python/bindings/ProgramCall.h"

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Value.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace octavo::python {

/// The shape as a Python tuple; None stands for an open extent.
nanobind::tuple shapeOf(std::span<const std::int64_t> shape);

/// The value of an array or ScaledTensor for an argument. A row-major array of the argument's dtype
/// is not copied; the value keeps a reference to it. `function` is the function's name for
/// messages. Raises DtypeError, ShapeError, FormatError for a byte that is not a code, and
/// NonFiniteError if a quantization refuses a value.
program::Value programValue(const program::Argument& argument, const std::string& function,
                            nanobind::handle given);

/// The value of an array or ScaledTensor that stays bound to the program. Memory that could be
/// written to later is copied. Only JAX arrays, and NumPy arrays that are read-only along with the
/// arrays they are views of, are shared. Raises as programValue does.
program::Value boundValue(const program::Argument& argument, const std::string& function,
                          nanobind::handle given);

/// The array to which a result is written.
struct ProgramResult {
  Array array = {};
  nanobind::object given = {}; ///< the caller's array of `out`; null if the array is new
  int bytesOfElement = 1;

  std::span<std::byte> memory() const {
    return {array.data, array.size() * static_cast<std::size_t>(bytesOfElement)};
  }
  nanobind::object object() const { return given.is_valid() ? given : array.numpy; }
};

/// The arrays of the results: those of `out`, or new arrays if `out` is None. `out` is the array of
/// the only result, or a sequence with an array for each result: writable row-major NumPy arrays of
/// the results' dtypes and shapes. They must overlap neither one another nor `inputs`, the values
/// of the arguments, with one exception: the array of an open argument may be that of a result to
/// which the argument is donated. Raises DtypeError, ShapeError.
std::vector<ProgramResult> programResults(std::span<const program::Result> results,
                                          const CalledProgram& program, nanobind::handle out,
                                          std::span<const program::Value> inputs);

} // namespace octavo::python
