// octavo.formats, ElementFormat and ScaledFormat: the tables of octavo/Format as Python objects.
#include "python/bindings/Bindings.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Conversion.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace octavo::python {

namespace nb = nanobind;
using format::ElementFormat;
using format::ScaledFormat;

static std::optional<std::string> spelling(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(std::string(text));
}

/// The extent of a block; nullopt stands for the whole axis.
static std::optional<std::int64_t> extent(std::int64_t extent) {
  return extent == format::kWholeAxis ? std::nullopt : std::optional(extent);
}

static std::string elementRepr(const ElementFormat& row) {
  return fmt::format("<octavo.ElementFormat {}: {} bits, max {:.7g}, {}>", row.name, row.width(),
                     numerics::maxValue(row), row.source);
}

static std::string scaledRepr(const ScaledFormat& row) {
  const auto side = [](std::int64_t n) {
    return n == format::kWholeAxis ? std::string("all") : std::to_string(n);
  };
  return fmt::format("<octavo.ScaledFormat {}: {} elements, a scale of {} for {} x {}{}, {}>",
                     row.name, row.element->name, row.scale->name, side(row.across),
                     side(row.along), row.hasOuterScale ? ", an outer scale of f32" : "",
                     row.source);
}

/// What pickle stores of a row: its name, by which loading finds the one row again.
template <typename Row> static nb::tuple reduced(const Row& row) {
  return nb::make_tuple(nb::type<Row>(), nb::make_tuple(std::string(row.name)));
}

void bindFormats(nb::module_& module) {
  // clang-format off
  nb::class_<ElementFormat>(module, "ElementFormat",
      "An element format: the meaning of each code. octavo.formats() lists all of them.")
      .def(nb::new_([](nb::handle name) { return &elementFormat(name, "format"); }), DefaultFloats(), nb::arg("name").none(), nb::rv_policy::reference, "Finds the format by its name (\"e4m3fn\") or its dtype (NumPy's, ml_dtypes', torch's).\n\nRaises FormatError for an unknown name, DtypeError for a dtype of no format.")
      .def_prop_ro("name", [](const ElementFormat& row) { return row.name; }, "octavo's name of the format, such as \"e4m3fn\".")
      .def_prop_ro("bits", &ElementFormat::width, "Width of a code in bits.")
      .def_prop_ro("exponent_bits", [](const ElementFormat& row) { return row.exponentBits; }, "Width of the exponent field in bits.")
      .def_prop_ro("trailing_significand_bits", [](const ElementFormat& row) { return row.trailingSignificandBits; }, "Width in bits of the significand without its leading bit.")
      .def_prop_ro("bias", [](const ElementFormat& row) { return row.bias; }, "Bias of the exponent.")
      .def_prop_ro("max", &numerics::maxValue, "The largest finite value.")
      .def_prop_ro("min_normal", &numerics::minNormal, "The smallest positive normal value.")
      .def_prop_ro("min_positive", &numerics::minPositive, "The smallest positive value: a subnormal number if the format has subnormal numbers.")
      .def_prop_ro("max_code", &ElementFormat::maxCode, "Code of the largest finite value.")
      .def_prop_ro("inf_code", &ElementFormat::infCode, "Code of +Inf; None if the format has no infinity.")
      .def_prop_ro("nan_code", &ElementFormat::nanCode, "Code that NaN is encoded as; None if the format has no NaN.")
      .def_prop_ro("has_negative_zero", &ElementFormat::hasNegativeZero, "Whether -0 has a code.")
      .def_prop_ro("numpy", [](const ElementFormat& row) { return spelling(row.numpy); }, "Name of the dtype in NumPy or ml_dtypes; None if both lack it.")
      .def_prop_ro("torch", [](const ElementFormat& row) { return spelling(row.torch); }, "Name of the dtype in torch; None if torch lacks it.")
      .def_prop_ro("safetensors", [](const ElementFormat& row) { return spelling(row.safetensors); }, "Name of the dtype in safetensors files; None if safetensors lacks it.")
      .def_prop_ro("mlir", [](const ElementFormat& row) { return spelling(row.mlir); }, "Name of the type in MLIR; None if MLIR lacks it.")
      .def_prop_ro("ocp", [](const ElementFormat& row) { return spelling(row.ocp); }, "Name in the OCP specifications; None if they do not define the format.")
      .def_prop_ro("source", [](const ElementFormat& row) { return row.source; }, "The document that defines the format.")
      .def("__reduce__", &reduced<ElementFormat>, DefaultFloats(), nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("__repr__", &elementRepr, DefaultFloats());
  nb::class_<ScaledFormat>(module, "ScaledFormat",
      "A scaled format: an element format, a scale format and the shape of the blocks that share a scale.\noctavo.formats() lists all of them.")
      .def(nb::new_([](nb::handle name) { return &scaledFormat(name); }), DefaultFloats(), nb::arg("name").none(), nb::rv_policy::reference, "Finds the format by its name, such as \"mxfp8_e4m3\"; \"mxfp4:16\" is mxfp4 in blocks of 16.\n\nRaises FormatError for an unknown name, DtypeError for an argument that is no name.")
      .def_prop_ro("name", [](const ScaledFormat& row) { return row.name; }, "octavo's name of the format, such as \"mxfp8_e4m3\" or \"nvfp4\".")
      .def_prop_ro("element", [](const ScaledFormat& row) { return row.element; }, nb::rv_policy::reference, "The format of the elements.")
      .def_prop_ro("scale", [](const ScaledFormat& row) { return row.scale; }, nb::rv_policy::reference, "The format of the scales.")
      .def_prop_ro("block", [](const ScaledFormat& row) { return std::pair(extent(row.across), extent(row.along)); }, "Shape of a block, (across, along): its extents across and along the axis that a product contracts.\nNone stands for the whole axis.")
      .def_prop_ro("has_outer_scale", [](const ScaledFormat& row) { return row.hasOuterScale; }, "Whether a tensor of this format also has one float32 scale for all of its values.")
      .def_prop_ro("rule", [](const ScaledFormat& row) { return format::scaleRuleName(row.rule); }, "The scale rule that quantize uses if the caller names none (docs/scale-rules.md).")
      .def_prop_ro("source", [](const ScaledFormat& row) { return row.source; }, "The document that defines the format.")
      .def("__reduce__", &reduced<ScaledFormat>, DefaultFloats(), nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("__repr__", &scaledRepr, DefaultFloats());
  // clang-format on
  module.def(
      "formats",
      [] {
        nb::dict rows;
        for (const ElementFormat& row : format::kElementFormats)
          rows[nb::str(row.name.data(), row.name.size())] =
              nb::cast(&row, nb::rv_policy::reference);
        for (const ScaledFormat& row : format::kScaledFormats)
          rows[nb::str(row.name.data(), row.name.size())] =
              nb::cast(&row, nb::rv_policy::reference);
        return rows;
      },
      DefaultFloats(), nb::sig("def formats() -> dict[str, ElementFormat | ScaledFormat]"),
      "All formats by name: first the element formats (\"e4m3fn\"), then the scaled formats "
      "(\"mxfp4\").\n"
      "docs/generated/formats.md has the same tables.");
}

} // namespace octavo::python
