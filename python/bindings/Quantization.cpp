// octavo.quantize and octavo.dequantize.
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/Options.h"
#include "python/bindings/Random.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/Preset.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <fmt/ranges.h>

#include <optional>

namespace octavo::python {

namespace nb = nanobind;

static const numerics::Preset& presetOf(const std::string& name,
                                        const format::ScaledFormat& format) {
  if (const numerics::Preset* preset = numerics::findPreset(name, format))
    return *preset;
  raise(ErrorClass::Format, "preset: {} has no preset \"{}\"; there are {}", format.name, name,
        fmt::join(numerics::presetNames(format), ", "));
}

/// The preset's options, or the format's own, with what was named in place.
static numerics::QuantizeOptions optionsOf(const format::ScaledFormat& format,
                                           const std::optional<std::string>& rule,
                                           const std::optional<std::string>& preset,
                                           const std::optional<std::string>& roundingName,
                                           const std::optional<std::string>& overflowName,
                                           const std::optional<std::string>& nanName) {
  numerics::QuantizeOptions options = {.rule = format.rule};
  if (rule && preset)
    raise(ErrorClass::Format, "rule and preset: a preset has a rule; give one of them");
  if (preset)
    options = presetOf(*preset, format).options;
  if (rule)
    options.rule = scaleRule(*rule);
  if (rule && format.scale->specials != format::Specials::Scale && options.rule != format.rule)
    raise(ErrorClass::Format, "rule: scales of {} are not powers of two and know \"{}\" only",
          format.name, format::scaleRuleName(format.rule));
  if (roundingName)
    options.rounding = rounding(*roundingName);
  if (overflowName)
    options.overflow = overflow(*overflowName);
  if (nanName)
    options.nonFinite = nonFinite(*nanName);
  return options;
}

static ScaledTensor quantize(nb::handle object, nb::handle formatName, nb::handle axis,
                             const std::optional<std::string>& rule,
                             const std::optional<std::string>& preset,
                             const std::optional<std::string>& roundingName,
                             const std::optional<std::string>& overflowName,
                             const std::optional<std::string>& nanName, nb::handle key) {
  const format::ScaledFormat& format = scaledFormat(formatName);
  const numerics::QuantizeOptions options =
      optionsOf(format, rule, preset, roundingName, overflowName, nanName);
  const Array x = toArray(object, "x");
  const int contracted = axisOf(integer(axis, "axis"), x.shape, "axis");
  const numerics::ScaledType type = scaledType(format, x.shape, contracted);
  const Array values = asFloats(x, "x");
  const auto stream = randomStream(key, options.rounding);
  const Array elements = emptyArray(x.shape, *type.element);
  const Array scales = emptyArray(format::scaleShape(x.shape, type.block), *type.scale);
  const kernels::QuantizeReport report = withoutLock([&] {
    const auto* floats = reinterpret_cast<const float*>(values.data);
    auto* codes = reinterpret_cast<std::uint8_t*>(elements.data);
    return stream ? kernels::quantizeSeeded(floats, x.shape, type, options, codes, scales.data,
                                            *stream, execution())
                  : kernels::quantize(floats, x.shape, type, options, codes, scales.data, {},
                                      execution());
  });
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
  withoutLock([&] {
    kernels::dequantize(reinterpret_cast<const std::uint8_t*>(elements.data), scales.data,
                        tensor.outer, tensor.shape(), tensor.type,
                        reinterpret_cast<float*>(values.data), execution());
  });
  return values;
}

void bindQuantization(nb::module_& module) {
  module.def(
      "quantize", &quantize, nb::arg("x").none(), nb::arg("format").none(), nb::kw_only(),
      nb::arg("axis").none() = -1, nb::arg("rule") = nb::none(), nb::arg("preset") = nb::none(),
      nb::arg("rounding") = nb::none(), nb::arg("overflow") = nb::none(),
      nb::arg("nan") = nb::none(), nb::arg("key") = nb::none(),
      nb::sig(
          "def quantize(x: numpy.typing.ArrayLike, format: str | ScaledFormat, *, axis: int = -1, "
          "rule: str | "
          "None = None, preset: str | None = None, rounding: str | None = None, overflow: str | "
          "None = None, nan: str | None = None, key: int | tuple[int, int] | None = None) -> "
          "ScaledTensor"),
      R"(Quantizes an array: elements of a narrow format on a grid of scales (docs/semantics.md, S2 to S16).

x: any shape; float32, bfloat16 or float16.
format: a scaled format or its name: "mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row", ... (formats()).
axis: the axis that a product contracts; blocks lie along it.
rule: how a block's scale comes from its largest magnitude: "floor", "ceil", "even", "round-up",
    "nearest"; the format's own if None.
preset: the name of a library ("torchao-rceil", "transformer-engine", ...), whose bytes come out:
    presets(format) has them with their settings. What follows replaces a preset's setting.
rounding: as for convert; ties to even if None.
overflow: "saturate" (None) or "special", for elements beyond the element format.
nan: "error" (None) refuses NaN and infinities; "propagate" makes their blocks NaN; "saturate" lets
    infinities saturate and NaN propagate; "skip-nan" lets infinities saturate and keeps NaN out of
    the scale.
key: for rounding="stochastic", as for convert.

Raises DtypeError (float64 too: it would be rounded twice), FormatError, ShapeError, NonFiniteError.)");
  module.def(
      "presets",
      [](nb::handle name) {
        const format::ScaledFormat& format = scaledFormat(name);
        nb::dict presets;
        const auto string = [](std::string_view text) { return nb::str(text.data(), text.size()); };
        for (const numerics::Preset& row : numerics::presets()) {
          if (!row.appliesTo(format))
            continue;
          nb::dict facts;
          for (const numerics::Setting& setting : numerics::settings(row, format))
            facts[string(setting.name)] = setting.value;
          facts["source"] = string(row.source);
          facts["differs"] = string(row.differs);
          presets[string(row.name)] = facts;
        }
        return presets;
      },
      nb::arg("format"),
      nb::sig("def presets(format: str | ScaledFormat) -> dict[str, dict[str, str]]"),
      "The presets of a scaled format by name, each with its settings, its source, and where the\n"
      "library's own bytes differ because they follow no rule. Raises FormatError.");
  module.def(
      "dequantize",
      [](nb::handle tensor) {
        if (!nb::isinstance<ScaledTensor>(tensor))
          raise(ErrorClass::Dtype,
                "tensor: expected a ScaledTensor, found {}; codes without scales "
                "are values by octavo.convert(codes, \"f32\")",
                nb::type_name(tensor.type()).c_str());
        return dequantize(nb::cast<const ScaledTensor&>(tensor)).numpy;
      },
      nb::arg("tensor").none(),
      nb::sig("def dequantize(tensor: ScaledTensor) -> numpy.typing.NDArray[numpy.float32]"),
      "The values, element * scale * outer, each rounded once to float32 (docs/semantics.md, S1).");
}

} // namespace octavo::python
