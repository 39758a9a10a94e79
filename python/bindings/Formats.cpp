// octavo.formats: the rows of the tables of octavo/Format.
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

/// A block extent, nothing for the whole axis.
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

/// How a row is pickled: by its name, since there is one of each.
template <typename Row> static nb::tuple reduced(const Row& row) {
  return nb::make_tuple(nb::type<Row>(), nb::make_tuple(std::string(row.name)));
}

void bindFormats(nb::module_& module) {
  // clang-format off
  nb::class_<ElementFormat>(module, "ElementFormat",
      "One element format: what its codes mean. Rows come from formats().")
      .def(nb::new_([](nb::handle name) { return &elementFormat(name, "format"); }), DefaultFloats(), nb::arg("name").none(), nb::rv_policy::reference, "The row of that name or dtype. Raises FormatError, DtypeError.")
      .def_prop_ro("name", [](const ElementFormat& row) { return row.name; }, "octavo's name: e4m3fn")
      .def_prop_ro("bits", &ElementFormat::width, "Width of a code.")
      .def_prop_ro("exponent_bits", [](const ElementFormat& row) { return row.exponentBits; }, "Width of the exponent field.")
      .def_prop_ro("trailing_significand_bits", [](const ElementFormat& row) { return row.trailingSignificandBits; }, "Width of the significand without its leading bit.")
      .def_prop_ro("bias", [](const ElementFormat& row) { return row.bias; }, "Bias of the exponent.")
      .def_prop_ro("max", &numerics::maxValue, "The largest finite value.")
      .def_prop_ro("min_normal", &numerics::minNormal, "The smallest positive normal value.")
      .def_prop_ro("min_positive", &numerics::minPositive, "The smallest positive value, a subnormal where there are some.")
      .def_prop_ro("max_code", &ElementFormat::maxCode, "Code of the largest finite value.")
      .def_prop_ro("inf_code", &ElementFormat::infCode, "Code of +Inf, None where there is none.")
      .def_prop_ro("nan_code", &ElementFormat::nanCode, "Code that NaN is encoded as, None where there is none.")
      .def_prop_ro("has_negative_zero", &ElementFormat::hasNegativeZero, "Whether -0 has a code.")
      .def_prop_ro("numpy", [](const ElementFormat& row) { return spelling(row.numpy); }, "Name of the dtype in NumPy or ml_dtypes, or None.")
      .def_prop_ro("torch", [](const ElementFormat& row) { return spelling(row.torch); }, "Name of the dtype in torch, or None.")
      .def_prop_ro("safetensors", [](const ElementFormat& row) { return spelling(row.safetensors); }, "Name of the dtype in safetensors, or None.")
      .def_prop_ro("mlir", [](const ElementFormat& row) { return spelling(row.mlir); }, "Name of the type in MLIR.")
      .def_prop_ro("ocp", [](const ElementFormat& row) { return spelling(row.ocp); }, "Name in the OCP specifications, or None.")
      .def_prop_ro("source", [](const ElementFormat& row) { return row.source; }, "The document that defines the format.")
      .def("__reduce__", &reduced<ElementFormat>, DefaultFloats(), nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("__repr__", &elementRepr, DefaultFloats());
  nb::class_<ScaledFormat>(module, "ScaledFormat",
      "One scaled format: elements on a grid of scales. Rows come from formats().")
      .def(nb::new_([](nb::handle name) { return &scaledFormat(name); }), DefaultFloats(), nb::arg("name").none(), nb::rv_policy::reference, "The row of that name. Raises FormatError, DtypeError.")
      .def_prop_ro("name", [](const ScaledFormat& row) { return row.name; }, "mxfp8_e4m3, nvfp4, ...")
      .def_prop_ro("element", [](const ScaledFormat& row) { return row.element; }, nb::rv_policy::reference, "The format of the elements.")
      .def_prop_ro("scale", [](const ScaledFormat& row) { return row.scale; }, nb::rv_policy::reference, "The format of the scales.")
      .def_prop_ro("block", [](const ScaledFormat& row) { return std::pair(extent(row.across), extent(row.along)); }, "Extents of a block: across the axis that a product contracts, and along it; None is the whole axis.")
      .def_prop_ro("has_outer_scale", [](const ScaledFormat& row) { return row.hasOuterScale; }, "Whether there is one f32 scale of the whole tensor on top.")
      .def_prop_ro("rule", [](const ScaledFormat& row) { return format::scaleRuleName(row.rule); }, "The scale rule when none is asked for.")
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
      "All formats by name: element formats (e4m3fn, ...), then scaled formats (mxfp4, ...).");
}

} // namespace octavo::python
