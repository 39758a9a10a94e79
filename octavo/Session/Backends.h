// The table of backends: interpreter and compiler. Commands and Python choose a backend by name and
// can compare two.
#pragma once

#include "octavo/Compiler/Codegen/Compiled.h"

#include <span>
#include <string_view>
#include <vector>

namespace octavo::session {

/// A way to run programs.
struct Backend {
  std::string_view name; ///< name for `octavo run --backend`
  compiler::Prepare* prepare;
};

/// All backends. The first is the reference, with which the others are compared.
std::span<const Backend* const> all();

/// The backend of that name, or null.
const Backend* find(std::string_view name);

/// The names of all backends, in table order.
std::vector<std::string> names();

} // namespace octavo::session
