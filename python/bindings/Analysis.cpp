// octavo.analyze and octavo.samples: the functions of octavo/Analysis on NumPy arrays.
#include "python/bindings/Array.h"
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Analysis/Distribution.h"
#include "octavo/Analysis/QuantizationError.h"
#include "octavo/Kernels/Amax.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace octavo::python {

namespace nb = nanobind;
using analysis::ErrorRow;

static std::vector<ErrorRow> analyze(nb::handle object, nb::handle formatName) {
  std::vector<const format::ScaledFormat*> formats;
  for (const format::ScaledFormat& row : format::kScaledFormats)
    if (formatName.is_none() || &row == &scaledFormat(formatName))
      formats.push_back(&row);
  const Array x = toArray(object, "x");
  if (x.shape.empty() || x.size() == 0)
    raise(ErrorClass::Shape, "x: expected one axis or more and one value or more, found shape {}",
          text(x.shape));
  const Array values = asFloats(x, "x");
  const std::span<const float> floats(reinterpret_cast<const float*>(values.data), values.size());
  if (!std::isfinite(
          kernels::amax(kernels::WideType::F32, values.data, values.size(), execution()))) {
    const auto first = std::ranges::find_if_not(floats, [](float v) { return std::isfinite(v); });
    raise(ErrorClass::NonFinite,
          "x: {} at index {} (row-major) of shape {}: errors of finite values are measured; "
          "numpy.nan_to_num(x) replaces what is not",
          *first, first - floats.begin(), text(x.shape));
  }
  return withoutLock([&] { return analysis::measure(floats, x.shape, formats, execution()); });
}

static nb::object samples(const std::string& spelling, nb::handle count, std::uint64_t seed) {
  const std::int64_t asked = integer(count, "n");
  if (asked < 0)
    raise(ErrorClass::Shape, "n: expected 0 or more, found {}", asked);
  const auto n = static_cast<std::size_t>(asked);
  const auto distribution = analysis::findDistribution(spelling);
  if (!distribution)
    raise(ErrorClass::Format, "distribution: unknown distribution \"{}\"; available: {}", spelling,
          analysis::kDistributionSpellings);
  const Array array = emptyArray({static_cast<std::int64_t>(n)}, format::element("f32"));
  withoutLock([&] {
    const std::vector<float> values = analysis::samples(*distribution, n, seed, execution());
    if (n > 0)
      std::memcpy(array.data, values.data(), n * sizeof(float));
  });
  return array.numpy;
}

void bindAnalysis(nb::module_& module) {
  // clang-format off
  nb::class_<ErrorRow>(module, "ErrorRow", "The error of quantizing an array to one format, with one scale rule or one preset.")
      .def_prop_ro("format", [](const ErrorRow& row) { return row.recipe.format; }, nb::rv_policy::reference, "The scaled format.")
      .def_prop_ro("rule", [](const ErrorRow& row) { return row.recipe.ruleName(); }, "The scale rule.")
      .def_prop_ro("preset", [](const ErrorRow& row) { return row.recipe.preset.empty() ? std::nullopt : std::optional(std::string(row.recipe.preset)); }, "The preset; None if the row is of a scale rule alone.")
      .def_prop_ro("bits_per_value", [](const ErrorRow& row) { return row.bitsPerValue; }, "Bits that a value takes in a file: its packed element and its share of the scales.")
      .def_prop_ro("bytes_per_block", [](const ErrorRow& row) { return row.bytesPerBlock; }, "Bytes of a block and its scale in a file; None if a block spans a whole axis.")
      .def_prop_ro("mean_relative_error", [](const ErrorRow& row) { return row.figures.meanRelativeError; }, "Mean of |y - x| / |x| over the values x that are not 0; y are the dequantized values.")
      .def_prop_ro("qsnr", [](const ErrorRow& row) { return row.figures.qsnr; }, "Signal to quantization noise in dB: 10 log10(sum x^2 / sum (y - x)^2).")
      .def_prop_ro("clipped_blocks", [](const ErrorRow& row) { return row.figures.clippedBlocks; }, "Share of the blocks, from 0 to 1, that have a value beyond the largest element times the scale.")
      .def("__repr__", [](const ErrorRow& row) {
        return fmt::format("<octavo.ErrorRow {} {}: {:.4g} bits, QSNR {:.4g} dB, mean relative error {:.4g}>",
                           row.recipe.format->name, row.recipe.preset.empty() ? row.recipe.ruleName() : row.recipe.preset, row.bitsPerValue,
                           row.figures.qsnr, row.figures.meanRelativeError);
      }, DefaultFloats());
  // clang-format on
  module.def(
      "analyze", &analyze, DefaultFloats(), nb::arg("x").none(), nb::arg("format") = nb::none(),
      nb::sig("def analyze(x: numpy.typing.ArrayLike, format: str | ScaledFormat | None = None) -> "
              "list[ErrorRow]"),
      R"(Measures the error of quantizing x along its last axis, for every format, scale rule and preset.

x: float32, bfloat16 or float16 of one axis or more; finite values.
format: a scaled format or its name; None measures all scaled formats.

Returns a row for each pair of a format and a scale rule or preset, as `octavo analyze` prints them.
Raises DtypeError, ShapeError, FormatError, NonFiniteError.)");
  module.def("samples", &samples, DefaultFloats(), nb::arg("distribution"), nb::arg("n").none(),
             nb::kw_only(), nb::arg("seed") = 0,
             nb::sig("def samples(distribution: str, n: int, *, seed: int = 0) -> "
                     "numpy.typing.NDArray[numpy.float32]"),
             R"(Draws random values, as `octavo analyze` draws them.

distribution: "uniform:LOW,HIGH", "normal" (mean 0, variance 1) or "student-t:DEGREES".
n: the number of values.
seed: of the random numbers. The same seed gives the same values.

Returns float32 [n]. Raises FormatError, ShapeError, DtypeError.)");
}

} // namespace octavo::python
