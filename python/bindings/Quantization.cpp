// octavo.quantize and octavo.dequantize.
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/Options.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Quantize.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

namespace octavo::python {

namespace nb = nanobind;

/// The values as f32, row-major: exact from bf16 and f16.
static Array asFloats(const Array& x) {
  if (wideType(x, "x") == kernels::WideType::F32)
    return contiguous(x);
  const nb::object wide = x.numpy.attr("astype")(nb::str("float32"), nb::arg("order") = "C");
  return toArray(wide, "x");
}

static ScaledTensor quantize(nb::handle object, const std::string& formatName, int axis,
                             const std::optional<std::string>& ruleName,
                             const std::string& roundingName, const std::string& overflowName,
                             const std::string& nanName) {
  const format::ScaledFormat& format = scaledFormat(formatName);
  numerics::QuantizeOptions options = {.rule = format.rule,
                                       .rounding = rounding(roundingName),
                                       .overflow = overflow(overflowName),
                                       .nonFinite = nonFinite(nanName)};
  if (ruleName)
    options.rule = scaleRule(*ruleName);
  if (format.scale->specials != format::Specials::Scale && options.rule != format.rule)
    raise(ErrorClass::Format, "rule: scales of {} are not powers of two and know \"{}\" only",
          format.name, format::scaleRuleName(format.rule));
  const Array x = toArray(object, "x");
  const int contracted = axisOf(axis, x.shape, "axis");
  const numerics::ScaledType type = scaledType(format, x.shape, contracted);
  const Array values = asFloats(x);
  const Array elements = emptyArray(x.shape, *type.element);
  const Array scales = emptyArray(format::scaleShape(x.shape, type.block), *type.scale);
  kernels::QuantizeReport report;
  {
    const nb::gil_scoped_release released;
    report = kernels::quantize(reinterpret_cast<const float*>(values.data), x.shape, type, options,
                               reinterpret_cast<std::uint8_t*>(elements.data), scales.data, {},
                               execution());
  }
  if (report.refused)
    raise(ErrorClass::NonFinite,
          "x: {} at index {} (row-major) of shape {}; nan=\"propagate\" makes its block NaN, "
          "nan=\"saturate\" lets infinities saturate",
          report.refused->value, report.refused->index, text(x.shape));
  return makeScaledTensor(elements, scales, report.outer, format, contracted);
}

Array dequantize(const ScaledTensor& tensor) {
  const Array elements = contiguous(tensor.elements), scales = contiguous(tensor.scales);
  const Array values = emptyArray(tensor.shape(), format::element("f32"));
  const nb::gil_scoped_release released;
  kernels::dequantize(reinterpret_cast<const std::uint8_t*>(elements.data), scales.data,
                      tensor.outer, tensor.shape(), tensor.type,
                      reinterpret_cast<float*>(values.data), execution());
  return values;
}

void bindQuantization(nb::module_& module) {
  module.def(
      "quantize", &quantize, nb::arg("x").none(), nb::arg("format"), nb::kw_only(),
      nb::arg("axis") = -1, nb::arg("rule") = nb::none(), nb::arg("rounding") = "ties-to-even",
      nb::arg("overflow") = "saturate", nb::arg("nan") = "error",
      nb::sig("def quantize(x: numpy.typing.ArrayLike, format: str, *, axis: int = -1, rule: str | "
              "None = None, rounding: str = 'ties-to-even', overflow: str = 'saturate', nan: str = "
              "'error') -> ScaledTensor"),
      R"(Quantizes an array: elements of a narrow format on a grid of scales (docs/semantics.md, S2 to S9).

x: any shape; float32, bfloat16 or float16.
format: the name of a scaled format: "mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row", ... (formats()).
axis: the axis that a product contracts; blocks lie along it.
rule: how a block's scale comes from its largest magnitude: "floor", "ceil", "even", "round-up",
    "nearest"; the format's own if None.
rounding: as for convert.
overflow: "saturate" or "special", for elements beyond the element format.
nan: "error" refuses NaN and infinities; "propagate" makes their blocks NaN; "saturate" lets
    infinities saturate and NaN propagate.

Raises DtypeError (float64 too: it would be rounded twice), FormatError, ShapeError, NonFiniteError.)");
  module.def(
      "dequantize", [](const ScaledTensor& tensor) { return dequantize(tensor).numpy; },
      nb::arg("tensor"),
      nb::sig("def dequantize(tensor: ScaledTensor) -> numpy.typing.NDArray[numpy.float32]"),
      "The values, element * scale * outer, each rounded once to float32 (docs/semantics.md, S1).");
}

} // namespace octavo::python
