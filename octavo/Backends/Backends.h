// The table of what runs programs. Reference and Runtime do not know one another; here both are
// known, so that commands and Python choose a backend by its name and hold one against another.
#pragma once

#include "octavo/Execution/Executable.h"

#include <span>
#include <string_view>
#include <vector>

namespace octavo::backends {

/// All of them. The first is the reference, which the others answer to.
std::span<const execution::Backend* const> all();

/// The one of that name, null if there is none.
const execution::Backend* find(std::string_view name);

/// Their names, in the order of the table.
std::vector<std::string> names();

} // namespace octavo::backends
