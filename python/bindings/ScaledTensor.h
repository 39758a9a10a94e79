// octavo.ScaledTensor: elements on a grid of scales, both NumPy arrays.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Numerics/Scaled.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

/// Elements and scales of dtypes of the format; value = element * scale * outer. Nothing writes to
/// either array, and Python cannot.
struct ScaledTensor {
  Array elements; ///< one code an element; any strides
  Array scales;   ///< format::scaleShape of the elements' shape and the block
  float outer = 1.0f;
  /// The number whose inverse `outer` is, where the preset's owner stores that: checkpoints get it.
  std::optional<float> divisor = {};
  numerics::ScaledType type = {};
  const format::ScaledFormat* format =
      nullptr;  ///< the row that type and block come from; may be null
  int axis = 0; ///< the one that a product contracts; -1 where format is null

  /// Kept by a matrix that was the right operand of a product, and by its transpose.
  std::shared_ptr<struct PackedRight> packed;

  const Shape& shape() const { return elements.shape; }
};

/// The type of a tensor of that shape in `format`. `axis` lies in [0, rank); 0 for rank 0.
numerics::ScaledType scaledType(const format::ScaledFormat& format, const Shape& shape, int axis);

/// A tensor of arrays that fit `type`, which it makes read-only.
ScaledTensor makeScaledTensor(Array elements, Array scales, float outer,
                              const format::ScaledFormat& format, int axis);

/// The same of parts from elsewhere, checked: raises DtypeError, ShapeError, FormatError.
ScaledTensor scaledTensorOf(nanobind::handle elements, nanobind::handle scales,
                            const format::ScaledFormat& format, std::int64_t axis, float outer);

/// The elements, row-major. Their memory may be the caller's, who may have written to it: raises
/// FormatError for a byte that is no code.
Array rowMajorElements(const ScaledTensor& tensor);

/// The tensor with its last two axes exchanged, of the same memory.
ScaledTensor transposed(const ScaledTensor& tensor);

/// The part that a Python index names; raises ShapeError where it cuts blocks, IndexError.
ScaledTensor indexed(const ScaledTensor& tensor, nanobind::handle key);

/// `axis` counted from the front; raises ShapeError if the rank has no such axis.
int axisOf(std::int64_t axis, const Shape& shape, std::string_view name);

/// The values as f32, row-major.
Array dequantize(const ScaledTensor& tensor);
/// The same in the memory of `out`, a NumPy array, or in a new one where it is None. Raises
/// DtypeError, ShapeError.
nanobind::object dequantizeTo(const ScaledTensor& tensor, nanobind::handle out);

/// The row that a name or an octavo.ScaledFormat names; raises FormatError, DtypeError.
const format::ScaledFormat& scaledFormat(const std::string& name);
/// The same; `what` stands for it in errors, and `others` are names besides those of formats.
const format::ScaledFormat& scaledFormat(nanobind::handle named, std::string_view what = "format",
                                         const std::vector<std::string>& others = {});

} // namespace octavo::python
