#include "octavo/Analysis/Calibration.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Files/OutputFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace octavo::analysis {

namespace {

using checkpoint::Error;
using checkpoint::Json;

constexpr std::int64_t kVersion = 1;
constexpr const char* kVersionKey = "octavo_calibration";

std::string describe(const CalibratedTensor& tensor) {
  return fmt::format("{} of dot {}", tensor.side, base::inQuotes(tensor.dot));
}

/// Reads a document key by key, and keeps the first error.
class Reader {
public:
  explicit Reader(const std::string& file) : file(file) {}

  tl::expected<Calibration, Error> read(const Json& document) {
    readDocument(document);
    if (error)
      return tl::unexpected(std::move(*error));
    return std::move(made);
  }

private:
  void fail(std::string problem, std::string expected = "", std::string found = "",
            std::string fix = "") {
    if (!error)
      error = Error{.file = file,
                    .problem = std::move(problem),
                    .expected = std::move(expected),
                    .found = std::move(found),
                    .fix = std::move(fix)};
  }
  void failAt(const std::string& where, const std::string& expected, const Json& found) {
    constexpr std::size_t kMostText = 40;
    std::string text = found.is_structured()
                           ? std::string(found.type_name())
                           : found.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > kMostText)
      text = text.substr(0, kMostText) + "...";
    fail(where + " is something else", expected, text);
  }

  void readDocument(const Json& document);
  void readTensor(const Json& object, const std::string& where);
  std::int64_t wholeNumber(const std::string& where, const Json& value);
  float magnitude(const std::string& where, const Json& value);

  const std::string& file;
  std::optional<Error> error;
  Calibration made;
  std::set<std::pair<std::string, std::string>> seen;
};

std::int64_t Reader::wholeNumber(const std::string& where, const Json& value) {
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2)) {
    failAt(where, "a whole number from 0 on", value);
    return 0;
  }
  return value.get<std::int64_t>();
}

float Reader::magnitude(const std::string& where, const Json& value) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0) || number > std::numeric_limits<float>::max()) {
    failAt(where, "a finite magnitude", value);
    return 0;
  }
  return static_cast<float>(number);
}

void Reader::readTensor(const Json& object, const std::string& where) {
  if (!object.is_object())
    return failAt(where, "an object", object);
  CalibratedTensor tensor;
  float amax = 0;
  std::size_t first = 0;
  std::vector<std::uint64_t> bins;
  const auto readHistogram = [&](const Json& value) {
    if (!value.is_object() || value.size() != 2 || !value.contains("first") ||
        !value.contains("counts") || !value["counts"].is_array())
      return failAt(where + ".histogram", R"({"first": BIN, "counts": [...]})", value);
    first = static_cast<std::size_t>(wholeNumber(where + ".histogram.first", value["first"]));
    for (const Json& each : value["counts"])
      bins.push_back(static_cast<std::uint64_t>(wholeNumber(where + ".histogram.counts", each)));
  };
  for (const auto& [key, value] : object.items()) {
    const std::string at = where + "." + key;
    if (key == "dot" && value.is_string() && !value.get<std::string>().empty())
      tensor.dot = value.get<std::string>();
    else if (key == "dot")
      failAt(at, "the name of a dot", value);
    else if (key == "side" && (value == "lhs" || value == "rhs"))
      tensor.side = value.get<std::string>();
    else if (key == "side")
      failAt(at, R"("lhs" or "rhs")", value);
    else if (key == "columns")
      tensor.columns = wholeNumber(at, value);
    else if (key == "amax")
      amax = magnitude(at, value);
    else if (key == "histogram")
      readHistogram(value);
    else if (key == "column_amax" && value.is_array() && !value.empty())
      for (const Json& each : value)
        tensor.columnAmax.push_back(magnitude(at, each));
    else if (key == "column_amax")
      failAt(at, "a list of magnitudes", value);
    else
      fail(fmt::format("{}: no key {}", where, base::inQuotes(key)),
           "dot, side, columns, amax, histogram or column_amax");
  }
  for (const char* key : {"dot", "side", "columns", "amax", "histogram"})
    if (!object.contains(key))
      fail(fmt::format("{}: the key \"{}\" is missing", where, key));
  if (auto magnitudes = Magnitudes::of(amax, first, bins))
    tensor.magnitudes = std::move(*magnitudes);
  else
    fail(where + ": amax and histogram contradict each other, or the histogram has more bins or "
                 "values than there can be");
  if (!tensor.columnAmax.empty()) {
    if (static_cast<std::int64_t>(tensor.columnAmax.size()) != tensor.columns)
      fail(where + ".column_amax has another number of columns", std::to_string(tensor.columns),
           std::to_string(tensor.columnAmax.size()));
    if (std::ranges::max(tensor.columnAmax) != amax)
      fail(where + ": the largest of column_amax is not amax");
  }
  if (!seen.emplace(tensor.dot, tensor.side).second)
    fail(fmt::format("{}: a second entry for {}", where, describe(tensor)));
  made.tensors.push_back(std::move(tensor));
}

void Reader::readDocument(const Json& document) {
  if (!document.is_object() || !document.contains(kVersionKey))
    return fail(fmt::format("it is no calibration: it has no key \"{}\"", kVersionKey), "", "",
                "octavo calibrate writes one");
  if (document[kVersionKey] != kVersion)
    return fail("a calibration of another version", std::to_string(kVersion),
                document[kVersionKey].is_number_integer() ? document[kVersionKey].dump()
                                                          : document[kVersionKey].type_name(),
                "calibrate again with this octavo");
  for (const auto& [key, value] : document.items())
    if (key == "input_sets")
      made.inputSets = wholeNumber(key, value);
    else if (key == "tensors" && !value.is_array())
      failAt(key, "a list", value);
    else if (key == "tensors")
      for (std::size_t i = 0; i < value.size() && !error; ++i)
        readTensor(value[i], fmt::format("tensors[{}]", i));
    else if (key != kVersionKey)
      fail(fmt::format("no key {}", base::inQuotes(key)),
           fmt::format("{}, input_sets, tensors", kVersionKey));
  for (const char* key : {"input_sets", "tensors"})
    if (!document.contains(key))
      fail(fmt::format("the key \"{}\" is missing", key));
}

tl::expected<Calibration, Error> calibrationOf(const tl::expected<Json, Error>& document,
                                               const std::string& file) {
  if (!document)
    return tl::unexpected(document.error());
  return Reader(file).read(*document);
}

Json toJson(const CalibratedTensor& tensor) {
  const std::span<const std::uint64_t> bins = tensor.magnitudes.bins();
  const auto isFilled = [](std::uint64_t count) { return count != 0; };
  const auto begin = std::ranges::find_if(bins, isFilled);
  auto end = bins.end();
  while (end != begin && *(end - 1) == 0)
    --end;
  Json object = {{"dot", tensor.dot},
                 {"side", tensor.side},
                 {"columns", tensor.columns},
                 {"amax", tensor.magnitudes.amax()},
                 {"histogram",
                  {{"first", begin == bins.end() ? 0 : begin - bins.begin()},
                   {"counts", std::vector<std::uint64_t>(begin, end)}}}};
  if (!tensor.columnAmax.empty())
    object["column_amax"] = tensor.columnAmax;
  return object;
}

} // namespace

const CalibratedTensor* Calibration::find(std::string_view dot, std::string_view side) const {
  const auto found = std::ranges::find_if(tensors, [&](const CalibratedTensor& tensor) {
    return tensor.dot == dot && tensor.side == side;
  });
  return found == tensors.end() ? nullptr : &*found;
}

void CalibratedTensor::merge(const CalibratedTensor& other) {
  if (other.magnitudes.count() == 0)
    return;
  if (magnitudes.count() == 0) {
    *this = other;
    return;
  }
  magnitudes.merge(other.magnitudes);
  if (columns != other.columns) {
    columns = 0;
    columnAmax.clear();
  }
  for (std::size_t i = 0; i < columnAmax.size(); ++i)
    columnAmax[i] = std::max(columnAmax[i], other.columnAmax[i]);
}

std::vector<std::string> Calibration::dotNames() const {
  std::vector<std::string> names;
  for (const CalibratedTensor& tensor : tensors)
    if (names.empty() || names.back() != tensor.dot)
      names.push_back(tensor.dot);
  return names;
}

tl::expected<void, std::string> Calibration::merge(const Calibration& other) {
  const auto missing = [](const Calibration& whole, const Calibration& part,
                          const char* which) -> std::optional<std::string> {
    for (const CalibratedTensor& tensor : whole.tensors)
      if (!part.find(tensor.dot, tensor.side)) {
        const std::vector<std::string> near = base::nearNames(tensor.dot, part.dotNames());
        return fmt::format(
            "only the {} has {}{}", which, describe(tensor),
            near.empty() ? "" : fmt::format("; near it in the other: {}", fmt::join(near, ", ")));
      }
    return std::nullopt;
  };
  for (const CalibratedTensor& tensor : tensors) {
    const CalibratedTensor* added = other.find(tensor.dot, tensor.side);
    if (added && tensor.columns != 0 && tensor.columns == added->columns &&
        tensor.columnAmax.empty() != added->columnAmax.empty())
      return tl::unexpected(
          fmt::format("only the {} has the columns of the {}: calibrate both with "
                      "--columns, or neither",
                      added->columnAmax.empty() ? "first" : "second", describe(tensor)));
  }
  if (auto problem = missing(*this, other, "first"))
    return tl::unexpected(*problem);
  if (auto problem = missing(other, *this, "second"))
    return tl::unexpected(*problem);
  for (CalibratedTensor& tensor : tensors)
    tensor.merge(*other.find(tensor.dot, tensor.side));
  inputSets += other.inputSets;
  return {};
}

std::string calibrationText(const Calibration& calibration) {
  std::string text = fmt::format("{{\"{}\": {}, \"input_sets\": {}, \"tensors\": [", kVersionKey,
                                 kVersion, calibration.inputSets);
  const char* separator = "\n";
  for (const CalibratedTensor& tensor : calibration.tensors) {
    text += separator + toJson(tensor).dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

tl::expected<Calibration, Error> parseCalibration(std::string_view text, const std::string& file) {
  return calibrationOf(checkpoint::parseJson(text, file), file);
}

tl::expected<Calibration, Error> readCalibration(const std::filesystem::path& path) {
  return calibrationOf(checkpoint::readJson(path), path.string());
}

tl::expected<void, Error> writeCalibration(const std::filesystem::path& path,
                                           const Calibration& calibration) {
  return checkpoint::OutputFile::create(path).and_then([&](auto&& file) {
    return file.write(std::string_view(calibrationText(calibration))).and_then([&] {
      return file.commit();
    });
  });
}

} // namespace octavo::analysis
