// The table of backends: the interpreter and the compiler. Commands and Python choose a backend by
// its name and can compare two of them.
#pragma once

#include "octavo/Compiler/Codegen/Compiled.h"

#include <span>
#include <string_view>
#include <vector>

namespace octavo::session {

/// A way to run programs.
struct Backend {
  std::string_view name; ///< of `octavo run --backend`
  compiler::Prepare* prepare;
};

/// All of them. The first is the reference, which the others answer to.
std::span<const Backend* const> all();

/// The one of that name, null if there is none.
const Backend* find(std::string_view name);

/// Their names, in the order of the table.
std::vector<std::string> names();

} // namespace octavo::session
