// octavo.ScaledTensor: NumPy arrays of elements and of their blocks' scales.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Numerics/Scaled.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

/// Elements and scales in the format's dtypes; value = element * scale * outer. Both arrays are
/// read-only, in Python too.
struct ScaledTensor {
  Array elements; ///< one byte for each code; any strides
  Array scales;   ///< of the shape format::scaleShape(elements.shape, type.block)
  float outer = 1.0f;
  /// 1 / outer as the preset's library computes and stores it; written to checkpoints. nullopt if
  /// the library stores `outer` itself.
  std::optional<float> divisor = {};
  numerics::ScaledType type = {};
  const format::ScaledFormat* format = nullptr; ///< the format of `type`; may be null
  int axis = 0; ///< the axis that a product contracts; -1 if format is null

  /// The packing of the last product with this matrix on the right; shared with its transpose.
  std::shared_ptr<struct PackedRight> packed;

  const Shape& shape() const { return elements.shape; }
};

/// The type of a tensor of this shape in `format`. `axis` lies in [0, rank); it is 0 for rank 0.
numerics::ScaledType scaledType(const format::ScaledFormat& format, const Shape& shape, int axis);

/// Makes a tensor of arrays that fit the format, and makes the arrays read-only.
ScaledTensor makeScaledTensor(Array elements, Array scales, float outer,
                              const format::ScaledFormat& format, int axis);

/// Makes a tensor of a caller's arrays. Raises DtypeError, ShapeError, FormatError if they do not
/// fit.
ScaledTensor scaledTensorOf(nanobind::handle elements, nanobind::handle scales,
                            const format::ScaledFormat& format, std::int64_t axis, float outer);

/// The elements as a row-major array. Raises FormatError for a byte that is not a code: the caller
/// may have written to the memory since it was checked.
Array rowMajorElements(const ScaledTensor& tensor);

/// The tensor with its last two axes exchanged, in the same memory.
ScaledTensor transposed(const ScaledTensor& tensor);

/// The part that a Python index selects. Raises ShapeError if the index cuts a block, IndexError.
ScaledTensor indexed(const ScaledTensor& tensor, nanobind::handle key);

/// The axis counted from the front; a negative `axis` counts from the end. Raises ShapeError if
/// there is no such axis.
int axisOf(std::int64_t axis, const Shape& shape, std::string_view name);

/// The values as a row-major f32 array.
Array dequantize(const ScaledTensor& tensor);
/// Writes the values as f32 to `out`, a NumPy array, or to a new array if `out` is None, and
/// returns the array. Raises DtypeError, ShapeError.
nanobind::object dequantizeTo(const ScaledTensor& tensor, nanobind::handle out);

/// The scaled format of this name. Raises FormatError.
const format::ScaledFormat& scaledFormat(const std::string& name);
/// The scaled format that a str or an octavo.ScaledFormat names. Messages call the argument `what`,
/// and list `others` besides the names of formats. Raises FormatError, DtypeError.
const format::ScaledFormat& scaledFormat(nanobind::handle named, std::string_view what = "format",
                                         const std::vector<std::string>& others = {});

} // namespace octavo::python
