#include "python/bindings/ScaledTensor.h"

#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/ranges.h>

#include <utility>

namespace octavo::python {

namespace nb = nanobind;

const format::ScaledFormat& scaledFormat(const std::string& name) {
  if (const format::ScaledFormat* format = format::findScaledFormat(name))
    return *format;
  std::vector<std::string_view> names;
  for (const format::ScaledFormat& row : format::kScaledFormats)
    names.push_back(row.name);
  raise(ErrorClass::Format, "format: no scaled format is named \"{}\"; there are {}", name,
        fmt::join(names, ", "));
}

int axisOf(int axis, const Shape& shape, std::string_view name) {
  const int rank = static_cast<int>(shape.size());
  if (rank == 0 && (axis == 0 || axis == -1))
    return 0;
  if (axis < -rank || axis >= rank)
    raise(ErrorClass::Shape, "{}: {} is no axis of shape {}; expected {} to {}", name, axis,
          text(shape), -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

numerics::ScaledType scaledType(const format::ScaledFormat& format, const Shape& shape, int axis) {
  Shape block;
  if (!shape.empty())
    block = format::blockShape(format, shape, axis);
  return {format.element, format.scale, std::move(block), format.hasOuterScale};
}

static Array readOnly(const Array& array) {
  Array view = array;
  view.numpy = array.numpy.attr("view")();
  view.numpy.attr("flags").attr("writeable") = false;
  return view;
}

ScaledTensor makeScaledTensor(Array elements, Array scales, float outer,
                              const format::ScaledFormat& format, int axis) {
  ScaledTensor tensor = {.elements = readOnly(elements),
                         .scales = readOnly(scales),
                         .outer = outer,
                         .type = scaledType(format, elements.shape, axis),
                         .format = &format,
                         .axis = axis};
  return tensor;
}

/// The array as codes of `format`: of its dtype, or of its width in unsigned integers.
static Array codesOf(nb::handle object, const ElementFormat& format, std::string_view name) {
  const Array array = toArray(object, name);
  if (array.format == &format)
    return array;
  if (format.isNarrow() && array.dtype == "uint8")
    return viewed(array, format);
  raise(ErrorClass::Dtype, "{}: expected {}{}, found {}", name, format.numpy,
        format.isNarrow() ? " or its codes in uint8" : "", array.dtype);
}

static ScaledTensor construct(nb::handle elementsObject, nb::handle scalesObject,
                              const std::string& formatName, int axis, float outer) {
  const format::ScaledFormat& format = scaledFormat(formatName);
  const Array elements = codesOf(elementsObject, *format.element, "elements");
  const Array scales = codesOf(scalesObject, *format.scale, "scales");
  const int contracted = axisOf(axis, elements.shape, "axis");
  const Shape grid =
      format::scaleShape(elements.shape, scaledType(format, elements.shape, contracted).block);
  if (scales.shape != grid)
    raise(ErrorClass::Shape,
          "scales: {} of shape {} along axis {} has scales of shape {}, found {}", format.name,
          text(elements.shape), contracted, text(grid), text(scales.shape));
  if (!format.hasOuterScale && outer != 1.0f)
    raise(ErrorClass::Format, "outer: {} has no outer scale, found {}", format.name, outer);
  return makeScaledTensor(elements, scales, outer, format, contracted);
}

/// Bits that one value takes with its share of the scales, packed.
static double bitsPerValue(const ScaledTensor& tensor) {
  const double values = static_cast<double>(tensor.elements.size());
  if (values == 0)
    return 0;
  return tensor.type.element->width() +
         (static_cast<double>(tensor.scales.size()) * tensor.type.scale->width() +
          (tensor.type.hasOuterScale ? 32 : 0)) /
             values;
}

static std::string repr(const ScaledTensor& tensor) {
  return fmt::format(
      "<octavo.ScaledTensor {} of shape {}, axis {}, blocks of {}{}, {:.4g} bits a "
      "value>",
      tensor.format->name, text(tensor.shape()), tensor.axis, text(tensor.type.block),
      tensor.type.hasOuterScale ? fmt::format(", outer scale {:.6g}", tensor.outer) : "",
      bitsPerValue(tensor));
}

void bindScaledTensor(nb::module_& module) {
  const auto array = [](Array ScaledTensor::*member) {
    return [member](const ScaledTensor& tensor) { return (tensor.*member).numpy; };
  };
  nb::class_<ScaledTensor>(module, "ScaledTensor",
                           "A tensor of narrow elements on a grid of scales:\n"
                           "value = element * scale of its block * outer (docs/semantics.md, S1).\n"
                           "It does not change; what it is made of is shared, not copied.")
      .def(
          "__init__",
          [](ScaledTensor* self, nb::handle elements, nb::handle scales, const std::string& format,
             int axis, float outer) {
            new (self) ScaledTensor(construct(elements, scales, format, axis, outer));
          },
          nb::arg("elements").none(), nb::arg("scales").none(), nb::arg("format"), nb::kw_only(),
          nb::arg("axis") = -1, nb::arg("outer") = 1.0f,
          nb::sig("def __init__(self, elements: numpy.typing.ArrayLike, scales: "
                  "numpy.typing.ArrayLike, format: str, *, axis: int = -1, outer: float = 1.0) -> "
                  "None"),
          "A tensor of parts that exist: elements and scales in the format's dtypes, or their "
          "codes "
          "in uint8,\none code a byte. scales has the shape of the grid of blocks.\n"
          "Raises FormatError, DtypeError, ShapeError.")
      .def_prop_ro("elements", array(&ScaledTensor::elements),
                   nb::sig("def elements(self) -> numpy.typing.NDArray[typing.Any]"),
                   "The elements, one a byte, in the dtype of the element format; read-only.")
      .def_prop_ro("scales", array(&ScaledTensor::scales),
                   nb::sig("def scales(self) -> numpy.typing.NDArray[typing.Any]"),
                   "The scales, one a block, in the dtype of the scale format; read-only.")
      .def_prop_ro(
          "outer", [](const ScaledTensor& tensor) { return tensor.outer; },
          "The scale of the whole tensor; 1 where the format has none.")
      .def_prop_ro(
          "format", [](const ScaledTensor& tensor) { return tensor.format; },
          nb::rv_policy::reference, "The scaled format.")
      .def_prop_ro(
          "axis", [](const ScaledTensor& tensor) { return tensor.axis; },
          "The axis that a product contracts, counted from the front.")
      .def_prop_ro(
          "shape", [](const ScaledTensor& tensor) { return nb::tuple(nb::cast(tensor.shape())); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Shape of the values.")
      .def_prop_ro(
          "block",
          [](const ScaledTensor& tensor) { return nb::tuple(nb::cast(tensor.type.block)); },
          nb::sig("def block(self) -> tuple[int, ...]"), "Shape of a block.")
      .def_prop_ro(
          "nbytes",
          [](const ScaledTensor& tensor) {
            return tensor.elements.size() + tensor.scales.size() * tensor.type.scale->bytes() +
                   (tensor.type.hasOuterScale ? sizeof(float) : 0);
          },
          "Bytes in memory, where an element takes a byte; bits_per_value is what it takes packed.")
      .def_prop_ro(
          "bits_per_value", &bitsPerValue,
          "Bits that a value takes in a file, where elements are packed, with its share of "
          "the scales.")
      .def(
          "dequantize", [](const ScaledTensor& tensor) { return dequantize(tensor).numpy; },
          nb::sig("def dequantize(self) -> numpy.typing.NDArray[numpy.float32]"),
          "The values, each rounded once to float32 (docs/semantics.md, S1).")
      .def("__repr__", &repr);
}

} // namespace octavo::python
