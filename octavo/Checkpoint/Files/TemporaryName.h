// Names of files that are not whole yet.
#pragma once

#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// A new name that no other file has: ".octavo-", 32 random hexadecimal digits, ".part".
std::string temporaryName();

/// Whether a file's name is of that form.
bool isTemporaryName(std::string_view name);

} // namespace octavo::checkpoint
