#include "python/bindings/BufferChecks.h"

#include "python/bindings/Errors.h"
#include "python/bindings/ScaledTensor.h"

#include <algorithm>

namespace octavo::python {

void checkBuffer(const Buffer& found, std::string_view dtype, const Shape& shape,
                 std::string_view what) {
  if (found.dtype != dtype)
    raise(ErrorClass::Dtype, "{}: expected {} for {}, found {}", found.name, dtype, what,
          found.dtype);
  if (found.shape != shape)
    raise(ErrorClass::Shape, "{}: expected shape {} for {}, found {}", found.name, text(shape),
          what, text(found.shape));
}

void checkLead(const Buffer& found, const Shape& lead, std::string_view what) {
  if (found.shape.size() < lead.size() ||
      !std::equal(lead.begin(), lead.end(), found.shape.begin()))
    raise(ErrorClass::Shape, "{}: expected the leading axes {} of {}, found shape {}", found.name,
          text(lead), what, text(found.shape));
}

Shape member(const Shape& shape, std::size_t leading) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(leading), shape.end()};
}

Shape joined(Shape lead, const Shape& rest) {
  lead.insert(lead.end(), rest.begin(), rest.end());
  return lead;
}

Shape ScaledBatch::grid() const { return format::scaleShape(shape, type.block); }

ScaledBatch scaledBatch(const format::ScaledFormat& format, const Buffer& elements,
                        std::size_t leading, std::int64_t axisFromEnd) {
  const std::size_t rank = elements.shape.size();
  if (leading > rank)
    raise(ErrorClass::Shape,
          "{}: expected {} axes or more, as many as the outer scale has, found shape {}",
          elements.name, leading, text(elements.shape));
  ScaledBatch batch;
  batch.shape = member(elements.shape, leading);
  batch.lead = elements.shape;
  batch.lead.resize(leading);
  const auto axes = static_cast<std::int64_t>(batch.shape.size());
  if (axes == 0 && leading == 0 && axisFromEnd <= 1) { // a tensor of rank 0
    batch.type = scaledType(format, batch.shape, 0);
    return batch;
  }
  if (axisFromEnd < 1 || axisFromEnd > axes)
    raise(ErrorClass::Shape, "axis: expected -{} to -1 for {} of shape {}, found {} from the end",
          axes, elements.name, text(batch.shape), axisFromEnd);
  batch.type = scaledType(format, batch.shape, static_cast<int>(axes - axisFromEnd));
  return batch;
}

void checkParts(const ScaledBatch& batch, std::string_view elementDtype, const Buffer& elements,
                const Buffer& scales, const Buffer& outer) {
  const std::string what = fmt::format("blocks of {} of a tensor of shape {}",
                                       text(batch.type.block), text(batch.shape));
  checkBuffer(elements, elementDtype, joined(batch.lead, batch.shape), what);
  checkBuffer(scales, batch.type.scale->numpy, joined(batch.lead, batch.grid()), what);
  checkBuffer(outer, "float32", batch.lead, what);
}

} // namespace octavo::python
