// JSON read strictly: UTF-8, no key twice in an object, the order of keys kept.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Keeps the order of keys, so that a rewritten file differs only where it must. Looking up a key
/// is linear in the object's size: objects with a key for each tensor are walked, not searched.
using Json = nlohmann::ordered_json;

/// Reads `text`; `file` stands for it in errors. Errors: what is no JSON, with the offset; a key
/// twice in one object; values nested more than 64 deep; text after the value.
tl::expected<Json, Error> parseJson(std::string_view text, const std::string& file);

/// What the parser stopped at, in its words, without its numbers and without bytes of the file.
std::string problemOf(const nlohmann::json::exception& exception);

/// The same as parseJson of a regular file of at most 1 GiB.
tl::expected<Json, Error> readJson(const std::filesystem::path& path);

} // namespace octavo::checkpoint
