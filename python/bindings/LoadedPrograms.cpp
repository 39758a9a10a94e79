// The extension module octavo._loaded: loads and calls programs that `octavo compile` wrote. It
// does not need MLIR. It is separate from octavo._core to keep the code of the steps out of that
// module.
#include "python/bindings/Array.h"
#include "python/bindings/Errors.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Interruptible.h"
#include "python/bindings/ProgramCall.h"
#include "python/bindings/ProgramValues.h"

#include "octavo/Program/Folder/LoadedProgram.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

namespace octavo::python {

namespace nb = nanobind;

namespace {

using program::LoadedProgram;
using program::Value;

/// A loaded program during a call from Python.
class Loaded : public CalledProgram {
public:
  explicit Loaded(std::unique_ptr<LoadedProgram> loaded) : program(std::move(loaded)) {
    for (const LoadedProgram::Tensor& tensor : program->arguments())
      taken.push_back({.name = tensor.name, .shape = openShape(tensor), .type = tensor.type});
    for (const LoadedProgram::Tensor& tensor : program->results())
      given.push_back({tensor.name, tensor.type, openShape(tensor)});
  }

  const std::string& name() const override { return program->function(); }
  const std::vector<program::Argument>& arguments() const override { return taken; }
  const std::vector<program::Result>& results() const { return given; }
  const Value* bound(std::size_t /*argument*/) const override { return nullptr; }
  bool isDonated(std::size_t argument, std::size_t result) const override {
    const auto& donations = program->donations();
    return std::ranges::find(donations, program::Donation{argument, result}) != donations.end();
  }
  tl::expected<std::vector<program::Result>, Refusal>
  prepare(std::span<const Value> values) override {
    const auto items = program->itemsOf(values);
    if (!items)
      return tl::make_unexpected(Refusal{ErrorClass::Shape, items.error()});
    std::vector<program::Result> results;
    for (const LoadedProgram::Tensor& tensor : program->results())
      results.push_back({tensor.name, tensor.type, tensor.shapeOf(*items)});
    return results;
  }
  tl::expected<void, std::string> run(std::vector<Value> values, const program::RunContext& host,
                                      program::ResultMemory memory) override {
    return program->run(std::move(values), host, memory).map([](const auto&) {});
  }

private:
  static std::vector<std::int64_t> openShape(const LoadedProgram::Tensor& tensor) {
    std::vector<std::int64_t> shape = tensor.ofOne;
    if (tensor.openAxis() >= 0)
      shape[static_cast<std::size_t>(tensor.openAxis())] = program::kUnknownExtent;
    return shape;
  }

  std::unique_ptr<LoadedProgram> program;
  std::vector<program::Argument> taken;
  std::vector<program::Result> given;
};

std::unique_ptr<Loaded> load(const nb::bytes& folder) {
  const std::string path(folder.c_str(), folder.size());
  auto loaded = interruptibly([path](const auto&) { return LoadedProgram::load(path); });
  if (!loaded)
    raise(ErrorClass::Program, "{}", loaded.error());
  return std::make_unique<Loaded>(std::move(*loaded));
}

nb::object callLoaded(Loaded& program, const nb::args& positional, const nb::kwargs& named) {
  return call(program, positional, named);
}

} // namespace

} // namespace octavo::python

NB_MODULE(_loaded, module) {
  using namespace octavo::python;
  nanobind::set_leak_warnings(false);
  nanobind::module_::import_("octavo._core"); // defines ScaledTensor
  registerErrors();
  nanobind::class_<Loaded>(module, "Program")
      .def("__call__", &callLoaded, DefaultFloats())
      .def_prop_ro("function", [](const Loaded& self) { return self.name(); })
      .def_prop_ro("arguments", [](const Loaded& self) { return argumentsOf(self); })
      .def_prop_ro("results", [](const Loaded& self) { return resultsOf(self.results()); });
  module.def("load", &load, DefaultFloats(), nanobind::arg("folder"));
}
