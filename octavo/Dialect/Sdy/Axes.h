// Lists of axes of a mesh, and of parts of them.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

#include <string>

namespace octavo::sdy {

/// What a list names of an axis: from one stride up to another.
struct AxisSpan {
  llvm::StringRef axis;
  std::int64_t from = 1, to = 1;

  std::int64_t size() const { return to / from; }
  bool overlaps(const AxisSpan& other) const {
    return axis == other.axis && from < other.to && other.from < to;
  }
  bool operator==(const AxisSpan&) const = default;
};

/// The spans of a list, from the outermost on; those that follow one another on an axis are one.
/// The list is one that `AxisChecker` has passed.
class AxisSpans {
public:
  AxisSpans() = default;
  AxisSpans(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

  /// Into how many parts the axes cut a dimension.
  std::int64_t parts() const;
  bool overlap(const AxisSpans& others) const;
  void append(const AxisSpans& others);
  /// Takes the others off the end; false, and nothing is taken, where they are not there.
  bool take(const AxisSpans& others);
  /// In the mesh's order.
  AxisSpans sorted(MeshAttr mesh) const;
  /// `"a", "b":(1)2`
  std::string spell(MeshAttr mesh) const;

  bool operator==(const AxisSpans&) const = default;

private:
  void append(AxisSpan span);

  llvm::SmallVector<AxisSpan> spans;
};

/// Verifies lists of axes that together may have none twice: (S4), (S5) and (S6) of TensorSharding.
class AxisChecker {
public:
  /// `what` has the lists: "the sharding of result 0".
  AxisChecker(mlir::Operation* op, std::string what, MeshAttr mesh)
      : op(op), what(std::move(what)), mesh(mesh) {}

  llvm::LogicalResult check(llvm::ArrayRef<AxisRefAttr> axes);
  /// Those that must be in the mesh's order; errors call them `kind`.
  llvm::LogicalResult checkOrdered(llvm::ArrayRef<AxisRefAttr> axes, llvm::StringRef kind = "axes");

private:
  llvm::LogicalResult check(AxisRefAttr axis);

  mlir::Operation* op;
  std::string what;
  MeshAttr mesh;
  llvm::SmallVector<AxisSpan> seen;
};

} // namespace octavo::sdy
