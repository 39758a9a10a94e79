#include "octavo/Checkpoint/Files/SafetensorsHeader.h"

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Files/PackedCodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_set>

namespace octavo::checkpoint {

namespace {

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr const char* kWriteAgain = "the file was written incorrectly: write it again";

/// Builds the entries during parsing, so that a duplicate key is seen and no number passes through
/// a double.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit HeaderReader(const std::string& file) : file(file) {}

  std::optional<Error> error;
  std::vector<SafetensorsEntry> entries;
  SafetensorsMetadata metadata;

  bool null() override { return refuseValue("null"); }
  bool boolean(bool value) override { return refuseValue(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return refuseValue(std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return refuseValue(text.substr(0, 40));
  }
  bool binary(binary_t&) override { return refuseValue("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place == Place::Shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return refuse("\"shape\" has an extent that is too large", "at most 2^63 - 1",
                      std::to_string(value));
      current().shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place == Place::Offsets) {
      if (offsetsSeen == 2)
        return refuse("\"data_offsets\" has too many numbers", "2", "more");
      (offsetsSeen++ == 0 ? current().begin : current().end) = value;
      return true;
    }
    return refuseValue(std::to_string(value));
  }

  bool string(string_t& value) override {
    if (place == Place::Metadata) {
      metadata.back().second = std::move(value);
      return true;
    }
    if (place != Place::Entry || field != Field::Dtype)
      return refuseValue(inQuotes(value));
    current().dtype = findSafetensorsDtype(value);
    if (current().dtype)
      return true;
    std::vector<std::string_view> names;
    for (const SafetensorsDtype& dtype : safetensorsDtypes())
      names.push_back(dtype.name);
    return refuse("no such dtype", fmt::format("one of {}", fmt::join(names, " ")),
                  inQuotes(value));
  }

  bool start_object(std::size_t) override {
    switch (place) {
    case Place::Start:
      place = Place::Root;
      return true;
    case Place::Root:
      if (inMetadata) {
        place = Place::Metadata;
      } else {
        place = Place::Entry;
        field = Field::None;
        fieldsSeen = 0;
        offsetsSeen = 0;
      }
      return true;
    default:
      return refuseValue("an object");
    }
  }

  bool key(string_t& value) override {
    switch (place) {
    case Place::Root:
      inMetadata = value == kMetadataKey;
      if (!names.insert(value).second) {
        tensor = value;
        return refuse("the name occurs twice in the header", "each name once", "a second one");
      }
      tensor = value;
      if (!inMetadata)
        entries.push_back({value, nullptr, {}, 0, 0});
      return true;
    case Place::Metadata:
      if (!metadataKeys.insert(value).second)
        return refuse("a key occurs twice in __metadata__", "each key once", inQuotes(value));
      metadata.emplace_back(std::move(value), "");
      return true;
    default:
      field = value == "dtype"          ? Field::Dtype
              : value == "shape"        ? Field::Shape
              : value == "data_offsets" ? Field::Offsets
                                        : Field::None;
      if (field == Field::None)
        return refuse("unknown key in its entry", "dtype, shape and data_offsets", inQuotes(value));
      if (fieldsSeen & bit(field))
        return refuse("a key occurs twice in its entry", "each key once", inQuotes(value));
      fieldsSeen |= bit(field);
      return true;
    }
  }

  bool end_object() override {
    if (place == Place::Entry) {
      for (const auto& [each, name] :
           {std::pair(Field::Dtype, "dtype"), std::pair(Field::Shape, "shape"),
            std::pair(Field::Offsets, "data_offsets")})
        if (!(fieldsSeen & bit(each)))
          return refuse("its entry is incomplete", "dtype, shape and data_offsets",
                        fmt::format("no {}", name));
    }
    place = place == Place::Root ? Place::Start : Place::Root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place == Place::Entry && field == Field::Shape)
      place = Place::Shape;
    else if (place == Place::Entry && field == Field::Offsets)
      place = Place::Offsets;
    else
      return refuseValue("an array");
    return true;
  }

  bool end_array() override {
    if (place == Place::Offsets && offsetsSeen != 2)
      return refuse("\"data_offsets\" has too few numbers", "2", std::to_string(offsetsSeen));
    place = Place::Entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& exception) override {
    error = Error{.file = file,
                  .problem = "the header is not valid JSON",
                  .offset = 8 + (position > 0 ? position - 1 : 0), // the library counts from 1
                  .expected = "a JSON object in UTF-8",
                  .found = problemOf(exception),
                  .fix = "the file is damaged or not safetensors"};
    return false;
  }

private:
  enum class Place { Start, Root, Metadata, Entry, Shape, Offsets };
  enum class Field { None, Dtype, Shape, Offsets };
  static unsigned bit(Field field) { return 1u << static_cast<unsigned>(field); }

  SafetensorsEntry& current() { return entries.back(); }

  bool refuse(std::string problem, std::string expected, std::string found) {
    error = Error{.file = file,
                  .problem = std::move(problem),
                  .tensor = tensor,
                  .expected = std::move(expected),
                  .found = std::move(found),
                  .fix = kWriteAgain};
    return false;
  }

  /// The error for a value of a type that is not allowed at this place.
  bool refuseValue(const std::string& found) {
    switch (place) {
    case Place::Start:
      return refuse("the header has the wrong kind of value", "an object", found);
    case Place::Root:
      return refuse("its entry has the wrong kind of value", "an object", found);
    case Place::Metadata:
      return refuse("__metadata__ has the wrong kind of value", "strings only", found);
    case Place::Entry:
      return refuse(fmt::format("\"{}\" has the wrong kind of value",
                                field == Field::Dtype   ? "dtype"
                                : field == Field::Shape ? "shape"
                                                        : "data_offsets"),
                    field == Field::Dtype ? "a string" : "an array", found);
    case Place::Shape:
    case Place::Offsets:
      return refuse(fmt::format("\"{}\" has the wrong kind of number",
                                place == Place::Shape ? "shape" : "data_offsets"),
                    "whole numbers, 0 or more", found);
    }
    return false;
  }

  const std::string& file;
  Place place = Place::Start;
  Field field = Field::None;
  unsigned fieldsSeen = 0;
  int offsetsSeen = 0;
  bool inMetadata = false;
  std::string tensor;
  std::unordered_set<std::string> names;
  std::unordered_set<std::string> metadataKeys;
};

/// Bits of a tensor; nullopt if the product over the nonzero extents exceeds 2^63 - 1. Zero extents
/// are left out so that strides cannot overflow either.
std::optional<std::uint64_t> bitsOf(const SafetensorsEntry& entry) {
  std::int64_t bits = entry.dtype->bits;
  bool isEmpty = false;
  for (std::int64_t extent : entry.shape) {
    isEmpty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bits, extent, &bits))
      return std::nullopt;
  }
  return isEmpty ? 0 : static_cast<std::uint64_t>(bits);
}

std::optional<Error> checkEntries(std::vector<SafetensorsEntry>& entries, std::uint64_t dataLength,
                                  std::uint64_t dataBegin, const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t end = 0;
  std::string previous;
  for (const SafetensorsEntry& entry : entries) {
    const auto refuse = [&](std::string problem, std::string expected, std::string found,
                            std::string fix = kWriteAgain) {
      return Error{.file = file,
                   .problem = std::move(problem),
                   .tensor = entry.name,
                   .offset = dataBegin <= std::numeric_limits<std::uint64_t>::max() - entry.begin
                                 ? std::optional(dataBegin + entry.begin)
                                 : std::nullopt,
                   .expected = std::move(expected),
                   .found = std::move(found),
                   .fix = std::move(fix)};
    };
    if (entry.end < entry.begin)
      return refuse("its data ends before it begins", "begin <= end",
                    fmt::format("data_offsets [{}, {}]", entry.begin, entry.end));
    if (entry.end > dataLength)
      return refuse("its data ends beyond the end of the file",
                    fmt::format("at most {} bytes of data", dataLength),
                    fmt::format("data_offsets [{}, {}]", entry.begin, entry.end),
                    "the file is cut short: copy or download it again");
    if (entry.begin < end)
      return refuse(previous.empty()
                        ? "its data overlaps the data before it"
                        : fmt::format("its data overlaps that of {}", inQuotes(previous)),
                    fmt::format("data from byte {} on", end),
                    fmt::format("data_offsets [{}, {}]", entry.begin, entry.end));
    if (entry.begin > end)
      return refuse("there is a gap before its data", fmt::format("data from byte {} on", end),
                    fmt::format("data_offsets [{}, {}]", entry.begin, entry.end));
    const std::optional<std::uint64_t> bits = bitsOf(entry);
    const std::string shape = fmt::format("{} {}", entry.dtype->name, entry.shape);
    if (!bits)
      return refuse("its size in bits exceeds 2^63 - 1", "a shape that fits in memory", shape);
    if (*bits % 8 != 0)
      return refuse("its codes do not fill whole bytes",
                    fmt::format("a multiple of {} elements", 8 / std::gcd(8, entry.dtype->bits)),
                    shape);
    if (entry.end - entry.begin != *bits / 8)
      return refuse("its data has the wrong length",
                    fmt::format("{} bytes for {}", *bits / 8, shape),
                    fmt::format("{} bytes", entry.end - entry.begin));
    end = entry.end;
    previous = entry.name;
  }
  if (end != dataLength)
    return Error{.file = file,
                 .problem = "the file does not end where its last tensor ends",
                 .offset = dataBegin + end,
                 .expected = fmt::format("{} bytes of data", end),
                 .found = fmt::format("{}", dataLength),
                 .fix = kWriteAgain};
  return std::nullopt;
}

} // namespace

tl::expected<SafetensorsHeader, Error>
parseSafetensorsHeader(std::string_view text, std::uint64_t dataLength, const std::string& file) {
  if (text.empty() || text.front() != '{')
    return tl::unexpected(Error{.file = file,
                                .problem = "the header does not begin with '{'",
                                .offset = 8,
                                .expected = "a JSON object",
                                .found = text.empty() ? "nothing" : inQuotes(text.substr(0, 1)),
                                .fix = "the file is damaged or not safetensors"});
  // The JSON parser treats a zero byte as the end and would ignore the bytes after it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return tl::unexpected(Error{.file = file,
                                .problem = "the header is not valid JSON",
                                .offset = 8 + zero,
                                .expected = "JSON, padded with spaces",
                                .found = "a zero byte",
                                .fix = "the file is damaged or not safetensors"});
  HeaderReader reader(file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  if (reader.error)
    return tl::unexpected(std::move(*reader.error));
  if (auto error = checkEntries(reader.entries, dataLength, 8 + text.size(), file))
    return tl::unexpected(std::move(*error));
  return SafetensorsHeader{std::move(reader.entries), std::move(reader.metadata)};
}

} // namespace octavo::checkpoint
