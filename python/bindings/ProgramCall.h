// Calls of programs from Python.
#pragma once

#include "python/bindings/Errors.h"

#include "octavo/Execution/Host.h"
#include "octavo/Execution/Value.h"
#include "octavo/Runtime/Argument.h"

#include <nanobind/nanobind.h>
#include <tl/expected.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

/// What a function takes, and what of it is bound.
class Signature {
public:
  virtual ~Signature() = default;

  virtual const std::string& name() const = 0;
  virtual const std::vector<runtime::Argument>& arguments() const = 0;
  /// The value of an argument that is bound; null for others.
  virtual const execution::Value* bound(std::size_t argument) const = 0;
};

/// A program during one call.
class CalledProgram : public Signature {
public:
  virtual bool isDonated(std::size_t argument, std::size_t result) const = 0;

  struct Refusal {
    ErrorClass errorClass;
    std::string message;
  };
  /// What it gives for values, one an argument. Python's lock is not held, here and in `run`.
  virtual tl::expected<std::vector<runtime::Result>, Refusal>
  prepare(std::span<const execution::Value> values) = 0;
  /// Runs on the values that it was prepared for.
  virtual tl::expected<void, std::string> run(std::vector<execution::Value> values,
                                              const execution::Host& host,
                                              execution::ResultMemory memory) = 0;
};

/// Calls a program with arguments by position and by name, trees of them, and `out`. Ctrl-C ends
/// it. Raises ProgramError, and what programValue and programResults raise.
nanobind::object call(CalledProgram& program, const nanobind::args& positional,
                      const nanobind::kwargs& named);

/// A value for each argument, of those that are bound and of a call's. `out` takes what is named
/// so.
std::vector<execution::Value> valuesOf(const Signature& program, const nanobind::args& positional,
                                       const nanobind::kwargs& named, nanobind::object& out);

/// That of an error of compiling, binding or running: NonFinite where a quantization refuses what
/// it is given, else Program.
ErrorClass classOf(const std::string& error);

/// Name, shape, NumPy's name of the element type, and the type as text of each.
nanobind::list resultsOf(std::span<const runtime::Result> results);

/// What set_threads gave; 0: as many as there are.
int threadLimit();

/// The name of the tree that JAX gave as an argument, of a leaf's name.
std::string_view rootOf(std::string_view name);

/// The argument of that name. Raises ProgramError with near names.
std::size_t argumentNamed(std::span<const runtime::Argument> arguments, const std::string& function,
                          const std::string& name);

/// Name, shape, type as text, and whether it is bound, of each.
nanobind::list argumentsOf(const Signature& program);

} // namespace octavo::python
