#include "python/bindings/ProgramWeights.h"

#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FileTypes.h"
#include "python/bindings/ProgramCall.h"
#include "python/bindings/ProgramValues.h"

#include "octavo/Text/NearNames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <utility>

namespace octavo::python {

namespace nb = nanobind;

std::vector<std::string> weightNames(const std::vector<std::string>& files,
                                     const nb::dict& arrays) {
  auto names = runtime::tensorNames(files);
  if (!names)
    raise(ErrorClass::File, "{}", llvm::toString(names.takeError()));
  for (nb::handle key : arrays.keys())
    names->push_back(nb::cast<std::string>(key));
  return std::move(*names);
}

std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& calibration,
                                                             bool isText) {
  if (calibration.empty())
    return nullptr;
  auto found = isText ? analysis::parseCalibration(calibration, "calibration")
                      : analysis::readCalibration(calibration);
  if (!found)
    raise(ErrorClass::File, "{}", found.error().message());
  const std::string path = isText ? "" : calibration;
  return std::make_shared<const transforms::StaticScales>(
      transforms::StaticScales{isText ? "calibration" : calibration, std::move(*found), path});
}

runtime::Sources sourcesOf(const std::vector<std::string>& files, bool ignoresUnused) {
  runtime::Sources sources = runtime::weightsOf(files, ignoresUnused);
  sources.options = {.array = "weights={NAME: array}", .ignoreUnused = "ignore_unused=True"};
  return sources;
}

std::vector<std::optional<execution::Value>>
namedValues(std::span<const runtime::Argument> arguments, const std::string& function,
            const std::vector<std::string>& files, const nb::dict& arrays, bool ignoresUnused) {
  std::vector<std::optional<execution::Value>> values(arguments.size());
  for (const auto& [key, given] : arrays) {
    const std::size_t i = argumentNamed(arguments, function, nb::cast<std::string>(key));
    values[i] = programValue(arguments[i], function, given);
  }
  if (files.empty())
    return values;
  const runtime::Sources sources = sourcesOf(files, ignoresUnused);
  auto bound = withoutLock([&] { return runtime::bindNamed(arguments, sources, "@" + function); });
  if (!bound) {
    const std::string error = llvm::toString(bound.takeError());
    raise(classOf(error), "{}", error);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if ((*bound)[i])
      values[i] = std::move((*bound)[i]);
  return values;
}

} // namespace octavo::python
