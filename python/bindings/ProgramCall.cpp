#include "python/bindings/ProgramCall.h"

#include "python/bindings/Execution.h"
#include "python/bindings/ProgramValues.h"
#include "python/bindings/ScaledTensor.h"
#include "python/bindings/Signals.h"

#include "octavo/Base/Loops.h"
#include "octavo/Base/NearNames.h"
#include "octavo/Base/Threads.h"
#include "octavo/Program/Values/RefusedInput.h"
#include "octavo/Program/Values/StateArguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace octavo::python {

namespace nb = nanobind;

namespace {

using program::Value;

/// Runs the program. The caller does not hold Python's lock.
void run(CalledProgram& program, std::vector<Value> values, program::ResultMemory memory,
         int threads, Signals& signals, std::string& failed) {
  program::RunContext host;
  host.isInterrupted = [&] { return signals.areRaised(); };
  host.print = [](const std::string& text) {
    const nb::gil_scoped_acquire locked;
    nb::print(pythonText(text), nb::str(""));
  };
  const auto work = [&] {
    if (auto done = program.run(std::move(values), host, memory); !done)
      failed = std::move(done.error());
  };
  if (threads > 0)
    base::withThreads(base::usefulThreads(threads), work);
  else
    work();
}

std::vector<std::string> openNames(const Signature& program) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.arguments().size(); ++i)
    if (program.bound(i) == nullptr)
      names.push_back(program.arguments()[i].name);
  return names;
}

bool isSequence(nb::handle given) {
  return PyList_Check(given.ptr()) || PyTuple_Check(given.ptr());
}

bool isMapping(nb::handle given) {
  if (PyDict_Check(given.ptr()))
    return true;
  if (PyObject_CheckBuffer(given.ptr()) || PyMapping_Check(given.ptr()) == 0)
    return false; // NumPy makes arrays of them
  return nb::isinstance(
      given,
      madeOnce([] { return nb::object(nb::module_::import_("collections.abc").attr("Mapping")); }));
}

constexpr std::string_view kLeftOut = "JAX leaves out what a function does not use; jax.jit(..., "
                                      "keep_unused=True) keeps it";

/// Whether the object is neither a number nor an array of any library: perhaps a dataclass that JAX
/// knows as a tree.
bool isOther(nb::handle given) {
  return !PyNumber_Check(given.ptr()) && !PyUnicode_Check(given.ptr()) && !given.is_none() &&
         !PyObject_CheckBuffer(given.ptr()) && !nb::hasattr(given, "__array__") &&
         !nb::hasattr(given, "__dlpack__") && !nb::isinstance<ScaledTensor>(given);
}

/// Whether `given`, passed by position for the argument `name`, is a tree that contains the
/// argument as a leaf. A list can also be the values of an array; it counts as a tree only if JAX's
/// name of the argument has an index.
bool isTree(nb::handle given, std::string_view name) {
  if (isSequence(given)) {
    const std::string_view path = name.substr(rootOf(name).size());
    return path.starts_with('.') ||
           (path.size() > 1 && std::isdigit(static_cast<unsigned char>(path[1])) != 0);
  }
  return isMapping(given) || (rootOf(name) != name && isOther(given));
}

/// The leaves of a tree by the names of their arguments, which begin with `root`.
nb::object leavesOf(std::string_view root, nb::handle tree) {
  return nb::module_::import_("octavo.programs").attr("leaves")(pythonText(root), tree);
}

} // namespace

std::string_view rootOf(std::string_view name) { return name.substr(0, name.find_first_of("[.")); }

std::size_t argumentNamed(std::span<const program::Argument> arguments, const std::string& function,
                          const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    names.push_back(arguments[i].name);
    if (names.back() == name)
      return i;
  }
  const std::vector<std::string> near = base::nearNames(name, names);
  raise(ErrorClass::Program, "@{} has no argument \"{}\"{}{}\n  it has: {}", function, name,
        near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, ", ")),
        rootOf(name) == name ? "" : fmt::format(" ({})", kLeftOut), base::someOf(names));
}

std::vector<Value> valuesOf(const Signature& program, const nb::args& positional,
                            const nb::kwargs& named, nb::object& out) {
  const auto& arguments = program.arguments();
  std::vector<std::optional<Value>> values(arguments.size());
  const auto take = [&](std::size_t i, nb::handle given) {
    values[i] = programValue(arguments[i], program.name(), given);
  };
  const auto takeNamed = [&](const std::string& name, nb::handle given) {
    const std::size_t i = argumentNamed(arguments, program.name(), name);
    if (values[i])
      raise(ErrorClass::Program, "argument \"{}\" of @{} {}", name, program.name(),
            program.bound(i) != nullptr ? "is bound by weights already: leave it out here"
                                        : "is given twice, by position and by name: leave one out");
    take(i, given);
  };
  const auto takeLeaves = [&](std::string_view root, nb::handle tree) {
    for (nb::handle leaf : leavesOf(root, tree))
      takeNamed(nb::cast<std::string>(leaf[0]), leaf[1]);
  };
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const Value* value = program.bound(i))
      values[i] = *value;
  std::size_t next = 0;
  const auto skipTaken = [&] {
    while (next < arguments.size() && values[next])
      ++next;
  };
  const auto open =
      std::ranges::count_if(values, [](const auto& value) { return !value.has_value(); });
  for (nb::handle given : positional) {
    skipTaken();
    if (next == arguments.size() || static_cast<std::ptrdiff_t>(positional.size()) > open)
      raise(
          ErrorClass::Program,
          "@{} takes {} arguments, {} were given; it takes: {} (trees without arrays are none; {})",
          program.name(), openNames(program).size(), positional.size(),
          base::someOf(openNames(program)), kLeftOut);
    const std::string_view name = arguments[next].name;
    if (!isTree(given, name)) {
      take(next++, given);
      continue;
    }
    const std::string_view root = rootOf(name);
    if (root == name)
      raise(ErrorClass::Program,
            "argument \"{}\" of @{} is one array, and a mapping was given; where the program does "
            "not "
            "name its arguments after the leaves of trees, give these one by one "
            "(jax.tree.leaves): {}",
            name, program.name(), base::someOf(openNames(program)));
    takeLeaves(root, given);
    while (next < arguments.size() && rootOf(arguments[next].name) == root)
      ++next;
  }
  for (const auto& [key, given] : named) {
    const auto name = nb::cast<std::string>(key);
    if (name == "out") {
      out = nb::borrow(given);
      continue;
    }
    const auto isArgument = [&] {
      return std::ranges::find(arguments, name, &program::Argument::name) != arguments.end();
    };
    if (isMapping(given) || ((isSequence(given) || isOther(given)) && !isArgument()))
      takeLeaves(name, given);
    else
      takeNamed(name, given);
  }
  std::vector<Value> whole;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!values[i])
      raise(ErrorClass::Program, "argument \"{}\" of @{} has no value: give {}{}",
            arguments[i].name, program.name(), arguments[i].describe(),
            program::sourceOfState(std::span(&arguments[i].name, 1)));
    whole.push_back(std::move(*values[i]));
  }
  return whole;
}

nb::list argumentsOf(const Signature& program) {
  nb::list list;
  for (std::size_t i = 0; i < program.arguments().size(); ++i) {
    const program::Argument& argument = program.arguments()[i];
    list.append(nb::make_tuple(pythonText(argument.name), shapeOf(argument.shape),
                               pythonText(argument.describe()), program.bound(i) != nullptr));
  }
  return list;
}

int threadLimit() {
  const nb::object& limit =
      madeOnce([] { return nb::object(nb::module_::import_("octavo._core").attr("get_threads")); });
  return nb::cast<int>(limit());
}

nb::object call(CalledProgram& program, const nb::args& positional, const nb::kwargs& named) {
  nb::object out = nb::none();
  std::vector<Value> whole = valuesOf(program, positional, named, out);
  auto prepared = withoutLock([&] { return program.prepare(whole); });
  if (!prepared)
    raise(prepared.error().errorClass, "{}", prepared.error().message);
  const std::vector<ProgramResult> results = programResults(*prepared, program, out, whole);
  std::vector<std::span<std::byte>> memory;
  for (const ProgramResult& result : results)
    memory.push_back(result.memory());
  const int threads = threadLimit();
  Signals signals;
  std::string failed;
  withoutLock([&] { run(program, std::move(whole), memory, threads, signals, failed); });
  signals.rethrow();
  if (!failed.empty())
    raise(classOf(failed), "{}", failed);
  if (results.size() == 1)
    return results[0].object();
  nb::list list;
  for (const ProgramResult& result : results)
    list.append(result.object());
  return nb::tuple(list);
}

ErrorClass classOf(const std::string& error) {
  return program::tellsOfRefusedInput(error) ? ErrorClass::NonFinite : ErrorClass::Program;
}

nb::list resultsOf(std::span<const program::Result> results) {
  nb::list list;
  for (const program::Result& result : results)
    list.append(nb::make_tuple(pythonText(result.name), shapeOf(result.shape),
                               numpyName(program::typeInFiles(result.type)),
                               pythonText(program::describe(result.type, result.shape))));
  return list;
}

} // namespace octavo::python
