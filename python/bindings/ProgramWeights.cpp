#include "python/bindings/ProgramWeights.h"

#include "python/bindings/Errors.h"
#include "python/bindings/FileTypes.h"
#include "python/bindings/Interruptible.h"
#include "python/bindings/Options.h"
#include "python/bindings/ProgramCall.h"
#include "python/bindings/ProgramValues.h"

#include "octavo/Base/NearNames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <tl/expected.hpp>

#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace octavo::python {

namespace nb = nanobind;

GivenWeights givenWeights(const nb::list& paths, const nb::dict& arrays, const nb::set& leftOut,
                          bool ignoresUnused) {
  GivenWeights weights{{}, arrays, leftOut, ignoresUnused};
  for (nb::handle path : paths)
    weights.files.push_back(pathOf(path, "weights"));
  return weights;
}

std::vector<std::string> weightNames(const GivenWeights& weights) {
  auto names = session::tensorNames(weights.files);
  if (!names)
    raise(ErrorClass::File, "{}", llvm::toString(names.takeError()));
  for (nb::handle key : weights.arrays.keys())
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

std::vector<std::pair<std::size_t, nb::handle>>
namedArrays(std::span<const program::Argument> arguments, const std::string& function,
            const GivenWeights& weights) {
  std::map<std::string_view, std::size_t> numbers;
  std::set<std::string_view> roots;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    numbers.emplace(arguments[i].name, i);
    roots.insert(rootOf(arguments[i].name));
  }
  std::vector<std::pair<std::size_t, nb::handle>> named;
  for (const auto& [key, given] : weights.arrays) {
    const auto name = nb::cast<std::string>(key);
    const bool isLeftOut = weights.leftOut.contains(key) && roots.contains(rootOf(name));
    if (const auto found = numbers.find(name); found != numbers.end())
      named.emplace_back(found->second, given);
    else if (!weights.ignoresUnused && !isLeftOut)
      argumentNamed(arguments, function, name); // raises ProgramError
  }
  return named;
}

session::Sources sourcesOf(const GivenWeights& weights) {
  session::Sources sources = session::weightsOf(weights.files, weights.ignoresUnused);
  sources.options = {.array = "weights={NAME: array}", .ignoreUnused = "ignore_unused=True"};
  return sources;
}

std::vector<std::optional<program::Value>> namedValues(std::span<const program::Argument> arguments,
                                                       const std::string& function,
                                                       const GivenWeights& weights) {
  std::vector<std::optional<program::Value>> values(arguments.size());
  for (const auto& [i, given] : namedArrays(arguments, function, weights)) {
    raiseSignals();
    values[i] = boundValue(arguments[i], function, given);
  }
  if (weights.files.empty())
    return values;
  using BoundOrText = tl::expected<std::vector<std::optional<program::Value>>, std::string>;
  auto bound = interruptibly(
      [taken = std::vector<program::Argument>(arguments.begin(), arguments.end()),
       sources = sourcesOf(weights), name = "@" + function](const auto&) -> BoundOrText {
        auto found = session::bindNamed(taken, sources, name);
        if (!found)
          return tl::make_unexpected(llvm::toString(found.takeError()));
        return std::move(*found);
      });
  if (!bound)
    raise(classOf(bound.error()), "{}", bound.error());
  for (std::size_t i = 0; i < values.size(); ++i)
    if ((*bound)[i])
      values[i] = std::move((*bound)[i]);
  return values;
}

} // namespace octavo::python
