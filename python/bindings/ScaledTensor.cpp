#include "python/bindings/ScaledTensor.h"

#include "python/bindings/Bindings.h"
#include "python/bindings/BufferChecks.h"
#include "python/bindings/Errors.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"
#include "python/bindings/PackedRight.h"
#include "python/bindings/Products.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Format/UnknownFormat.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <fmt/ranges.h>

#include <cmath>
#include <utility>

namespace octavo::python {

namespace nb = nanobind;

static const format::ScaledFormat& formatNamed(const std::string& name, std::string_view what,
                                               const std::vector<std::string>& others) {
  if (const format::ScaledFormat* format = format::findScaledFormat(name))
    return *format;
  std::vector<std::string> known = base::namesOf(format::kScaledFormats);
  known.insert(known.end(), others.begin(), others.end());
  raise(ErrorClass::Format, "{}: {}", what, format::unknownFormat(name, known));
}

const format::ScaledFormat& scaledFormat(const std::string& name) {
  return formatNamed(name, "format", {});
}

const format::ScaledFormat& scaledFormat(nb::handle named, std::string_view what,
                                         const std::vector<std::string>& others) {
  if (nb::isinstance<format::ScaledFormat>(named))
    return *format::findScaledFormat(nb::cast<const format::ScaledFormat&>(named).name);
  if (!nb::isinstance<nb::str>(named))
    raise(ErrorClass::Dtype,
          "{}: expected the name of a scaled format, such as \"mxfp4\", found {}", what,
          nb::cast<std::string>(nb::repr(named)));
  return formatNamed(nb::cast<std::string>(named), what, others);
}

int axisOf(std::int64_t axis, const Shape& shape, std::string_view name) {
  const int rank = static_cast<int>(shape.size());
  if (rank == 0 && (axis == 0 || axis == -1))
    return 0;
  if (axis < -rank || axis >= rank)
    raise(ErrorClass::Shape, "{}: axis {} is out of range for shape {}; expected {} to {}", name,
          axis, text(shape), -rank, rank - 1);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
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
  ScaledTensor tensor;
  tensor.elements = readOnly(elements);
  tensor.scales = readOnly(scales);
  tensor.outer = outer;
  tensor.type = scaledType(format, elements.shape, axis);
  tensor.format = &format;
  tensor.axis = axis;
  tensor.packed = std::make_shared<PackedRight>();
  return tensor;
}

ScaledTensor transposed(const ScaledTensor& tensor) {
  const int rank = static_cast<int>(tensor.shape().size());
  if (rank < 2 || tensor.axis < rank - 2)
    raise(ErrorClass::Shape,
          "mT exchanges the last two axes, of which blocks must lie along one; found shape {}, "
          "axis {}",
          text(tensor.shape()), tensor.axis);
  const auto swapped = [](const Array& array) {
    return toArray(array.numpy.attr("swapaxes")(-1, -2), "array");
  };
  ScaledTensor result = makeScaledTensor(swapped(tensor.elements), swapped(tensor.scales),
                                         tensor.outer, *tensor.format, 2 * rank - 3 - tensor.axis);
  result.packed = tensor.packed;
  result.divisor = tensor.divisor;
  return result;
}

/// The array as codes of `format`. Its dtype must be the format's, or an unsigned integer of the
/// same width.
static Array codesOf(nb::handle object, const ElementFormat& format, std::string_view name) {
  const Array array = toArray(object, name);
  if (array.format == &format || (format.isNarrow() && array.dtype == "uint8")) {
    if (format.width() < 8)
      checkCodes(contiguous(array), format, name);
    return array.format == &format ? array : viewed(array, format);
  }
  raise(ErrorClass::Dtype, "{}: expected {}, found {}", name, codesText(format), array.dtype);
}

ScaledTensor scaledTensorOf(nb::handle elementsObject, nb::handle scalesObject,
                            const format::ScaledFormat& format, std::int64_t axis, float outer) {
  const Array elements = codesOf(elementsObject, *format.element, "elements");
  const Array scales = codesOf(scalesObject, *format.scale, "scales");
  const int contracted = axisOf(axis, elements.shape, "axis");
  const Buffer given = {"elements", elements.dtype, elements.shape};
  checkParts(
      scaledBatch(format, given, 0, static_cast<std::int64_t>(elements.shape.size()) - contracted),
      dtypeName(*format.element), given, {"scales", scales.dtype, scales.shape},
      {"outer", "float32", {}});
  if (!format.hasOuterScale && outer != 1.0f)
    raise(ErrorClass::Format, "outer: {} has no outer scale, found {}", format.name, outer);
  if (!(outer >= 0 && std::isfinite(outer)))
    raise(ErrorClass::Format,
          "outer: expected a finite number of at least 0, found {}; elements and scales have signs "
          "and NaN",
          outer);
  return makeScaledTensor(elements, scales, outer, format, contracted);
}

Array rowMajorElements(const ScaledTensor& tensor) {
  const Array elements = contiguous(tensor.elements);
  checkCodes(elements, *tensor.type.element, "elements, written to since they were given");
  return elements;
}

/// Bits that a value takes in a file: its packed element and its share of the scales.
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

/// The tensor's state for pickle: codes and scales as unsigned integers, format, axis, outer scale,
/// divisor.
static nb::tuple state(const ScaledTensor& tensor) {
  const auto codes = [](const Array& array) {
    return array.numpy.attr("view")(
        nb::str(fmt::format("uint{}", 8 * nb::cast<int>(array.numpy.attr("dtype").attr("itemsize")))
                    .c_str()));
  };
  return nb::make_tuple(codes(tensor.elements), codes(tensor.scales), tensor.format->name,
                        tensor.axis, tensor.outer, tensor.divisor);
}

/// The tensor of a pickled state. The state is untrusted: it is checked like the constructor's
/// arguments.
static ScaledTensor fromState(const nb::tuple& state) {
  if (state.size() != 6)
    raise(ErrorClass::Shape, "state: expected 6 parts of a ScaledTensor, found {}", state.size());
  const format::ScaledFormat& format = scaledFormat(nb::handle(state[2]));
  const auto codes = [&](nb::handle part, const ElementFormat& row) {
    const Array array = toArray(part, "state");
    const std::string expected = fmt::format("uint{}", 8 * row.bytes());
    if (array.dtype != expected)
      raise(ErrorClass::Dtype, "state: expected codes of {} in {}, found {}", row.name, expected,
            array.dtype);
    return viewed(array, row).numpy;
  };
  ScaledTensor tensor =
      scaledTensorOf(codes(state[0], *format.element), codes(state[1], *format.scale), format,
                     integer(state[3], "state"), static_cast<float>(number(state[4], "state")));
  if (!state[5].is_none())
    tensor.divisor = static_cast<float>(number(state[5], "state"));
  return tensor;
}

static bool areEqual(const ScaledTensor& a, const ScaledTensor& b) {
  if (a.format != b.format || a.axis != b.axis || a.shape() != b.shape() || a.outer != b.outer)
    return false;
  const nb::tuple left = state(a), right = state(b);
  const nb::object equal = nb::module_::import_("numpy").attr("array_equal");
  return nb::cast<bool>(equal(left[0], right[0])) && nb::cast<bool>(equal(left[1], right[1]));
}

void bindScaledTensor(nb::module_& module) {
  const auto array = [](Array ScaledTensor::* member) {
    return [member](const ScaledTensor& tensor) { return (tensor.*member).numpy; };
  };
  nb::class_<ScaledTensor>(
      module, "ScaledTensor",
      R"(A quantized tensor: narrow elements, and a scale for each block of them.

value = element * scale of its block * outer (docs/semantics.md, S1). octavo.quantize makes it,
dequantize() gives the values as float32, and tensor @ array multiplies (octavo.matmul). A tensor is
immutable. Slices, transposes and tensors made of existing arrays share memory instead of copying.)",
      nb::is_weak_referenceable())
      .def(
          "__init__",
          [](ScaledTensor* self, nb::handle elements, nb::handle scales, nb::handle format,
             nb::handle axis, double outer) {
            new (self)
                ScaledTensor(scaledTensorOf(elements, scales, scaledFormat(format),
                                            integer(axis, "axis"), static_cast<float>(outer)));
          },
          DefaultFloats(), nb::arg("elements").none(), nb::arg("scales").none(),
          nb::arg("format").none(), nb::kw_only(), nb::arg("axis").none() = -1,
          nb::arg("outer") = 1.0f,
          nb::sig("def __init__(self, elements: numpy.typing.ArrayLike, scales: "
                  "numpy.typing.ArrayLike, format: str | ScaledFormat, *, axis: int = -1, outer: "
                  "float = 1.0) -> "
                  "None"),
          R"(Makes a tensor of existing elements and scales, without copying them.

elements: in the dtype of the format's elements, or their codes in uint8, one code a byte.
scales: in the dtype of the format's scales, or their codes in uint8; one for each block, in the
    shape of the grid of blocks.
format: a scaled format or its name.
axis: the axis that a product contracts.
outer: the scale of the whole tensor: finite, at least 0, and 1 unless the format has an outer scale.

Raises FormatError, DtypeError, ShapeError.)")
      .def_prop_ro("elements", array(&ScaledTensor::elements),
                   nb::sig("def elements(self) -> numpy.typing.NDArray[typing.Any]"),
                   "The elements in the dtype of the element format, one a byte, of the tensor's "
                   "shape. Read-only.")
      .def_prop_ro(
          "codes",
          [](const ScaledTensor& tensor) { return tensor.elements.numpy.attr("view")("uint8"); },
          nb::sig("def codes(self) -> numpy.typing.NDArray[numpy.uint8]"),
          "The elements' codes as uint8, one a byte: the memory of `elements` for libraries that "
          "do not "
          "know\nml_dtypes. Read-only.")
      .def_prop_ro("scales", array(&ScaledTensor::scales),
                   nb::sig("def scales(self) -> numpy.typing.NDArray[typing.Any]"),
                   "The scales in the dtype of the scale format, one for each block. Read-only.")
      .def_prop_ro(
          "outer", [](const ScaledTensor& tensor) { return static_cast<double>(tensor.outer); },
          DefaultFloats(), "The scale of the whole tensor; 1 if the format has no outer scale.")
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
          "ndim", [](const ScaledTensor& tensor) { return tensor.shape().size(); },
          "Number of axes.")
      .def_prop_ro(
          "size", [](const ScaledTensor& tensor) { return tensor.elements.size(); },
          "Number of values.")
      .def_prop_ro(
          "dtype",
          [](const ScaledTensor&) {
            return nb::module_::import_("numpy").attr("dtype")("float32");
          },
          nb::for_getter(nb::sig("def dtype(self) -> numpy.dtype[numpy.float32]")),
          "The dtype of the values: float32. `elements.dtype` is the dtype of the elements.")
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
          "Bytes in memory, where each element takes a byte. bits_per_value is the size in a file.")
      .def_prop_ro(
          "bits_per_value", &bitsPerValue,
          "Bits that a value takes in a file: its packed element and its share of the scales.")
      .def(
          "dequantize", &dequantizeTo, DefaultFloats(), nb::kw_only(), nb::arg("out") = nb::none(),
          nb::sig("def dequantize(self, *, out: numpy.typing.NDArray[numpy.float32] | None = None) "
                  "-> numpy.typing.NDArray[numpy.float32]"),
          R"(The values as float32, each rounded once (docs/semantics.md, S1).

out: a float32 NumPy array of the tensor's shape to write to; None makes a new array.

Returns the array written to. Raises DtypeError, ShapeError.)")
      .def_prop_ro(
          "T",
          [](const ScaledTensor& tensor) {
            if (tensor.shape().size() != 2)
              raise(ErrorClass::Shape,
                    "T is of matrices, found shape {}; mT exchanges the last "
                    "two axes",
                    text(tensor.shape()));
            return transposed(tensor);
          },
          "The transposed matrix, in the same memory. Raises ShapeError unless there are two axes.")
      .def_prop_ro("mT", &transposed,
                   "The tensor with its last two axes exchanged, in the same memory.")
      .def(
          "__getitem__", &indexed, DefaultFloats(), nb::arg("key").none(),
          nb::sig("def __getitem__(self, key: int | slice | types.EllipsisType | tuple[int | slice "
                  "| types.EllipsisType, ...], /) -> ScaledTensor"),
          R"(A part of the tensor, in the same memory.

key: integers, slices with step 1, and `...`. A slice begins and ends at block boundaries, unless one
    scale covers the whole axis (per row, per tensor). An integer removes its axis, so blocks must
    have extent 1 along that axis.

Raises ShapeError, IndexError.)")
      .def(
          "__len__",
          [](const ScaledTensor& tensor) {
            if (tensor.shape().empty())
              raise(ErrorClass::Shape, "a tensor of shape () has no length");
            return tensor.shape()[0];
          },
          DefaultFloats())
      .def("__eq__", &areEqual, DefaultFloats(), nb::arg("other"), nb::is_operator(),
           nb::sig("def __eq__(self, other: object, /) -> bool"),
           "Whether the format, the axis, the outer scale and every code are the same.")
      .def(
          "__matmul__", [](nb::handle a, nb::handle b) { return matmul(a, b); }, DefaultFloats(),
          nb::arg("b"),
          nb::sig("def __matmul__(self, b: ScaledTensor | numpy.typing.ArrayLike, /) -> "
                  "numpy.typing.NDArray[numpy.float32]"),
          "octavo.matmul(self, b).")
      .def(
          "__rmatmul__", [](nb::handle b, nb::handle a) { return matmul(a, b); }, DefaultFloats(),
          nb::arg("a"),
          nb::sig("def __rmatmul__(self, a: numpy.typing.ArrayLike, /) -> "
                  "numpy.typing.NDArray[numpy.float32]"),
          "octavo.matmul(a, self).")
      .def(
          "__array__",
          [](const ScaledTensor&, nb::args, nb::kwargs) -> nb::object {
            raise(ErrorClass::Dtype,
                  "a ScaledTensor is not an array: dequantize() gives its values, "
                  "elements and scales are its codes");
          },
          DefaultFloats(),
          nb::sig("def __array__(self, *args: typing.Any, **kwargs: typing.Any) -> "
                  "typing.NoReturn"),
          "Raises DtypeError. NumPy never dequantizes a tensor implicitly; dequantize() does it "
          "explicitly.")
      .def("__getstate__", &state, DefaultFloats(),
           nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](ScaledTensor* self, const nb::tuple& state) {
            new (self) ScaledTensor(fromState(state));
          },
          DefaultFloats(), nb::arg("state"),
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...], /) -> None"))
      .def("__repr__", &repr, DefaultFloats())
      .attr("__hash__") = nb::none();
  // NumPy must leave `array @ tensor` to __rmatmul__ and raise TypeError for `array + tensor`.
  nb::type<ScaledTensor>().attr("__array_ufunc__") = nb::none();
}

} // namespace octavo::python
