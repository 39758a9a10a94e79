// Strict JSON: UTF-8, no key twice in an object, keys in file order.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Keeps the order of keys, so that a rewritten file differs only where it must. Finding a key is
/// linear in the object's size: iterate over objects that have a key for each tensor.
using Json = nlohmann::ordered_json;

/// Parses `text`; errors name `file`. Errors: invalid JSON, with the offset; a key twice in one
/// object; values nested more than 64 deep; text after the value.
tl::expected<Json, Error> parseJson(std::string_view text, const std::string& file);

/// The parser's description of the error, without its numbers and without bytes of the file.
std::string problemOf(const nlohmann::json::exception& exception);

/// parseJson for a regular file of at most 1 GiB.
tl::expected<Json, Error> readJson(const std::filesystem::path& path);

} // namespace octavo::checkpoint
