// Calls of programs from Python.
#pragma once

#include "python/bindings/Errors.h"

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/RunContext.h"
#include "octavo/Program/Values/Value.h"

#include <nanobind/nanobind.h>
#include <tl/expected.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

/// The arguments of a program's function, and the values of those that are bound.
class Signature {
public:
  virtual ~Signature() = default;

  virtual const std::string& name() const = 0;
  virtual const std::vector<program::Argument>& arguments() const = 0;
  /// The value of a bound argument; null for an open argument.
  virtual const program::Value* bound(std::size_t argument) const = 0;
};

/// A program that Python calls. `prepare` comes first, then `run` with the same values.
class CalledProgram : public Signature {
public:
  virtual bool isDonated(std::size_t argument, std::size_t result) const = 0;

  struct Refusal {
    ErrorClass errorClass;
    std::string message;
  };
  /// Prepares the program for these values, one for each argument, and returns the types of its
  /// results. The caller of `prepare` and `run` does not hold Python's lock.
  virtual tl::expected<std::vector<program::Result>, Refusal>
  prepare(std::span<const program::Value> values) = 0;
  /// Runs the program on the values of the last `prepare`.
  virtual tl::expected<void, std::string> run(std::vector<program::Value> values,
                                              const program::RunContext& host,
                                              program::ResultMemory memory) = 0;
};

/// Calls a program with arguments by position and by name, trees of arguments, and `out`. Ctrl-C
/// interrupts the call. Raises ProgramError, and the errors of programValue and programResults.
nanobind::object call(CalledProgram& program, const nanobind::args& positional,
                      const nanobind::kwargs& named);

/// A value for each argument: the bound value or the call's. The call's argument named `out` is
/// moved to `out`.
std::vector<program::Value> valuesOf(const Signature& program, const nanobind::args& positional,
                                     const nanobind::kwargs& named, nanobind::object& out);

/// The class of an error of compiling, binding or running: NonFinite if a quantization refuses a
/// value, else Program.
ErrorClass classOf(const std::string& error);

/// A list with a tuple for each result: name, shape, NumPy's name of the dtype, type as text.
nanobind::list resultsOf(std::span<const program::Result> results);

/// The limit that octavo.set_threads has set; 0 stands for the number of threads of the machine.
int threadLimit();

/// The name of the argument in the name that JAX gave one of its leaves: "p" of "p['w'][0]".
std::string_view rootOf(std::string_view name);

/// The index of the argument with this name. Raises ProgramError, which suggests similar names.
std::size_t argumentNamed(std::span<const program::Argument> arguments, const std::string& function,
                          const std::string& name);

/// A list with a tuple for each argument: name, shape, type as text, whether it is bound.
nanobind::list argumentsOf(const Signature& program);

} // namespace octavo::python
