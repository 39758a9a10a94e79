// Test program: conversions as a filter, so that tests in Python can hold Numerics against
// ml_dtypes.
//
//   octavo-numerics-probe formats                      a line a row: name, width, NumPy name
//   octavo-numerics-probe decode FORMAT                codes (u64) -> values (f64)
//   octavo-numerics-probe convert FORMAT f32|f64 [ROUNDING [OVERFLOW]]   values -> codes (u64)
//   octavo-numerics-probe reduce FORMAT EXPONENT_BITS TRAILING_BITS   reduce_precision, f32 -> f32
//   octavo-numerics-probe preset NAME SCALED_FORMAT COLUMNS [INPUT_TYPE]
//       rows of f32 (values of INPUT_TYPE) -> the outer scale and its inverse (f32), the scales
//       (u32), the codes (u8)
//
// Numbers are read from stdin and written to stdout in the machine's own binary form.

#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::numerics {

[[noreturn]] static void refuse(const char* what, std::string_view found) {
  std::fprintf(stderr, "octavo-numerics-probe: no %s \"%s\"\n", what, std::string(found).c_str());
  std::exit(2);
}

template <typename In, typename Out, typename Function> static void filter(Function function) {
  In in;
  while (std::fread(&in, sizeof in, 1, stdin) == 1) {
    const Out out = function(in);
    std::fwrite(&out, sizeof out, 1, stdout);
  }
}

static int quantizeByPreset(const ScaledFormat& format, const Preset& preset, std::int64_t columns,
                            const ElementFormat& input) {
  std::vector<float> values;
  for (float value; std::fread(&value, sizeof value, 1, stdin) == 1;)
    values.push_back(value);
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(values.size()) / columns,
                                        columns};
  QuantizeOptions options = preset.options;
  options.input = &input;
  const QuantizeResult result = quantize(
      values, shape,
      {format.element, format.scale, format::blockShape(format, shape, 1), format.hasOuterScale},
      options);
  if (result.refused)
    return 3;
  const ScaledTensor& tensor = result.tensor;
  std::fwrite(&tensor.outer, sizeof tensor.outer, 1, stdout);
  std::fwrite(&result.outerInverse, sizeof result.outerInverse, 1, stdout);
  std::fwrite(tensor.scales.data(), sizeof tensor.scales.front(), tensor.scales.size(), stdout);
  std::fwrite(tensor.elements.data(), 1, tensor.elements.size(), stdout);
  return 0;
}

static int probe(int argc, char** argv) {
  const auto argument = [&](int i, std::string_view otherwise = "") {
    return i < argc ? std::string_view(argv[i]) : otherwise;
  };
  const std::string_view verb = argument(1);
  if (verb == "formats") {
    for (const ElementFormat& row : format::kElementFormats)
      std::printf("%s\t%d\t%s\n", std::string(row.name).c_str(), row.width(),
                  std::string(row.numpy).c_str());
    return 0;
  }
  if (verb == "preset") {
    const ScaledFormat* format = format::findScaledFormat(argument(3));
    if (!format)
      refuse("scaled format", argument(3));
    const Preset* preset = findPreset(argument(2), *format);
    if (!preset || argc < 5)
      refuse("preset", argument(2));
    const ElementFormat* input = format::findElementFormat(argument(5, "f32"));
    if (!input || input->isNarrow())
      refuse("input type", argument(5));
    return quantizeByPreset(*format, *preset, std::atoi(argv[4]), *input);
  }
  const ElementFormat* format = format::findElementFormat(argument(2));
  if (!format)
    refuse("element format", argument(2));
  if (verb == "decode") {
    filter<std::uint64_t, double>([&](std::uint64_t code) { return decode(*format, code); });
    return 0;
  }
  if (verb == "reduce" && argc == 5) {
    const int exponentBits = std::atoi(argv[3]), trailingBits = std::atoi(argv[4]);
    filter<float, float>([&](float value) {
      return static_cast<float>(reducePrecision(*format, value, exponentBits, trailingBits));
    });
    return 0;
  }
  if (verb != "convert")
    refuse("verb", verb);
  const auto rounding = findRounding(argument(4, "ties-to-even"));
  if (!rounding)
    refuse("rounding", argument(4));
  const auto overflow = findOverflow(argument(5, "special"));
  if (!overflow)
    refuse("overflow", argument(5));
  const Conversion conversion{.rounding = *rounding, .overflow = *overflow};
  const auto toCode = [&](double value) { return convert(*format, value, conversion); };
  if (argument(3) == "f32")
    filter<float, std::uint64_t>(toCode);
  else if (argument(3) == "f64")
    filter<double, std::uint64_t>(toCode);
  else
    refuse("input type", argument(3));
  return 0;
}

} // namespace octavo::numerics

int main(int argc, char** argv) { return octavo::numerics::probe(argc, argv); }
