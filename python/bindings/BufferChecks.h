// Buffers that others made, against what a call reads and writes: the one check of every foreign
// call of JAX and of the parts of a ScaledTensor.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::python {

/// A buffer as its owner describes it.
struct Buffer {
  std::string_view name; ///< the argument's, for messages
  std::string dtype;     ///< NumPy's name of it
  Shape shape;
};

/// Raises DtypeError or ShapeError where the buffer is not of that dtype and shape. `what` says
/// whose they are.
void checkBuffer(const Buffer& found, std::string_view dtype, const Shape& shape,
                 std::string_view what);

/// Raises ShapeError where the first axes are not `lead` or are all that there are.
void checkLead(const Buffer& found, const Shape& lead, std::string_view what);

/// The axes of `shape` after the first `leading`.
Shape member(const Shape& shape, std::size_t leading);
/// Both shapes as one.
Shape joined(Shape lead, const Shape& rest);

/// A batch of scaled tensors of one shape and type.
struct ScaledBatch {
  Shape lead;  ///< of the batch; empty for one tensor
  Shape shape; ///< of a member
  numerics::ScaledType type;

  Shape grid() const; ///< of a member's scales
};

/// The batch of tensors of shape [lead..., shape...] in `format`, whose axis `axisFromEnd` (1 is
/// the last) is contracted. `leading` is the rank of lead. Raises ShapeError.
ScaledBatch scaledBatch(const format::ScaledFormat& format, const Buffer& elements,
                        std::size_t leading, std::int64_t axisFromEnd);

/// Raises DtypeError or ShapeError where the buffers are not the parts of `batch`: elements of
/// `elementDtype`, a scale a block, an outer scale a member.
void checkParts(const ScaledBatch& batch, std::string_view elementDtype, const Buffer& elements,
                const Buffer& scales, const Buffer& outer);

} // namespace octavo::python
