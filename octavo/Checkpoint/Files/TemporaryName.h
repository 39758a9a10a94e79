// Names of files that are not complete yet.
#pragma once

#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// A new, random name: ".octavo-", 32 hexadecimal digits, ".part".
std::string temporaryName();

/// Whether a file name has that form.
bool isTemporaryName(std::string_view name);

} // namespace octavo::checkpoint
