#include "octavo/Transforms/Quantize/Recipe.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Format/UnknownFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <re2/re2.h>

#include <cassert>
#include <filesystem>
#include <map>
#include <memory>

namespace octavo::transforms {

namespace {

using checkpoint::Json;
using format::ScaledFormat;

llvm::Error unknown(const std::string& where, std::string_view kind, std::string_view name,
                    const std::vector<std::string>& known) {
  return llvm::createStringError(where + ": " + base::notAmong(kind, name, known));
}

llvm::Error wrongType(const std::string& where, const std::string& expected, const Json& found) {
  return llvm::createStringError(where + ": expected " + expected + ", found " + found.type_name());
}

llvm::Expected<std::string> textOf(const std::string& where, const Json& value) {
  if (!value.is_string())
    return wrongType(where, "a string", value);
  return value.get<std::string>();
}

llvm::Expected<const ScaledFormat*> formatOf(const std::string& where, const Json& value,
                                             bool mayBeNone) {
  llvm::Expected<std::string> name = textOf(where, value);
  if (!name)
    return name.takeError();
  if (mayBeNone && *name == "none")
    return nullptr;
  if (const ScaledFormat* row = format::findScaledFormat(*name))
    return row;
  std::vector<std::string> known = base::namesOf(format::kScaledFormats);
  if (mayBeNone)
    known.emplace_back("none");
  return llvm::createStringError(where + ": " + format::unknownFormat(*name, known));
}

llvm::Expected<numerics::NonFinite> nonFiniteOf(const std::string& where, const std::string& name) {
  if (const auto policy = numerics::findNonFinite(name))
    return *policy;
  return unknown(where, "policy for NaN and infinities", name, numerics::nonFiniteNames());
}

llvm::Expected<std::vector<std::string>> dotNames(const std::string& where, const Json& value) {
  std::vector<std::string> names;
  const Json list = value.is_array() ? value : Json::array({value});
  if (list.empty())
    return llvm::createStringError(where + ": the list is empty; \"*\" stands for every dot");
  for (const auto& [index, each] : llvm::enumerate(list)) {
    if (!each.is_string())
      return wrongType(value.is_array() ? where + "[" + std::to_string(index) + "]" : where,
                       value.is_array() ? "a string" : "a string or a list of strings", each);
    names.push_back(each.get<std::string>());
    if (names.back().empty())
      return llvm::createStringError(where + ": an empty name; \"*\" stands for every dot");
  }
  if (llvm::is_contained(names, "*"))
    names.clear();
  return names;
}

/// The calibrations that rules name; each file is read once.
class Calibrations {
public:
  /// Paths are relative to `folder`.
  explicit Calibrations(std::filesystem::path folder) : folder(std::move(folder)) {}

  llvm::Expected<std::shared_ptr<const StaticScales>> of(const std::string& where,
                                                         const Json& value) {
    if (value.is_object())
      return made(where, "", analysis::parseCalibration(value.dump(), where));
    if (!value.is_string())
      return wrongType(where, "the path of a calibration, or what such a file holds", value);
    const std::string path = (folder / value.get<std::string>()).string();
    std::shared_ptr<const StaticScales>& known = read[path];
    if (known)
      return known;
    auto scales = made(path, path, analysis::readCalibration(path));
    if (!scales)
      return llvm::createStringError(where + ": " + llvm::toString(scales.takeError()));
    return known = *scales;
  }

private:
  static llvm::Expected<std::shared_ptr<const StaticScales>>
  made(const std::string& file, const std::string& path,
       tl::expected<analysis::Calibration, checkpoint::Error> found) {
    if (!found)
      return llvm::createStringError(found.error().message());
    return std::make_shared<const StaticScales>(StaticScales{file, std::move(*found), path});
  }

  std::filesystem::path folder;
  std::map<std::string, std::shared_ptr<const StaticScales>> read;
};

/// Reads one rule, key by key.
class RuleReader {
public:
  RuleReader(std::string where, Calibrations& calibrations) : calibrations(calibrations) {
    rule.where = std::move(where);
  }

  llvm::Expected<DotRule> read(const Json& object) {
    if (!object.is_object())
      return wrongType(rule.where, "an object", object);
    for (const auto& [key, value] : object.items())
      if (llvm::Error error = readKey(key, rule.where + "." + key, value))
        return std::move(error);
    if (llvm::Error error = finish(object))
      return std::move(error);
    return std::move(rule);
  }

private:
  llvm::Error readKey(const std::string& key, const std::string& where, const Json& value);
  llvm::Error finish(const Json& object);

  Calibrations& calibrations;
  DotRule rule;
  std::string reason;
  DelayedScaling delayed;
  std::int64_t margin = 0;
};

llvm::Error RuleReader::readKey(const std::string& key, const std::string& where,
                                const Json& value) {
  const auto assign = [](auto&& found, auto& target) -> llvm::Error {
    if (!found)
      return found.takeError();
    target = std::move(*found);
    return llvm::Error::success();
  };
  if (key == "dots")
    return assign(dotNames(where, value), rule.names);
  if (key == "smaller_than") {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1)
      return llvm::createStringError(where + ": expected a number of elements, from 1 on, found " +
                                     value.dump());
    rule.smallerThan = value.get<std::int64_t>();
    return llvm::Error::success();
  }
  if (key == "weights")
    return assign(formatOf(where, value, false), rule.formats.weights);
  if (key == "activations")
    return assign(formatOf(where, value, true), rule.formats.activations);
  if (key == "gradients")
    return assign(formatOf(where, value, true), rule.formats.gradients);
  if (key == "preset")
    return assign(textOf(where, value), rule.formats.preset);
  if (key == "history" || key == "margin") {
    const bool isHistory = key == "history";
    const std::int64_t least = isHistory ? 1 : 0, most = isHistory ? 65536 : 100;
    if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
        value.get<std::int64_t>() > most)
      return llvm::createStringError(
          where + ": expected " + (isHistory ? "a number of steps" : "a power of two") + " from " +
          std::to_string(least) + " to " + std::to_string(most) + ", found " + value.dump());
    (isHistory ? delayed.history : margin) = value.get<std::int64_t>();
    return llvm::Error::success();
  }
  if (key == "hadamard") {
    constexpr std::array kSizes = {4, 16, 64, 256}; // powers of 4, whose square roots are exact
    if (!value.is_number_integer() || !llvm::is_contained(kSizes, value.get<std::int64_t>()))
      return llvm::createStringError(where + ": expected 4, 16, 64 or 256 elements, found " +
                                     value.dump(-1, ' ', false, Json::error_handler_t::replace));
    rule.formats.hadamard = value.get<std::int64_t>();
    return llvm::Error::success();
  }
  if (key == "reason")
    return assign(textOf(where, value), reason);
  if (key == "scales")
    return assign(calibrations.of(where, value), rule.formats.scales);
  if (key == "migrate")
    return assign(calibrations.of(where, value), rule.formats.moved);
  if (key == "strength") {
    const double strength = value.is_number() ? value.get<double>() : -1;
    if (!(strength >= 0 && strength <= 1))
      return llvm::createStringError(where + ": expected a number from 0 to 1, found " +
                                     value.dump(-1, ' ', false, Json::error_handler_t::replace));
    rule.formats.strength = strength;
    return llvm::Error::success();
  }
  if (!llvm::is_contained(
          {"place", "rule", "non_finite", "keep", "range", "scaling", "gradient_rounding"}, key))
    return unknown(where, "key", key,
                   {"dots",
                    "place",
                    "smaller_than",
                    "weights",
                    "activations",
                    "gradients",
                    "rule",
                    "preset",
                    "non_finite",
                    "scales",
                    "range",
                    "migrate",
                    "strength",
                    "scaling",
                    "history",
                    "margin",
                    "gradient_rounding",
                    "hadamard",
                    "keep",
                    "reason"});

  llvm::Expected<std::string> name = textOf(where, value);
  if (!name)
    return name.takeError();
  if (key == "place") {
    const auto* row =
        llvm::find_if(kDotPlaces, [&](const DotPlaceRow& each) { return each.name == *name; });
    if (row == std::end(kDotPlaces))
      return unknown(where, "place", *name, base::namesOf(kDotPlaces));
    rule.place = row->place;
  } else if (key == "range") {
    const auto range = analysis::findRangeChoice(*name);
    if (!range)
      return llvm::createStringError(where + ": no range \"" + *name +
                                     "\"; available: " + std::string(analysis::kRangeSpellings) +
                                     " (above 0, at most 100)");
    rule.formats.range = *range;
  } else if (key == "scaling") {
    if (*name != "current" && *name != "delayed")
      return unknown(where, "scaling", *name, {"current", "delayed"});
    if (*name == "delayed")
      rule.formats.delayed.emplace();
  } else if (key == "gradient_rounding") {
    if (*name != "nearest" && *name != "stochastic")
      return unknown(where, "rounding of gradients", *name, {"nearest", "stochastic"});
    rule.formats.roundsGradientsAtRandom = *name == "stochastic";
  } else if (key == "rule") {
    rule.formats.rule = format::findScaleRule(*name);
    if (!rule.formats.rule)
      return unknown(where, "scale rule", *name, base::namesOf(format::kScaleRules));
  } else if (key == "non_finite") {
    return assign(nonFiniteOf(where, *name), rule.formats.nonFinite);
  } else {
    if (*name != "f32")
      return unknown(where, "way to keep a dot", *name, {"f32"});
    rule.keep = "";
  }
  return llvm::Error::success();
}

llvm::Error RuleReader::finish(const Json& object) {
  if (rule.keep) {
    for (const char* key :
         {"weights", "activations", "gradients", "rule", "preset", "non_finite", "scales", "range",
          "migrate", "strength", "scaling", "history", "margin", "gradient_rounding", "hadamard"})
      if (object.contains(key))
        return llvm::createStringError(rule.where + ": it keeps its dots, and has \"" + key +
                                       "\" too; a rule has \"keep\" or formats");
    if (reason.empty())
      return llvm::createStringError(rule.where + ": \"keep\" needs a \"reason\", which the table "
                                                  "of dots tells");
    rule.keep = reason;
    return llvm::Error::success();
  }
  if (!reason.empty())
    return llvm::createStringError(rule.where + ".reason: it says why dots are kept, and the rule "
                                                "has no \"keep\"");
  if (!rule.formats.weights)
    return llvm::createStringError(rule.where + ": expected \"weights\": FORMAT, or \"keep\": "
                                                "\"f32\" with a \"reason\"");
  if (object.contains("range") && !rule.formats.scales)
    return llvm::createStringError(rule.where + ".range: it chooses a range of a calibration, and "
                                                "the rule names none: give \"scales\": FILE");
  if (rule.formats.delayed) {
    delayed.margin = static_cast<int>(margin);
    rule.formats.delayed = delayed;
  } else if (object.contains("history") || object.contains("margin")) {
    return llvm::createStringError(rule.where + ": \"history\" and \"margin\" are of \"scaling\": "
                                                "\"delayed\"");
  }
  if (object.contains("strength") && !rule.formats.moved)
    return llvm::createStringError(rule.where + ".strength: it is of powers of two that move, and "
                                                "the rule moves none: give \"migrate\": FILE");
  if (!object.contains("activations"))
    rule.formats.activations = defaultActivations(*rule.formats.weights);
  return llvm::Error::success();
}

/// Reads a cache's setting: a format, or an object of a format and a policy for NaN and infinities.
llvm::Expected<CacheRule> cacheOf(const Json& value, const std::string& where, CacheRule rule) {
  if (!value.is_string() && !value.is_object())
    return wrongType(where, "a scaled format, or an object of \"format\" and \"non_finite\"",
                     value);
  const Json settings = value.is_object() ? value : Json::object({{"format", value}});
  if (!settings.contains("format"))
    return llvm::createStringError(where + ": expected \"format\": FORMAT, or \"none\"");
  for (const auto& [key, each] : settings.items()) {
    const std::string at = value.is_object() ? where + "." + key : where;
    if (key == "format") {
      auto format = formatOf(at, each, true);
      if (!format)
        return format.takeError();
      rule.format = *format;
    } else if (key == "non_finite") {
      auto name = textOf(at, each);
      if (!name)
        return name.takeError();
      auto policy = nonFiniteOf(at, *name);
      if (!policy)
        return policy.takeError();
      rule.nonFinite = *policy;
    } else {
      return unknown(where, "key", key, {"format", "non_finite"});
    }
  }
  if (rule.format == nullptr && settings.contains("non_finite"))
    return llvm::createStringError(where + ".non_finite: the cache stays as it is (\"none\"), and "
                                           "nothing of it is quantized");
  return rule;
}

/// Reads "kv_cache": a format for all caches, or an object of names and settings.
llvm::Expected<std::vector<CacheRule>> cachesOf(const Json& value, const std::string& where) {
  const Json formats = value.is_object() ? value : Json::object({{"*", value}});
  if (!value.is_object() && !value.is_string())
    return wrongType(where, "a scaled format, or an object of names of arguments and their formats",
                     value);
  if (formats.empty())
    return llvm::createStringError(where + ": the object is empty; \"*\" stands for every cache");
  std::vector<CacheRule> rules;
  for (const auto& [name, settings] : formats.items()) {
    auto rule = cacheOf(settings, value.is_object() ? where + "." + name : where,
                        {.where = where, .name = name, .format = nullptr});
    if (!rule)
      return rule.takeError();
    rules.push_back(std::move(*rule));
  }
  return rules;
}

/// Adds what a recipe looks like to an error about the file as a whole.
llvm::Error noRecipe(llvm::Error found) {
  return llvm::createStringError(
      llvm::toString(std::move(found)) +
      "; a recipe is {\"rules\": [{\"weights\": \"mxfp8_e4m3\"}]} or {\"kv_cache\": "
      "\"mxfp8_e4m3\"}, or has both keys (docs/recipes.md)");
}

llvm::Expected<Recipe> recipeOf(const Json& recipe, const std::string& file,
                                const std::filesystem::path& folder) {
  if (!recipe.is_object())
    return noRecipe(wrongType(file, "an object", recipe));
  for (const auto& [key, value] : recipe.items())
    if (key != "rules" && key != "kv_cache")
      return noRecipe(unknown(file, "key", key, {"rules", "kv_cache"}));
  DotOptions options;
  if (recipe.contains("kv_cache")) {
    auto caches = cachesOf(recipe["kv_cache"], file + ": kv_cache");
    if (!caches)
      return caches.takeError();
    options.caches = std::move(*caches);
  } else if (!recipe.contains("rules")) {
    return noRecipe(
        llvm::createStringError(file + ": has neither of the keys \"rules\" and \"kv_cache\""));
  }
  const Json list = recipe.value("rules", Json::array());
  if (!list.is_array())
    return noRecipe(wrongType(file + ": rules", "a list of rules", list));
  if (list.empty() && recipe.contains("rules"))
    return noRecipe(llvm::createStringError(file + ": rules: the list is empty"));
  Calibrations calibrations(folder);
  for (const auto& [index, object] : llvm::enumerate(list)) {
    llvm::Expected<DotRule> rule =
        RuleReader(file + ": rules[" + std::to_string(index) + "]", calibrations).read(object);
    if (!rule)
      return rule.takeError();
    options.rules.push_back(std::move(*rule));
  }
  if (llvm::Error error = checkOptions(options))
    return std::move(error);
  return std::move(static_cast<Recipe&>(options));
}

llvm::Expected<Recipe> recipeOf(const tl::expected<Json, checkpoint::Error>& recipe,
                                const std::string& file, const std::filesystem::path& folder) {
  if (!recipe)
    return llvm::createStringError(recipe.error().message());
  return recipeOf(*recipe, file, folder);
}

/// How a recipe in `folder` gives a calibration: its path relative to the folder, or its content.
Json calibrationJson(const StaticScales& scales, const std::filesystem::path& folder) {
  if (scales.path.empty())
    return Json::parse(analysis::calibrationText(scales.calibration));
  return std::filesystem::absolute(scales.path)
      .lexically_normal()
      .lexically_proximate(std::filesystem::absolute(folder / ".").lexically_normal())
      .string();
}

Json ruleJson(const DotRule& rule, const std::filesystem::path& folder) {
  Json object = Json::object();
  if (!rule.names.empty())
    object["dots"] = rule.names;
  if (rule.place != DotPlace::Any)
    object["place"] = llvm::find_if(kDotPlaces, [&](const DotPlaceRow& each) {
                        return each.place == rule.place;
                      })->name;
  if (rule.smallerThan)
    object["smaller_than"] = *rule.smallerThan;
  if (rule.keep) {
    object["keep"] = "f32";
    object["reason"] = *rule.keep;
    return object;
  }
  const DotFormats& formats = rule.formats;
  assert(formats.range == analysis::RangeChoice() && formats.strength == DotFormats().strength &&
         !formats.delayed && !formats.roundsGradientsAtRandom && formats.hadamard == 0);
  object["weights"] = formats.weights->name;
  object["activations"] = formats.activations ? formats.activations->name : "none";
  if (formats.gradients)
    object["gradients"] = *formats.gradients ? (*formats.gradients)->name : "none";
  if (!formats.preset.empty())
    object["preset"] = formats.preset;
  if (formats.rule)
    object["rule"] = format::scaleRuleName(*formats.rule);
  if (formats.nonFinite)
    object["non_finite"] = numerics::nonFiniteName(*formats.nonFinite);
  if (formats.scales)
    object["scales"] = calibrationJson(*formats.scales, folder);
  if (formats.moved)
    object["migrate"] = calibrationJson(*formats.moved, folder);
  return object;
}

} // namespace

std::string recipeText(const std::vector<DotRule>& rules, const std::filesystem::path& folder) {
  std::string text = "{\"rules\": [";
  for (const auto& [index, rule] : llvm::enumerate(rules)) {
    const Json object = ruleJson(rule, folder);
    text += index == 0 ? "\n  {" : ",\n  {";
    const char* between = "";
    for (const auto& [key, value] : object.items()) {
      text += between + Json(key).dump() + ": ";
      between = ", ";
      if (!value.is_array()) {
        text += value.dump();
        continue;
      }
      for (const auto& [at, name] : llvm::enumerate(value))
        text += (at == 0 ? "[\n    " : ",\n    ") + name.dump();
      text += "]";
    }
    text += "}";
  }
  return text + "\n]}\n";
}

std::string exactName(const std::string& name) {
  return name == "*" || llvm::StringRef(name).starts_with("re:")
             ? "re:^" + re2::RE2::QuoteMeta(name) + "$"
             : name;
}

llvm::Expected<Recipe> parseRecipe(std::string_view text, const std::string& file) {
  return recipeOf(checkpoint::parseJson(text, file), file, {});
}

llvm::Expected<Recipe> readRecipe(const std::string& nameOrPath) {
  for (const NamedRecipe& recipe : kRecipes)
    if (recipe.name == nameOrPath)
      return parseRecipe(recipe.text, nameOrPath);
  std::error_code error;
  if (!std::filesystem::exists(nameOrPath, error) &&
      nameOrPath.find_first_of("/.") == std::string::npos)
    return unknown("recipe", "file or named recipe", nameOrPath, base::namesOf(kRecipes));
  return recipeOf(checkpoint::readJson(nameOrPath), nameOrPath,
                  std::filesystem::path(nameOrPath).parent_path());
}

} // namespace octavo::transforms
