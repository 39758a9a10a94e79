// The one error type of compiled programs: a message, without LLVM.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace octavo::program {

/// Success, or an error message that names the operation or the file.
using Outcome = tl::expected<void, std::string>;

} // namespace octavo::program
