#include "python/bindings/ProductResult.h"

#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/Options.h"

#include "octavo/Kernels/Product/Product.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

namespace octavo::python {

namespace nb = nanobind;

/// The values as f32. f64 values, NumPy's default, are rounded once.
static Array rounded(const Array& array, std::string_view name) {
  if (array.format == &format::element("f64"))
    return toArray(array.numpy.attr("astype")(nb::str("float32")), name);
  return asFloats(array, name);
}

/// The array as f32, broadcast to `shape` by NumPy's rules. Raises ShapeError, DtypeError.
static std::optional<Array> addedArray(nb::handle object, const Shape& shape,
                                       std::string_view name) {
  if (object.is_none())
    return std::nullopt;
  const Array given = rounded(toArray(object, name), name);
  const std::size_t rank = given.shape.size();
  bool fits = rank <= shape.size();
  for (std::size_t i = 0; fits && i < rank; ++i)
    fits = given.shape[i] == 1 || given.shape[i] == shape[shape.size() - rank + i];
  if (!fits)
    raise(ErrorClass::Shape, "{}: expected a shape that broadcasts to {}, found {}", name,
          text(shape), text(given.shape));
  if (given.shape == shape)
    return given;
  const nb::object broadcast = nb::module_::import_("numpy").attr("broadcast_to");
  return contiguous(toArray(broadcast(given.numpy, nb::tuple(nb::cast(shape))), name));
}

static const ElementFormat& outputFormat(const EpilogueArguments& arguments) {
  const ElementFormat& format = elementFormat(arguments.to, "to");
  if (!format.isNarrow() && format.name != "f32" && format.name != "bf16" && format.name != "f16")
    raise(ErrorClass::Format,
          "to: expected f32, bf16, f16 or a format of at most 8 bits, found {}, for which there is "
          "astype",
          format.name);
  if (!std::isfinite(arguments.scale) || arguments.scale <= 0)
    raise(ErrorClass::Format, "scale: expected a positive number, found {}", arguments.scale);
  if (!format.isNarrow() && arguments.scale != 1)
    raise(ErrorClass::Format,
          "scale: values become codes of a narrow format by it; to={} stores them as they are",
          format.name);
  return format;
}

ProductResult::ProductResult(const EpilogueArguments& arguments, const Shape& shape)
    : shape(shape), returnsAmax(arguments.returnsAmax) {
  whole.format = &outputFormat(arguments);
  whole.scale = arguments.scale;
  if (arguments.activation)
    whole.activation = activation(*arguments.activation);
  addend = addedArray(arguments.addend, shape, "addend");
  residual = addedArray(arguments.residual, shape, "residual");
  // One value for each column: the same for every product, or one row for each product.
  Shape biasShape = {columns()};
  if (!arguments.bias.is_none() && toArray(arguments.bias, "bias").shape.size() > 1) {
    biasShape = shape;
    *(biasShape.end() - 2) = 1;
    whole.biasStride = columns();
  }
  bias = addedArray(arguments.bias, biasShape, "bias");
  const auto floats = [](const std::optional<Array>& array) {
    return array ? reinterpret_cast<const float*>(array->data) : nullptr;
  };
  whole.addend = floats(addend);
  whole.bias = floats(bias);
  whole.residual = floats(residual);
  whole.amax = returnsAmax ? &amax : nullptr;
  std::vector<Array> inputs = arguments.operands;
  for (const std::optional<Array>& each : {addend, bias, residual})
    if (each)
      inputs.push_back(*each);
  destination.emplace(arguments.out, shape, *whole.format, "out", inputs);
  output = destination->array();
}

std::int64_t ProductResult::products() const {
  return isEmpty() ? 0 : static_cast<std::int64_t>(output.size()) / (rows() * columns());
}

bool ProductResult::isPlain() const {
  return !addend && !bias && !residual && whole.activation == kernels::Activation::None &&
         !whole.amax && whole.format == &format::element("f32");
}

void* ProductResult::dataOf(std::int64_t item) const {
  return output.data + item * rows() * columns() * whole.format->bytes();
}

kernels::Epilogue ProductResult::epilogueOf(std::int64_t item, float& itemAmax) const {
  kernels::Epilogue epilogue = whole;
  const std::int64_t first = item * rows() * columns();
  if (addend)
    epilogue.addend += first;
  if (bias)
    epilogue.bias += item * whole.biasStride;
  if (residual)
    epilogue.residual += first;
  if (epilogue.amax)
    epilogue.amax = &itemAmax;
  return epilogue;
}

void ProductResult::gatherAmax(float itemAmax) {
  if (std::isnan(itemAmax) || itemAmax > amax)
    amax = itemAmax;
}

void ProductResult::fill(const Array& sums) {
  if (whole.format == &format::element("f32"))
    output = sums;
  if (isPlain() || isEmpty())
    return;
  withoutLock([&] {
    kernels::finish(std::span(reinterpret_cast<float*>(sums.data), output.size()), products(),
                    rows(), columns(), output.data, whole, execution());
  });
}

nb::object ProductResult::toPython() const {
  const nb::object array = destination->toPython(output);
  if (!returnsAmax)
    return array;
  return nb::make_tuple(array, nb::module_::import_("numpy").attr("float32")(amax));
}

} // namespace octavo::python
