#include "octavo/Transforms/Quantize/StaticScales.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Transforms/Quantize/DotChoice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace octavo::transforms {

namespace {

llvm::Expected<float> amaxOf(const DotSide& side, const std::string& name) {
  const StaticScales& scales = *side.settings->scales;
  const char* const which = side.index == 0 ? "lhs" : "rhs";
  const std::string what = std::string(which) + " of dot \"" + name + "\"";
  const analysis::CalibratedTensor* found = scales.calibration.find(name, which);
  if (!found) {
    const std::vector<std::string> near = base::nearNames(name, scales.calibration.dotNames());
    return llvm::createStringError(
        scales.file + ": the calibration has nothing of the " + what +
        (near.empty() ? "" : "; near it: " + llvm::join(near, ", ")) +
        "; calibrate this program, or leave the dot out by a rule that keeps it");
  }
  if (found->magnitudes.amax() == 0)
    return llvm::createStringError(
        scales.file + ": the " + what + " had " +
        (found->magnitudes.count() == 0 ? "no values" : "only zeros, which count for no range,") +
        " when it was calibrated: it has no range; calibrate with inputs that reach it with other "
        "values than zero, or leave the dot out by a rule that keeps it");
  const std::optional<std::int64_t> columns = side.columns();
  if (columns && found->columns != 0 && *columns != found->columns)
    return llvm::createStringError(scales.file + ": the " + what + " had " +
                                   std::to_string(found->columns) +
                                   " columns when it was calibrated, and has " +
                                   std::to_string(*columns) + "; calibrate this program");
  return side.settings->range.of(found->magnitudes, *side.format->element);
}

} // namespace

std::vector<std::string> calibratedNames(llvm::ArrayRef<Dot> dots) {
  llvm::StringMap<int> times;
  std::vector<std::string> names;
  for (const Dot& dot : dots) {
    const int time = ++times[dot.record.name];
    names.push_back(dot.record.name + (time == 1 ? "" : "#" + std::to_string(time)));
  }
  return names;
}

llvm::Error checkStaticScales(const DotFormats& formats) {
  if (!formats.scales)
    return llvm::Error::success();
  if (!formats.activations)
    return llvm::createStringError("static scales are of activations, which stay wide here");
  const std::string name(formats.activations->name);
  if (!formats.activations->hasScaleOfTensor())
    return llvm::createStringError(
        "static scales are for formats with one of the whole tensor (fp8_tensor, fp8_e5m2_tensor, "
        "nvfp4's outer one); those of " +
        name + " are of its blocks, from the values of each run");
  if (formats.activations->hasOuterScale &&
      formats.range.kind == analysis::RangeChoice::Kind::LeastSquares)
    return llvm::createStringError("the range mse is of elements under one scale; the blocks of " +
                                   name +
                                   " have scales of their own below the outer one: take amax or "
                                   "percentile:P");
  return llvm::Error::success();
}

llvm::Error setStaticScales(llvm::MutableArrayRef<Dot> dots) {
  const std::vector<std::string> names = calibratedNames(dots);
  for (const auto& [dot, name] : llvm::zip_equal(dots, names))
    for (DotSide& side : dot.sides) {
      if (!dot.record.isQuantized || side.isWeight() || !side.format ||
          !side.format->hasScaleOfTensor() || !side.settings->scales)
        continue;
      llvm::Expected<float> amax = amaxOf(side, name);
      if (!amax)
        return amax.takeError();
      side.amax = *amax;
    }
  return llvm::Error::success();
}

} // namespace octavo::transforms
