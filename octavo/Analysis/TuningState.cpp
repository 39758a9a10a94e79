#include "octavo/Analysis/TuningState.h"

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Files/OutputFile.h"

#include <cmath>
#include <limits>
#include <utility>

namespace octavo::analysis {

namespace {

using checkpoint::Error;
using checkpoint::Json;

constexpr const char* kStateVersion = "octavo_tune";
constexpr int kThisVersion = 1;

constexpr const char* kAnew = "remove it, to begin anew";

/// Reads value by value, and keeps the first error.
class StateReader {
public:
  explicit StateReader(std::string file) : file(std::move(file)) {}

  std::optional<Error> error;

  void fail(const std::string& problem) {
    if (!error)
      error = Error{.file = file,
                    .problem = problem,
                    .expected = "what octavo tune wrote to go on from",
                    .fix = kAnew};
  }

  const Json* member(const Json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end()) {
      fail(std::string("it has no \"") + key + "\"");
      return nullptr;
    }
    return &*found;
  }

  double number(const Json& value) {
    if (value.is_number())
      return value.get<double>();
    fail("a number is missing");
    return 0;
  }

  /// JSON has no infinity; null stands for it.
  double loss(const Json& value) {
    return value.is_null() ? std::numeric_limits<double>::infinity() : number(value);
  }

  template <typename T, typename F> std::vector<T> list(const Json& value, F one) {
    std::vector<T> items;
    if (!value.is_array()) {
      fail("a list is missing");
      return items;
    }
    for (const Json& each : value)
      items.push_back(one(each));
    return items;
  }

private:
  std::string file;
};

void readMeasured(StateReader& reader, const Json& list, TuningState& state) {
  if (!list.is_array()) {
    reader.fail("\"measured\" is no list");
    return;
  }
  std::size_t dots = 0, parts = 0;
  for (const Json& each : list) {
    const Json* choice = reader.member(each, "choice");
    const Json* losses = reader.member(each, "losses");
    if (choice == nullptr || losses == nullptr)
      return;
    const auto candidates = reader.list<std::size_t>(*choice, [&](const Json& candidate) {
      if (candidate.is_number_unsigned())
        return candidate.get<std::size_t>();
      reader.fail("a candidate is no number from 0 on");
      return std::size_t{0};
    });
    const auto ofParts =
        reader.list<double>(*losses, [&](const Json& loss) { return reader.loss(loss); });
    if (state.measured.empty()) {
      dots = candidates.size();
      parts = ofParts.size();
    }
    if (candidates.size() != dots || ofParts.size() != parts || parts == 0)
      reader.fail("choices or losses are of different lengths");
    if (reader.error)
      return;
    state.measured.emplace(candidates, ofParts);
  }
}

tl::expected<TuningState, Error> stateOf(const Json& json, const std::string& file) {
  StateReader reader(file);
  TuningState state;
  const Json* version = reader.member(json, kStateVersion);
  if (version != nullptr && *version != Json(kThisVersion))
    reader.fail("it is of another version of octavo");
  if (const Json* digest = reader.member(json, "digest")) {
    if (digest->is_string())
      state.digest = digest->get<std::string>();
    else
      reader.fail("\"digest\" is no text");
  }
  if (const Json* origin = reader.member(json, "origin"))
    state.origin = reader.number(*origin);
  if (const Json* costs = reader.member(json, "costs"))
    state.costs = reader.list<std::vector<double>>(*costs, [&](const Json& ofDot) {
      return reader.list<double>(ofDot, [&](const Json& cost) { return reader.number(cost); });
    });
  if (const Json* measured = reader.member(json, "measured"))
    readMeasured(reader, *measured, state);
  if (reader.error)
    return tl::make_unexpected(*reader.error);
  return state;
}

} // namespace

tl::expected<TuningState, Error> parseState(std::string_view text, const std::string& file) {
  return checkpoint::parseJson(text, file).and_then([&](const Json& json) {
    return stateOf(json, file);
  });
}

tl::expected<TuningState, Error> readState(const std::filesystem::path& path) {
  return checkpoint::readJson(path)
      .map_error([](Error error) {
        if (error.offset) // octavo wrote it: nothing to copy it from
          error.fix = kAnew;
        return error;
      })
      .and_then([&](const Json& json) { return stateOf(json, path.string()); });
}

std::string stateText(const TuningState& state) {
  Json measured = Json::array();
  for (const auto& [choice, losses] : state.measured) {
    Json ofParts = Json::array();
    for (double loss : losses)
      ofParts.push_back(std::isfinite(loss) ? Json(loss) : Json(nullptr));
    measured.push_back({{"choice", choice}, {"losses", std::move(ofParts)}});
  }
  const Json document = {{kStateVersion, kThisVersion},
                         {"digest", state.digest},
                         {"origin", state.origin},
                         {"costs", state.costs},
                         {"measured", std::move(measured)}};
  return document.dump() + "\n";
}

tl::expected<void, Error> writeState(const std::filesystem::path& path, const TuningState& state) {
  return checkpoint::OutputFile::create(path).and_then([&](auto&& file) {
    return file.write(std::string_view(stateText(state))).and_then([&] { return file.commit(); });
  });
}

} // namespace octavo::analysis
