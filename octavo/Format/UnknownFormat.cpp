#include "octavo/Format/UnknownFormat.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Format/ScaledFormat.h"

#include <algorithm>
#include <array>

namespace octavo::format {

namespace {

constexpr std::string_view kWeightsAlone =
    " with activations in 16 bits (octavo checkpoint quantize --weight-only; --activations none in "
    "programs)";
constexpr std::string_view kCalibrated =
    ", whose scales of activations are calibrated: programs have them with --calibration; octavo "
    "checkpoint quantize does not calibrate";
constexpr std::string_view kIntegers4 =
    "integers, which octavo does not write; as small are nvfp4 and mxfp4";
constexpr std::string_view kIntegers8 =
    "integers, which octavo does not write; as small are fp8_row and mxfp8_e4m3";

/// A scheme of another tool, in upper case.
struct Scheme {
  std::string_view name;
  std::string_view owner;
  std::string_view format; ///< octavo's format; empty if it has none
  std::string_view rest;   ///< text after the format; empty if the scheme is exactly the format
};

constexpr std::string_view kCompressor = "llm-compressor", kModelOpt = "ModelOpt";
constexpr auto kSchemes = std::to_array<Scheme>({
    {"FP8_DYNAMIC", kCompressor, "fp8_row", ""},
    {"FP8_BLOCK", kCompressor, "fp8_block", ""},
    {"FP8", kCompressor, "fp8_tensor", kCalibrated},
    {"NVFP4A16", kCompressor, "nvfp4", kWeightsAlone},
    {"MXFP4A16", kCompressor, "mxfp4", kWeightsAlone},
    {"MXFP8A16", kCompressor, "mxfp8_e4m3", kWeightsAlone},
    {"MXFP8", kCompressor, "mxfp8_e4m3", "; OCP MX has mxfp8_e5m2, too"},
    {"W4A16", kCompressor, "", kIntegers4},
    {"W4A16_ASYM", kCompressor, "", kIntegers4},
    {"W4A8", kCompressor, "", kIntegers4},
    {"W4AFP8", kCompressor, "", kIntegers4},
    {"W8A16", kCompressor, "", kIntegers8},
    {"W8A8", kCompressor, "", kIntegers8},
    {"INT8", kCompressor, "", kIntegers8},
    {"FP8_PER_CHANNEL_PER_TOKEN_CFG", kModelOpt, "fp8_row", ""},
    {"FP8_DEFAULT_CFG", kModelOpt, "fp8_tensor", kCalibrated},
    {"FP8_2D_BLOCKWISE_WEIGHT_ONLY_CFG", kModelOpt, "fp8_block", kWeightsAlone},
    {"NVFP4_DEFAULT_CFG", kModelOpt, "nvfp4", kCalibrated},
    {"MXFP8_DEFAULT_CFG", kModelOpt, "mxfp8_e4m3", "; --preset modelopt gives ModelOpt's scales"},
    {"MXFP4_DEFAULT_CFG", kModelOpt, "mxfp4", "; --preset modelopt gives ModelOpt's scales"},
    {"INT8_DEFAULT_CFG", kModelOpt, "", kIntegers8},
    {"INT8_SMOOTHQUANT_CFG", kModelOpt, "", kIntegers8},
    {"INT4_AWQ_CFG", kModelOpt, "", kIntegers4},
    {"INT4_BLOCKWISE_WEIGHT_ONLY_CFG", kModelOpt, "", kIntegers4},
    {"W4A8_AWQ_BETA_CFG", kModelOpt, "", kIntegers4},
});

/// `text` with ASCII letters in lower case, independent of the locale.
std::string lowered(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

/// The scheme named `name`, in any case; null if there is none.
const Scheme* schemeCalled(std::string_view name) {
  const std::string lower = lowered(name);
  const auto* found = std::ranges::find_if(
      kSchemes, [&](const Scheme& scheme) { return lowered(scheme.name) == lower; });
  return found == kSchemes.end() ? nullptr : found;
}

/// The fault in the block size of `name`; empty if `name` does not begin with the name of a row.
std::string wrongBlockSize(std::string_view name) {
  const ScaledFormat* row = findScaledFormat(name.substr(0, name.find(':')));
  if (row == nullptr)
    return {};
  const std::string format(row->name);
  if (row->along == kWholeAxis)
    return format + " has no blocks whose size could be chosen";
  return "blocks of " + format + " are a power of two from " + std::to_string(kLeastBlock) +
         " to " + std::to_string(kMostBlock) + " long, as in " + format + ":64";
}

} // namespace

const ScaledFormat* scaledFormatCalled(std::string_view name) {
  if (const ScaledFormat* format = findScaledFormat(lowered(name)))
    return format;
  const Scheme* scheme = schemeCalled(name);
  return scheme && scheme->rest.empty() ? findScaledFormat(scheme->format) : nullptr;
}

std::string unknownFormat(std::string_view name, const std::vector<std::string>& known) {
  if (const std::string fault = wrongBlockSize(name); !fault.empty())
    return "no scaled format \"" + std::string(name) + "\": " + fault;
  std::string text = base::notAmong("scaled format", name, known);
  if (const Scheme* scheme = schemeCalled(name)) {
    text += "\n  " + std::string(scheme->owner) + "'s " + std::string(scheme->name) + " is ";
    text += scheme->format;
    text += scheme->rest;
  }
  return text;
}

} // namespace octavo::format
