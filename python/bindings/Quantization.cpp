// octavo.quantize and octavo.dequantize.
#include "python/bindings/Quantization.h"

#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"
#include "python/bindings/OutputArray.h"
#include "python/bindings/PiecewiseQuantization.h"
#include "python/bindings/Random.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/QuantizeBothAxes.h"
#include "octavo/Numerics/Preset.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::python {

namespace nb = nanobind;

static const numerics::Preset& presetOf(const std::string& name,
                                        const format::ScaledFormat& format) {
  if (const numerics::Preset* preset = numerics::findPreset(name, format))
    return *preset;
  raise(ErrorClass::Format, "preset: {} has no preset \"{}\"; available: {}", format.name, name,
        fmt::join(numerics::presetNames(format), ", "));
}

/// Raises ShapeError if the library that the preset follows refuses an incomplete last block.
static void checkEdge(const format::ScaledFormat& format, const std::string& name,
                      const std::vector<std::int64_t>& shape, int contracted) {
  const numerics::Preset& preset = presetOf(name, format);
  const auto refused = numerics::refusedAxis(preset, format, shape, contracted);
  if (!refused)
    return;
  const auto [axis, block] = *refused;
  const bool hasRules = format.scale->specials == format::Specials::Scale;
  raise(ErrorClass::Shape,
        "x: axis {} of shape {} is not whole blocks of {}, which {} refuses, and its preset with "
        "it; pad the axis to {}, or {}",
        axis, text(shape), block, name, (shape[axis] + block - 1) / block * block,
        hasRules ? fmt::format("take the rule alone: rule=\"{}\"",
                               format::scaleRuleName(preset.options.rule))
                 : "leave the preset out");
}

void checkTakesOuter(const format::ScaledFormat& format, const numerics::QuantizeOptions& options) {
  if (!format.hasOuterScale)
    raise(
        ErrorClass::Format,
        "outer: {} has no scale above those of its blocks; scales that exist already are those of "
        "ScaledTensor(octavo.convert(x / scale, \"{}\", overflow=\"saturate\"), scales, \"{}\")",
        format.name, format.element->name, format.name);
  if (options.outer == numerics::OuterForm::One)
    raise(ErrorClass::Format, "outer: the preset has one level of scales, its outer scale is 1; "
                              "leave outer or the preset out");
}

numerics::QuantizeOptions quantizeOptions(const format::ScaledFormat& format,
                                          const QuantizeNames& names) {
  numerics::QuantizeOptions options = {.rule = format.rule};
  if (names.rule && names.preset)
    raise(ErrorClass::Format, "rule and preset: a preset has a rule; give one of them");
  if (names.preset)
    options = presetOf(*names.preset, format).options;
  if (names.rule)
    options.rule = scaleRule(*names.rule);
  if (names.rounding)
    options.rounding = rounding(*names.rounding);
  if (names.rule && format.scale->specials != format::Specials::Scale &&
      options.rule != format.rule && !numerics::roundsScaleUp(*format.scale, options))
    raise(ErrorClass::Format, "rule: scales of {} are not powers of two and know \"{}\" only",
          format.name, format::scaleRuleName(format.rule));
  if (names.overflow)
    options.overflow = overflow(*names.overflow);
  if (names.nan)
    options.nonFinite = nonFinite(*names.nan);
  return options;
}

numerics::OuterScale givenOuterScale(const format::ScaledFormat& format, float value,
                                     const numerics::QuantizeOptions& options) {
  checkTakesOuter(format, options);
  if (!(value > 0 && std::isfinite(value)))
    raise(ErrorClass::Format, "outer: expected a positive, finite float32, found {}", value);
  // A library that stores the inverse of the scale also computes with it (docs/semantics.md, S15).
  const bool hasInverse = options.outer != numerics::OuterForm::Quotient;
  constexpr float kLargest = std::numeric_limits<float>::max();
  return {.value = value, .inverse = hasInverse ? std::min(1.0f / value, kLargest) : 1.0f};
}

/// The outer scale that the caller passes; nullopt for None.
static std::optional<numerics::OuterScale> givenOuter(nb::handle object,
                                                      const format::ScaledFormat& format,
                                                      const numerics::QuantizeOptions& options) {
  if (object.is_none())
    return std::nullopt;
  return givenOuterScale(format, static_cast<float>(number(object, "outer")), options);
}

[[noreturn]] static void refuse(const numerics::NonFiniteInput& input, const Shape& shape) {
  raise(ErrorClass::NonFinite,
        "x: {} at index {} (row-major) of shape {}; nan=\"propagate\" makes its block NaN, "
        "nan=\"saturate\" lets infinities saturate",
        input.value, input.index, text(shape));
}

/// The tensor of a quantization's results, with the divisor that the preset's library stores.
static ScaledTensor quantizedTensor(const Array& elements, const Array& scales,
                                    const numerics::OuterScale& outer,
                                    const numerics::QuantizeOptions& options,
                                    const format::ScaledFormat& format, int axis) {
  ScaledTensor tensor = makeScaledTensor(elements, scales, outer.value, format, axis);
  if (format.hasOuterScale && (options.outer == numerics::OuterForm::Inverse ||
                               options.outer == numerics::OuterForm::InverseOfReciprocal))
    tensor.divisor = outer.inverse;
  return tensor;
}

/// The destination of a scaled tensor: out=(elements, scales), or new arrays.
struct OutputParts {
  OutputArray elements, scales;

  OutputParts(nb::handle out, const numerics::ScaledType& type, const Shape& shape, const Array& x)
      : elements(part(out, 0), shape, *type.element, "out[0]", std::span(&x, 1)),
        scales(part(out, 1), format::scaleShape(shape, type.block), *type.scale, "out[1]",
               std::span(&x, 1)) {
    if (!out.is_none() && nb::cast<bool>(nb::module_::import_("numpy").attr("may_share_memory")(
                              part(out, 0), part(out, 1))))
      raise(ErrorClass::Dtype, "out: elements and scales share memory");
  }

private:
  static nb::object part(nb::handle out, int index) {
    if (out.is_none())
      return nb::none();
    if (!nb::isinstance<nb::tuple>(out) || nb::len(out) != 2)
      raise(ErrorClass::Dtype, "out: expected two arrays, (elements, scales), found {}",
            nb::type_name(out.type()).c_str());
    return out[index];
  }
};

static ScaledTensor quantize(nb::handle object, nb::handle formatName, nb::handle axis,
                             const std::optional<std::string>& rule,
                             const std::optional<std::string>& preset,
                             const std::optional<std::string>& roundingName,
                             const std::optional<std::string>& overflowName,
                             const std::optional<std::string>& nanName, nb::handle key,
                             nb::handle outer, nb::handle out) {
  const format::ScaledFormat& format = scaledFormat(formatName);
  numerics::QuantizeOptions options =
      quantizeOptions(format, {rule, preset, roundingName, overflowName, nanName});
  const auto given = givenOuter(outer, format, options);
  const Array x = toArray(object, "x");
  const int contracted = axisOf(integer(axis, "axis"), x.shape, "axis");
  const numerics::ScaledType type = scaledType(format, x.shape, contracted);
  if (preset)
    checkEdge(format, *preset, x.shape, contracted);
  const kernels::WideType wide = wideType(x, "x");
  options.input = x.format;
  const Array values = contiguous(x);
  const auto stream = randomStream(key, options.rounding);
  const OutputParts parts(out, type, x.shape, x);
  const kernels::QuantizeReport report = withoutLock([&] {
    return quantizePiecewise(wide, values.data, x.shape, type, options, stream, given,
                             reinterpret_cast<std::uint8_t*>(parts.elements.array().data),
                             parts.scales.array().data, execution());
  });
  if (report.refused)
    refuse(*report.refused, x.shape);
  const numerics::OuterScale own = {report.outer, report.outerInverse};
  return quantizedTensor(parts.elements.stored(), parts.scales.stored(), given.value_or(own),
                         options, format, contracted);
}

/// The array with its last two axes exchanged.
static Shape exchanged(Shape shape) {
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

static nb::tuple quantizeBoth(nb::handle object, nb::handle formatName,
                              const std::optional<std::string>& rule,
                              const std::optional<std::string>& preset,
                              const std::optional<std::string>& roundingName,
                              const std::optional<std::string>& overflowName,
                              const std::optional<std::string>& nanName, nb::handle key,
                              nb::handle outer) {
  const Array x = toArray(object, "x");
  const int rank = static_cast<int>(x.shape.size());
  if (rank < 2)
    raise(ErrorClass::Shape, "x: expected two axes or more, found shape {}; quantize takes one",
          text(x.shape));
  const format::ScaledFormat& format = scaledFormat(formatName);
  const numerics::ScaledType rowwise = scaledType(format, x.shape, rank - 1);
  const numerics::ScaledType columnwise = scaledType(format, x.shape, rank - 2);
  if (preset)
    for (int contracted : {rank - 1, rank - 2})
      checkEdge(format, *preset, x.shape, contracted);
  if (rowwise.block == columnwise.block) { // square blocks or one scale: one result serves both
    const ScaledTensor both = quantize(x.numpy, formatName, nb::int_(-1), rule, preset,
                                       roundingName, overflowName, nanName, key, outer, nb::none());
    ScaledTensor down = makeScaledTensor(both.elements, both.scales, both.outer, format, rank - 2);
    down.divisor = both.divisor;
    return nb::make_tuple(both, down);
  }
  numerics::QuantizeOptions options =
      quantizeOptions(format, {rule, preset, roundingName, overflowName, nanName});
  const auto given = givenOuter(outer, format, options);
  const Array values = asFloats(x, "x");
  options.input = x.format;
  const std::vector<std::uint32_t> random = randomBits(key, options.rounding, x.size());
  const Array rowCodes = emptyArray(x.shape, *format.element);
  const Array rowScales = emptyArray(format::scaleShape(x.shape, rowwise.block), *format.scale);
  const Array columnCodes = emptyArray(exchanged(x.shape), *format.element);
  const Array columnScales =
      emptyArray(exchanged(format::scaleShape(x.shape, columnwise.block)), *format.scale);
  const auto codes = [](const Array& array) { return reinterpret_cast<std::uint8_t*>(array.data); };
  const kernels::ScaledCopy rows = {rowwise, codes(rowCodes), rowScales.data, random, given};
  const kernels::ScaledCopy columns = {columnwise, codes(columnCodes), columnScales.data, random,
                                       given};
  const kernels::BothAxesReport report = withoutLock([&] {
    return kernels::quantizeBothAxes(reinterpret_cast<const float*>(values.data), x.shape, options,
                                     rows, columns, kernels::Layout::Transposed, execution());
  });
  if (report.rowwise.refused)
    refuse(*report.rowwise.refused, x.shape);
  const auto outerOf = [&](const kernels::QuantizeReport& of) {
    return given.value_or(numerics::OuterScale{of.outer, of.outerInverse});
  };
  return nb::make_tuple(
      quantizedTensor(rowCodes, rowScales, outerOf(report.rowwise), options, format, rank - 1),
      transposed(quantizedTensor(columnCodes, columnScales, outerOf(report.columnwise), options,
                                 format, rank - 1)));
}

static void dequantize(const ScaledTensor& tensor, const Array& values) {
  const Array elements = rowMajorElements(tensor), scales = contiguous(tensor.scales);
  withoutLock([&] {
    kernels::dequantize(reinterpret_cast<const std::uint8_t*>(elements.data), scales.data,
                        tensor.outer, tensor.shape(), tensor.type,
                        reinterpret_cast<float*>(values.data), execution());
  });
}

Array dequantize(const ScaledTensor& tensor) {
  const Array values = emptyArray(tensor.shape(), format::element("f32"));
  dequantize(tensor, values);
  return values;
}

nb::object dequantizeTo(const ScaledTensor& tensor, nb::handle out) {
  const Array inputs[] = {tensor.elements, tensor.scales};
  const OutputArray output(out, tensor.shape(), format::element("f32"), "out", inputs);
  dequantize(tensor, output.array());
  return output.toPython();
}

void bindQuantization(nb::module_& module) {
  module.def(
      "quantize", &quantize, DefaultFloats(), nb::arg("x").none(), nb::arg("format").none(),
      nb::kw_only(), nb::arg("axis").none() = -1, nb::arg("rule") = nb::none(),
      nb::arg("preset") = nb::none(), nb::arg("rounding") = nb::none(),
      nb::arg("overflow") = nb::none(), nb::arg("nan") = nb::none(), nb::arg("key") = nb::none(),
      nb::arg("outer") = nb::none(), nb::arg("out") = nb::none(),
      nb::sig(
          "def quantize(x: numpy.typing.ArrayLike, format: str | ScaledFormat, *, axis: int = -1, "
          "rule: str | "
          "None = None, preset: str | None = None, rounding: str | None = None, overflow: str | "
          "None = None, nan: str | None = None, key: int | tuple[int, int] | None = None, outer: "
          "float | None = None, out: tuple[numpy.typing.NDArray[typing.Any], "
          "numpy.typing.NDArray[typing.Any]] | None = None) -> ScaledTensor"),
      R"(Quantizes an array: divides each block by its scale and rounds to narrow elements.

docs/semantics.md, S2 to S16, defines every bit of the result.

x: float32, bfloat16 or float16 of any shape.
format: a scaled format or its name: "mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row"; formats() lists all.
    "mxfp4:16" is mxfp4 in blocks of 16.
axis: the axis that a product contracts. Blocks lie along it.
rule: how the largest magnitude of a block decides its scale: "floor", "ceil", "even", "round-up" or
    "nearest" (docs/scale-rules.md). None uses the format's rule.
preset: the name of a library's settings, such as "torchao-rceil" or "transformer-engine"; the result
    has that library's bytes. presets(format) lists the presets with their settings. A preset that
    computes "in input type" gives other bytes for bfloat16 than for float32. If the library
    refuses an incomplete last block ("ragged edge"), so does quantize. rule, rounding, overflow and
    nan override the preset's settings.
rounding: as in convert. None rounds to nearest, ties to even.
overflow: for elements beyond the largest: "saturate" or "special" (Inf or NaN). None saturates.
nan: for NaN and infinite values. "error", the default, raises NonFiniteError. "propagate" makes their
    blocks NaN. "saturate" saturates infinities and propagates NaN. "skip-nan" saturates infinities
    and ignores NaN when it computes the scale.
key: the random numbers of rounding="stochastic", as in convert.
outer: for formats with an outer scale (nvfp4): a scale that was calibrated, or that several tensors
    share. None computes it from the largest magnitude of x. Like ScaledTensor.outer it multiplies:
    ModelOpt's weight_scale_2, or 1 / weight_global_scale of compressed-tensors. Values beyond
    2688 * outer saturate.
out: two NumPy arrays to write the elements and the scales to, of their shapes, in their dtypes or as
    uint8 codes. The result shares their memory, so writing to them changes the result. They are
    written in place if they are row-major and share no memory with x, else through a copy. After an
    error their content is unspecified.

Returns a ScaledTensor of x's shape.
Raises DtypeError (for float64 too, which would round twice), FormatError, ShapeError, NonFiniteError.)");
  module.def(
      "quantize_both", &quantizeBoth, DefaultFloats(), nb::arg("x").none(),
      nb::arg("format").none(), nb::kw_only(), nb::arg("rule") = nb::none(),
      nb::arg("preset") = nb::none(), nb::arg("rounding") = nb::none(),
      nb::arg("overflow") = nb::none(), nb::arg("nan") = nb::none(), nb::arg("key") = nb::none(),
      nb::arg("outer") = nb::none(),
      nb::sig("def quantize_both(x: numpy.typing.ArrayLike, format: str | ScaledFormat, *, rule: "
              "str | None = None, preset: str | None = None, rounding: str | None = None, "
              "overflow: str | None = None, nan: str | None = None, key: int | tuple[int, int] | "
              "None = None, outer: float | None = None) -> tuple[ScaledTensor, ScaledTensor]"),
      R"(Quantizes an array along its last axis and along the axis before it, reading x once.

The results are bit for bit quantize(x, format, axis=-1) and quantize(x, format, axis=-2). Training
needs both: the forward and the backward product contract different axes of the same tensor.

x: float32, bfloat16 or float16 of two axes or more. A bfloat16 or float16 array is converted to
    float32 as a whole, which takes memory.
format, rule, preset, rounding, overflow, nan, key, outer: as in quantize. Both results use the same
    random numbers.

The second result lies transposed in memory, as a product that contracts axis -2 reads it. If the
format has square blocks or one scale, both results share memory.

Raises DtypeError, FormatError, ShapeError, NonFiniteError.)");
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
          facts["inputs"] = string(row.inputs);
          facts["differs"] = string(row.differs);
          presets[string(row.name)] = facts;
        }
        return presets;
      },
      DefaultFloats(), nb::arg("format"),
      nb::sig("def presets(format: str | ScaledFormat) -> dict[str, dict[str, str]]"),
      R"(The presets of a scaled format by name: the settings under which quantize gives a library's bytes.

format: a scaled format or its name.

Each preset is a dict of its settings and of "source" (the code it follows), "inputs" (the dtypes
for which the bytes are the library's) and "differs" (where the library's own bytes follow no rule, so
that octavo's differ). Raises FormatError.)");
  module.def(
      "check_edge",
      [](nb::handle format, const std::string& preset, const std::vector<std::int64_t>& shape,
         int axis) { checkEdge(scaledFormat(format), preset, shape, axisOf(axis, shape, "axis")); },
      DefaultFloats(), nb::arg("format"), nb::arg("preset"), nb::arg("shape"), nb::arg("axis"),
      "Raises ShapeError if quantize would. octavo.jax knows shapes before it has values.");
  module.def(
      "dequantize",
      [](nb::handle tensor, nb::handle out) {
        if (!nb::isinstance<ScaledTensor>(tensor))
          raise(ErrorClass::Dtype,
                "tensor: expected a ScaledTensor, found {}; codes without scales "
                "are values by octavo.convert(codes, \"f32\")",
                nb::type_name(tensor.type()).c_str());
        return dequantizeTo(nb::cast<const ScaledTensor&>(tensor), out);
      },
      DefaultFloats(), nb::arg("tensor").none(), nb::kw_only(), nb::arg("out") = nb::none(),
      nb::sig("def dequantize(tensor: ScaledTensor, *, out: numpy.typing.NDArray[numpy.float32] | "
              "None = None) -> numpy.typing.NDArray[numpy.float32]"),
      R"(The values of a quantized tensor as float32: element * scale * outer, rounded once
(docs/semantics.md, S1).

tensor: a ScaledTensor.
out: a float32 NumPy array of the tensor's shape to write to; None makes a new array.

Returns the array written to. Raises DtypeError, ShapeError.)");
}

} // namespace octavo::python
