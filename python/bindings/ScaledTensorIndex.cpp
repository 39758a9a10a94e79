// ScaledTensor.__getitem__: parts of a tensor that consist of whole blocks.
#include "python/bindings/Errors.h"
#include "python/bindings/ScaledTensor.h"

#include <limits>

namespace octavo::python {

namespace nb = nanobind;

/// The key as a list with one index or slice for each axis.
static std::vector<nb::object> onePerAxis(nb::handle key, std::size_t rank) {
  std::vector<nb::object> given;
  if (nb::isinstance<nb::tuple>(key))
    for (nb::handle each : nb::borrow<nb::tuple>(key))
      given.push_back(nb::borrow(each));
  else
    given.push_back(nb::borrow(key));
  const nb::object all = nb::slice(nb::none(), nb::none(), nb::none());
  std::size_t ellipses = 0;
  for (const nb::object& each : given)
    ellipses += each.is(nb::ellipsis());
  if (ellipses > 1 || given.size() - ellipses > rank)
    throw nb::index_error("too many indices, or more than one ellipsis");
  std::vector<nb::object> keys;
  for (const nb::object& each : given)
    if (each.is(nb::ellipsis()))
      keys.insert(keys.end(), rank + 1 - given.size(), all);
    else
      keys.push_back(each);
  keys.resize(rank, all);
  return keys;
}

/// Whether the object is an array or a list. Its __index__, if it has one, may raise: an array has
/// the method, but only an array of one integer answers.
static bool isArray(nb::handle key) { return nb::hasattr(key, "__len__"); }

ScaledTensor indexed(const ScaledTensor& tensor, nb::handle key) {
  const Shape& shape = tensor.shape();
  // On very long axes, a block that spans the whole axis differs from every block of fixed extent.
  constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();
  const Shape extents = scaledType(*tensor.format, Shape(shape.size(), kLong), tensor.axis).block;
  nb::list elementKeys, scaleKeys;
  int axisAfter = tensor.axis;
  const std::vector<nb::object> keys = onePerAxis(key, shape.size());
  for (std::size_t axis = 0; axis < keys.size(); ++axis) {
    const std::int64_t n = shape[axis];
    const bool isWhole = extents[axis] == kLong;
    if (nb::isinstance<nb::slice>(keys[axis])) {
      Py_ssize_t start, stop, step;
      if (PySlice_Unpack(keys[axis].ptr(), &start, &stop, &step) < 0)
        throw nb::python_error();
      const Py_ssize_t length = PySlice_AdjustIndices(n, &start, &stop, step);
      if (step != 1)
        raise(ErrorClass::Shape, "axis {}: a scaled tensor is cut in steps of 1, found {}", axis,
              step);
      stop = start + length;
      const std::int64_t block = isWhole ? 1 : extents[axis];
      if (length > 0 && (start % block != 0 || (stop % block != 0 && stop != n)))
        raise(ErrorClass::Shape,
              "axis {}: {}:{} cuts blocks, whose edges are the multiples of {}; slice on edges, or "
              "dequantize() first",
              axis, start, stop, block);
      elementKeys.append(nb::slice(start, stop));
      scaleKeys.append(length == 0 ? nb::slice(0, 0)
                       : isWhole   ? nb::slice(0, 1)
                                   : nb::slice(start / block, (stop + block - 1) / block));
    } else if (PyIndex_Check(keys[axis].ptr()) && !isArray(keys[axis]) &&
               !PyBool_Check(keys[axis].ptr())) { // NumPy treats a bool as a mask
      std::int64_t index = PyNumber_AsSsize_t(keys[axis].ptr(), PyExc_IndexError);
      if (index == -1 && PyErr_Occurred())
        throw nb::python_error();
      if (index < -n || index >= n)
        throw nb::index_error(fmt::format("index {} is out of range for axis {} of shape {}", index,
                                          axis, text(shape))
                                  .c_str());
      index += index < 0 ? n : 0;
      if (static_cast<int>(axis) == tensor.axis || (!isWhole && extents[axis] != 1))
        raise(ErrorClass::Shape,
              "axis {}: blocks of {} lie along it, so an index cannot take it away; slice on edges "
              "of blocks, or dequantize() first",
              axis, tensor.type.block[axis]);
      elementKeys.append(index);
      scaleKeys.append(isWhole ? 0 : index);
      axisAfter -= static_cast<int>(axis) < tensor.axis;
    } else {
      raise(ErrorClass::Shape,
            "axis {}: a scaled tensor takes integers, slices and ... as indices; dequantize() "
            "gives an array, which takes others",
            axis);
    }
  }
  const auto partOf = [](const Array& array, nb::list keys) {
    // With an ellipsis NumPy returns an array, not a scalar, even if every axis has an index.
    keys.append(nb::ellipsis());
    return toArray(array.numpy[nb::tuple(keys)], "array");
  };
  const Array elements = partOf(tensor.elements, elementKeys);
  const Array scales = partOf(tensor.scales, scaleKeys);
  const Shape grid = format::scaleShape(
      elements.shape, scaledType(*tensor.format, elements.shape, axisAfter).block);
  if (grid != scales.shape)
    raise(ErrorClass::Shape,
          "{} has blocks on the last two axes: an index takes away one before them",
          tensor.format->name);
  ScaledTensor part = makeScaledTensor(elements, scales, tensor.outer, *tensor.format, axisAfter);
  part.divisor = tensor.divisor;
  return part;
}

} // namespace octavo::python
