#include "octavo/Checkpoint/Files/JsonFile.h"

#include "octavo/Checkpoint/Files/InputFile.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

namespace {

constexpr std::size_t kDeepest = 64;
/// An index has about 100 bytes a tensor, so 1 GiB suffices for millions of tensors.
constexpr std::uint64_t kLongestJson = std::uint64_t{1} << 30;

/// Builds the value during parsing. The library's own builder silently keeps the last of two equal
/// keys, and searches the object for each new key: quadratic if there is a key for each tensor.
class Builder : public nlohmann::json_sax<Json> {
public:
  explicit Builder(const std::string& file) : file(file) {}

  std::optional<Error> error;
  Json root;

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override {
    return add(value) != nullptr;
  }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    if (!levels.back().keys.insert(value).second) {
      error = Error{.file = file,
                    .problem = "a key occurs twice in one object",
                    .expected = "each key once",
                    .found = inQuotes(value) + " again",
                    .fix = "remove one: readers disagree on which counts"};
      return false;
    }
    levels.back().key = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& exception) override {
    error = Error{.file = file,
                  .problem = "not valid JSON",
                  .offset = position > 0 ? position - 1 : 0, // the library counts from 1
                  .expected = "JSON in UTF-8",
                  .found = problemOf(exception),
                  .fix = "copy or download it again, or fix it in an editor"};
    return false;
  }

private:
  struct Level {
    Json* value;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  Json* add(Json value) {
    if (levels.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *levels.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(levels.back().key), std::move(value));
    return &members.back().second;
  }

  bool open(Json value) {
    if (levels.size() == kDeepest) {
      error = Error{.file = file,
                    .problem = "its values are nested too deeply",
                    .expected = fmt::format("at most {} levels", kDeepest),
                    .found = "more",
                    .fix = "no configuration needs that: the file is damaged"};
      return false;
    }
    levels.push_back({add(std::move(value)), {}, {}});
    return true;
  }

  bool close() {
    levels.pop_back();
    return true;
  }

  const std::string& file;
  std::vector<Level> levels;
};

} // namespace

std::string problemOf(const nlohmann::json::exception& exception) {
  std::string what = exception.what();
  if (const auto end = what.find("] "); end != std::string::npos)
    what.erase(0, end + 2);
  // The rest of the message quotes arbitrary bytes of the file.
  if (const auto quote = what.find("; last read"); quote != std::string::npos)
    what.resize(quote);
  return what;
}

tl::expected<Json, Error> parseJson(std::string_view text, const std::string& file) {
  // The JSON parser treats a zero byte as the end and would ignore the bytes after it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return tl::unexpected(Error{.file = file,
                                .problem = "not valid JSON",
                                .offset = zero,
                                .expected = "JSON in UTF-8",
                                .found = "a zero byte",
                                .fix = "copy or download it again"});
  Builder builder(file);
  Json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.error)
    return tl::unexpected(std::move(*builder.error));
  return std::move(builder.root);
}

tl::expected<Json, Error> readJson(const std::filesystem::path& path) {
  const auto file = InputFile::open(path);
  if (!file)
    return tl::unexpected(file.error());
  if (file->size() > kLongestJson)
    return tl::unexpected(Error{.file = path.string(),
                                .problem = "too long for a JSON file that describes a checkpoint",
                                .expected = fmt::format("at most {} bytes", kLongestJson),
                                .found = fmt::format("{}", file->size()),
                                .fix = "copy or download it again"});
  std::string text(file->size(), '\0');
  return file->read(0, std::as_writable_bytes(std::span(text))).and_then([&] {
    return parseJson(text, path.string());
  });
}

} // namespace octavo::checkpoint
