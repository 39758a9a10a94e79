// What a program takes from Python and gives back.
#pragma once

#include "python/bindings/Array.h"
#include "python/bindings/ProgramCall.h"

#include "octavo/Execution/Value.h"
#include "octavo/Runtime/Argument.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace octavo::python {

/// A tuple; None for an extent that arguments decide.
nanobind::tuple shapeOf(std::span<const std::int64_t> shape);

/// An array or ScaledTensor as the value of an argument. A row-major array of the argument's dtype
/// is not copied: the value holds on to it. Raises DtypeError, ShapeError, FormatError for codes
/// that are none, NonFiniteError where a quantization refuses a value. `function` is for messages.
execution::Value programValue(const runtime::Argument& argument, const std::string& function,
                              nanobind::handle given);

/// The same for as long as a program lives. What anybody may write to is copied, so that the
/// program goes on with the values that it was given: only arrays of JAX and NumPy arrays that are
/// read-only, themselves and what they are views of, are held.
execution::Value boundValue(const runtime::Argument& argument, const std::string& function,
                            nanobind::handle given);

/// An array that a result lies in.
struct ProgramResult {
  Array array = {};
  nanobind::object given = {}; ///< the caller's; null: the array is new
  int bytesOfElement = 1;

  std::span<std::byte> memory() const {
    return {array.data, array.size() * static_cast<std::size_t>(bytesOfElement)};
  }
  nanobind::object object() const { return given.is_valid() ? given : array.numpy; }
};

/// New arrays for results, or those of `out`: None, the array of the only result, or a sequence of
/// one a result. They are NumPy arrays of the results' dtypes and shapes, row-major, that can be
/// written to and share no memory with one another or with `inputs`, the values of the arguments;
/// but an array that is an argument's and not bound may be that of a result it is donated to.
/// Raises DtypeError, ShapeError.
std::vector<ProgramResult> programResults(std::span<const runtime::Result> results,
                                          const CalledProgram& program, nanobind::handle out,
                                          std::span<const execution::Value> inputs);

} // namespace octavo::python
