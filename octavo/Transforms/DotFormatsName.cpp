#include "octavo/Transforms/DotFormatsName.h"

#include "octavo/Text/NearNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace octavo::transforms {

namespace {

llvm::Error unknownIn(std::string_view whole, std::string_view kind, llvm::StringRef name,
                      const std::vector<std::string>& known) {
  return llvm::createStringError("\"" + std::string(whole) +
                                 "\": " + text::notAmong(kind, name, known));
}

} // namespace

llvm::Expected<DotFormats> dotFormatsOf(std::string_view name) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(name).split(parts, '/');
  if (parts.size() > 3)
    return llvm::createStringError("\"" + std::string(name) +
                                   "\": expected WEIGHTS, WEIGHTS/ACTIVATIONS or "
                                   "WEIGHTS/ACTIVATIONS/RULE, such as mxfp6_e2m3/mxint8/even");
  std::vector<std::string> known = text::namesOf(format::kScaledFormats);
  DotFormats formats;
  formats.weights = format::findScaledFormat(parts[0]);
  if (!formats.weights)
    return unknownIn(name, "scaled format", parts[0], known);
  if (parts.size() == 1) {
    formats.activations = defaultActivations(*formats.weights);
    return formats;
  }
  if (parts[1] != "none") {
    formats.activations = format::findScaledFormat(parts[1]);
    known.emplace_back("none");
    if (!formats.activations)
      return unknownIn(name, "scaled format", parts[1], known);
  }
  if (parts.size() == 3) {
    formats.rule = format::findScaleRule(parts[2]);
    if (!formats.rule)
      return unknownIn(name, "scale rule", parts[2], text::namesOf(format::kScaleRules));
  }
  DotOptions options;
  static_cast<DotFormats&>(options) = formats;
  if (llvm::Error error = checkOptions(options))
    return llvm::createStringError("\"" + std::string(name) +
                                   "\": " + llvm::toString(std::move(error)));
  return formats;
}

std::string nameOf(const DotFormats& formats) {
  std::string name(formats.weights->name);
  if (!formats.rule && formats.activations == defaultActivations(*formats.weights))
    return name;
  name += "/";
  name += formats.activations ? formats.activations->name : "none";
  if (formats.rule)
    name += "/" + std::string(format::scaleRuleName(*formats.rule));
  return name;
}

std::vector<DotFormats> inferenceFormats() {
  std::vector<DotFormats> all;
  for (const format::ScaledFormat& row : format::kScaledFormats) {
    const bool isForActivations = llvm::any_of(format::kScaledFormats, [&](const auto& other) {
      return other.name != row.name && other.activation == row.name;
    });
    if (isForActivations || row.element->name == "e5m2")
      continue;
    DotFormats& formats = all.emplace_back();
    formats.weights = &row;
    formats.activations = defaultActivations(row);
  }
  return all;
}

} // namespace octavo::transforms
