#include "octavo/Transforms/Quantize/DotFormatsName.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Format/UnknownFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace octavo::transforms {

namespace {

constexpr llvm::StringLiteral kStatic = "+static", kMigrated = "+migrated";

llvm::Error wrong(std::string_view whole, const std::string& fault) {
  return llvm::createStringError("\"" + std::string(whole) + "\": " + fault);
}

} // namespace

llvm::Expected<DotFormats> dotFormatsOf(std::string_view name,
                                        const std::shared_ptr<const StaticScales>& calibration) {
  llvm::StringRef rest(name);
  DotFormats formats;
  if (rest.consume_back(kStatic))
    formats.scales = calibration;
  if (rest.consume_back(kMigrated))
    formats.moved = calibration;
  if (rest.size() < name.size() && !calibration)
    return wrong(name,
                 "it needs a calibration, as `octavo calibrate` writes one: --calibration, in "
                 "Python calibration=");
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, '/');
  if (parts.size() > 3)
    return wrong(name, "expected WEIGHTS, WEIGHTS/ACTIVATIONS or WEIGHTS/ACTIVATIONS/RULE, such as "
                       "mxfp6_e2m3/mxint8/even");
  std::vector<std::string> known = base::namesOf(format::kScaledFormats);
  formats.weights = format::scaledFormatCalled(parts[0]);
  if (!formats.weights)
    return wrong(name, format::unknownFormat(parts[0], known));
  if (parts.size() == 1) {
    formats.activations = defaultActivations(*formats.weights);
  } else if (parts[1] != "none") {
    formats.activations = format::scaledFormatCalled(parts[1]);
    known.emplace_back("none");
    if (!formats.activations)
      return wrong(name, format::unknownFormat(parts[1], known));
  }
  if (parts.size() == 3) {
    formats.rule = format::findScaleRule(parts[2]);
    if (!formats.rule)
      return wrong(name,
                   base::notAmong("scale rule", parts[2], base::namesOf(format::kScaleRules)));
  }
  DotOptions options;
  static_cast<DotFormats&>(options) = formats;
  if (llvm::Error error = checkOptions(options))
    return wrong(name, llvm::toString(std::move(error)));
  return formats;
}

std::string nameOf(const DotFormats& formats) {
  std::string name(formats.weights->name);
  if (formats.rule || formats.activations != defaultActivations(*formats.weights)) {
    name += "/";
    name += formats.activations ? formats.activations->name : "none";
  }
  if (formats.rule)
    name += "/" + std::string(format::scaleRuleName(*formats.rule));
  if (formats.moved)
    name += kMigrated;
  if (formats.scales)
    name += kStatic;
  return name;
}

std::vector<DotFormats> inferenceFormats(const std::shared_ptr<const StaticScales>& calibration) {
  std::vector<DotFormats> all;
  for (const format::ScaledFormat& row : format::kScaledFormats) {
    const bool isForActivations = llvm::any_of(format::kScaledFormats, [&](const auto& other) {
      return other.name != row.name && other.activation == row.name;
    });
    if (isForActivations || row.element->name == "e5m2" || row.element->mlir.empty())
      continue;
    DotFormats& formats = all.emplace_back();
    formats.weights = &row;
    formats.activations = defaultActivations(row);
  }
  if (!calibration)
    return all;
  const bool hasColumns = llvm::any_of(calibration->calibration.tensors, [](const auto& tensor) {
    return !tensor.columnAmax.empty();
  });
  for (const DotFormats& formats : std::vector(all)) {
    if (!formats.activations)
      continue;
    if (formats.activations->hasScaleOfTensor()) {
      all.push_back(formats);
      all.back().scales = calibration;
    }
    if (hasColumns && formats.activations->along != format::kWholeAxis) {
      all.push_back(formats);
      all.back().moved = calibration;
    }
  }
  return all;
}

} // namespace octavo::transforms
