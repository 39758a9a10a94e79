// Weights and inputs that Python gives a program by name, and what it gives of calibrations.
#pragma once

#include "octavo/Execution/Value.h"
#include "octavo/Runtime/Argument.h"
#include "octavo/Runtime/Binding.h"
#include "octavo/Transforms/StaticScales.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octavo::python {

/// Files of weights, and arrays by the names of arguments.
struct GivenWeights {
  std::vector<std::string> files;
  nanobind::dict arrays;
  nanobind::set leftOut; ///< leaves of trees that JAX may have left out
  bool ignoresUnused;    ///< no tensor, and no array, need be an argument's
};

GivenWeights givenWeights(const nanobind::list& paths, const nanobind::dict& arrays,
                          const nanobind::set& leftOut, bool ignoresUnused);

/// The names of what files and arrays have. Throws File.
std::vector<std::string> weightNames(const GivenWeights& weights);

/// The arrays beside the arguments that they are for. Raises ProgramError for one that is for none,
/// unless it need not be.
std::vector<std::pair<std::size_t, nanobind::handle>>
namedArrays(std::span<const runtime::Argument> arguments, const std::string& function,
            const GivenWeights& weights);

/// The calibration of a file, or the one that the text is; null where it is empty. Throws File.
std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& calibration,
                                                             bool isText);

/// Files of weights; messages say what to do in Python.
runtime::Sources sourcesOf(const GivenWeights& weights);

/// The values of the arguments that files and arrays name; nothing for the others.
std::vector<std::optional<execution::Value>>
namedValues(std::span<const runtime::Argument> arguments, const std::string& function,
            const GivenWeights& weights);

} // namespace octavo::python
