#include "octavo/Dialect/Sdy/Axes.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::sdy {

using llvm::LogicalResult;

namespace {

AxisSpan spanOf(AxisRefAttr axis, MeshAttr mesh) {
  const SubAxisInfoAttr part = axis.getSubAxisInfo();
  return part ? AxisSpan{axis.getName(), part.getPreSize(), part.getPreSize() * part.getSize()}
              : AxisSpan{axis.getName(), 1, mesh.sizeOf(axis.getName())};
}

/// The position of a span in the mesh's order.
std::pair<std::int64_t, std::int64_t> placeOf(const AxisSpan& span, MeshAttr mesh) {
  const auto own =
      llvm::find_if(mesh.getAxes(), [&](MeshAxisAttr axis) { return axis.getName() == span.axis; });
  return {own - mesh.getAxes().begin(), span.from};
}

bool areOne(const AxisSpan& first, const AxisSpan& second) {
  return first.axis == second.axis && first.to == second.from;
}

} // namespace

AxisSpans::AxisSpans(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  for (AxisRefAttr axis : axes)
    append(spanOf(axis, mesh));
}

void AxisSpans::append(AxisSpan span) {
  if (!spans.empty() && areOne(spans.back(), span))
    spans.back().to = span.to;
  else
    spans.push_back(span);
}

void AxisSpans::append(const AxisSpans& others) {
  for (const AxisSpan& span : others.spans)
    append(span);
}

std::int64_t AxisSpans::parts() const {
  std::int64_t count = 1;
  for (const AxisSpan& span : spans)
    count *= span.size();
  return count;
}

bool AxisSpans::overlap(const AxisSpans& others) const {
  return llvm::any_of(spans, [&](const AxisSpan& span) {
    return llvm::any_of(others.spans, [&](const AxisSpan& other) { return span.overlaps(other); });
  });
}

bool AxisSpans::take(const AxisSpans& others) {
  llvm::SmallVector<AxisSpan> left = spans;
  for (const AxisSpan& taken : llvm::reverse(others.spans)) {
    if (left.empty() || left.back().axis != taken.axis || left.back().to != taken.to ||
        taken.from < left.back().from || taken.from % left.back().from != 0)
      return false;
    left.back().to = taken.from;
    if (left.back().size() == 1)
      left.pop_back();
  }
  spans = std::move(left);
  return true;
}

AxisSpans AxisSpans::sorted(MeshAttr mesh) const {
  llvm::SmallVector<AxisSpan> ordered = spans;
  llvm::sort(ordered, [&](const AxisSpan& one, const AxisSpan& other) {
    return placeOf(one, mesh) < placeOf(other, mesh);
  });
  AxisSpans merged;
  for (const AxisSpan& span : ordered)
    merged.append(span);
  return merged;
}

std::string AxisSpans::spell(MeshAttr mesh) const {
  std::string text;
  for (const AxisSpan& span : spans) {
    text += (text.empty() ? "\"" : ", \"") + span.axis.str() + "\"";
    if (span.size() != mesh.sizeOf(span.axis))
      text += ":(" + std::to_string(span.from) + ")" + std::to_string(span.size());
  }
  return text;
}

LogicalResult AxisChecker::check(AxisRefAttr axis) {
  const std::int64_t size = mesh.sizeOf(axis.getName());
  if (size == 0)
    return op->emitOpError() << "(S4) " << what << " names the axis \"" << axis.getName()
                             << "\", which the mesh does not have";
  if (const SubAxisInfoAttr part = axis.getSubAxisInfo()) {
    if (part.getPreSize() < 1 || part.getSize() < 1 || size % part.getPreSize() != 0 ||
        size / part.getPreSize() % part.getSize() != 0)
      return op->emitOpError() << "(S4) " << what << " names a part of the axis \""
                               << axis.getName() << "\" that does not divide its " << size
                               << " devices";
    if (part.getSize() == 1 || part.getSize() == size)
      return op->emitOpError() << "(S4) " << what << " names a part of the axis \""
                               << axis.getName() << "\" that is "
                               << (part.getSize() == 1 ? "1" : "all of it");
  }
  const AxisSpan own = spanOf(axis, mesh);
  if (llvm::any_of(seen, [&](const AxisSpan& other) {
        return other.overlaps(own) || other == own; // an axis of one device overlaps nothing
      }))
    return op->emitOpError() << "(S5) " << what << " names the axis \"" << axis.getName()
                             << "\" twice";
  seen.push_back(own);
  return mlir::success();
}

LogicalResult AxisChecker::check(llvm::ArrayRef<AxisRefAttr> axes) {
  const std::size_t before = seen.size();
  for (AxisRefAttr axis : axes) {
    if (failed(check(axis)))
      return mlir::failure();
    if (seen.size() >= before + 2 && areOne(seen[seen.size() - 2], seen.back()))
      return op->emitOpError() << "(S5) " << what << " names two parts of the axis \""
                               << axis.getName() << "\" in a row that are to be written as one";
  }
  return mlir::success();
}

LogicalResult AxisChecker::checkOrdered(llvm::ArrayRef<AxisRefAttr> axes, llvm::StringRef kind) {
  const std::size_t before = seen.size();
  if (failed(check(axes)))
    return mlir::failure();
  if (!llvm::is_sorted(llvm::drop_begin(seen, before), [&](const auto& one, const auto& other) {
        return placeOf(one, mesh) < placeOf(other, mesh);
      }))
    return op->emitOpError() << "(S6) " << what << " names " << kind
                             << " in another order than the mesh";
  return mlir::success();
}

} // namespace octavo::sdy
