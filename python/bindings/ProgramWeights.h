// Weights and inputs that Python gives a program by name, and what it gives of calibrations.
#pragma once

#include "octavo/Execution/Value.h"
#include "octavo/Runtime/Argument.h"
#include "octavo/Runtime/Binding.h"
#include "octavo/Transforms/StaticScales.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::python {

/// The names of what files and arrays have. Throws File.
std::vector<std::string> weightNames(const std::vector<std::string>& files,
                                     const nanobind::dict& arrays);

/// The calibration of a file, or the one that the text is; null where it is empty. Throws File.
std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& calibration,
                                                             bool isText);

/// Files of weights; messages say what to do in Python.
runtime::Sources sourcesOf(const std::vector<std::string>& files, bool ignoresUnused);

/// The values of the arguments that files and arrays name; nothing for the others.
std::vector<std::optional<execution::Value>>
namedValues(std::span<const runtime::Argument> arguments, const std::string& function,
            const std::vector<std::string>& files, const nanobind::dict& arrays,
            bool ignoresUnused);

} // namespace octavo::python
