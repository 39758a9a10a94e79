// Weights that Python passes to a program by name, and calibrations.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Value.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Transforms/Quantize/StaticScales.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octavo::python {

/// The argument weights= of Python: files, or arrays by the names of arguments.
struct GivenWeights {
  std::vector<std::string> files;
  nanobind::dict arrays;
  nanobind::set leftOut; ///< names of tree leaves that JAX may have dropped from the program
  bool ignoresUnused;    ///< whether tensors and arrays that match no argument are ignored
};

GivenWeights givenWeights(const nanobind::list& paths, const nanobind::dict& arrays,
                          const nanobind::set& leftOut, bool ignoresUnused);

/// The names of all tensors in the files and of all arrays. Raises FileError.
std::vector<std::string> weightNames(const GivenWeights& weights);

/// Pairs of an argument's index and its array. Raises ProgramError for an array that matches no
/// argument, unless unused arrays are ignored.
std::vector<std::pair<std::size_t, nanobind::handle>>
namedArrays(std::span<const program::Argument> arguments, const std::string& function,
            const GivenWeights& weights);

/// The static scales of a calibration: a file, or its text. Null if `calibration` is empty. Raises
/// FileError.
std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& calibration,
                                                             bool isText);

/// The weight files as sources, with messages in terms of Python's arguments.
session::Sources sourcesOf(const GivenWeights& weights);

/// The value of each argument that a file or an array names; nullopt for the others.
std::vector<std::optional<program::Value>> namedValues(std::span<const program::Argument> arguments,
                                                       const std::string& function,
                                                       const GivenWeights& weights);

} // namespace octavo::python
