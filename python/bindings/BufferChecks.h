// Checks of buffers that callers made, before a kernel reads or writes them. JAX's foreign calls
// and the constructor of ScaledTensor use the same checks.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::python {

/// A buffer's dtype and shape, as its owner declares them.
struct Buffer {
  std::string_view name; ///< the argument's name, for messages
  std::string dtype;     ///< NumPy's name of the dtype
  Shape shape;
};

/// Raises DtypeError or ShapeError unless the buffer has this dtype and shape. `what` names the
/// thing that requires them, for messages.
void checkBuffer(const Buffer& found, std::string_view dtype, const Shape& shape,
                 std::string_view what);

/// Raises ShapeError unless the buffer's first axes are `lead` and more axes follow.
void checkLead(const Buffer& found, const Shape& lead, std::string_view what);

/// The extents of `shape` after the first `leading` axes.
Shape member(const Shape& shape, std::size_t leading);
/// The shapes concatenated.
Shape joined(Shape lead, const Shape& rest);

/// A batch of scaled tensors that share shape and type.
struct ScaledBatch {
  Shape lead;  ///< the batch's axes; empty for a single tensor
  Shape shape; ///< of a member's values
  numerics::ScaledType type;

  Shape grid() const; ///< of a member's scales
};

/// The batch whose elements [lead..., shape...] are in `format`. `leading` is the rank of `lead`.
/// Products contract axis `axisFromEnd`, counted from the end; 1 is the last axis. Raises
/// ShapeError.
ScaledBatch scaledBatch(const format::ScaledFormat& format, const Buffer& elements,
                        std::size_t leading, std::int64_t axisFromEnd);

/// Raises DtypeError or ShapeError unless the buffers are the parts of `batch`: elements of
/// `elementDtype`, one scale for each block, one outer scale for each member.
void checkParts(const ScaledBatch& batch, std::string_view elementDtype, const Buffer& elements,
                const Buffer& scales, const Buffer& outer);

} // namespace octavo::python
