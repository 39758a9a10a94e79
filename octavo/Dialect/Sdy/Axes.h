// Lists of mesh axes and sub-axes.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

#include <string>

namespace octavo::sdy {

/// An axis or a sub-axis. `from` and `to` are products of sizes, outermost first: the whole axis
/// "a" of size n is [1, n), the sub-axis "a":(p)s is [p, p * s).
struct AxisSpan {
  llvm::StringRef axis;
  std::int64_t from = 1, to = 1;

  std::int64_t size() const { return to / from; }
  bool overlaps(const AxisSpan& other) const {
    return axis == other.axis && from < other.to && other.from < to;
  }
  bool operator==(const AxisSpan&) const = default;
};

/// The spans of a list of axes, outermost first. Adjacent spans of one axis are merged. The list
/// must have passed `AxisChecker`.
class AxisSpans {
public:
  AxisSpans() = default;
  /// The spans of `axes`, whose sizes are those of `mesh`.
  AxisSpans(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

  /// The number of parts into which the axes cut a dimension: the product of the sizes.
  std::int64_t parts() const;
  /// Whether a span of this list overlaps a span of `others`.
  bool overlap(const AxisSpans& others) const;
  /// Appends `others` as the innermost spans.
  void append(const AxisSpans& others);
  /// Removes `others` from the inner end. If they are not there: returns false and changes nothing.
  bool take(const AxisSpans& others);
  /// The same spans in the order of the mesh's axes, merged.
  AxisSpans sorted(MeshAttr mesh) const;
  /// The list as Shardy writes it: `"a", "b":(1)2`.
  std::string spell(MeshAttr mesh) const;

  bool operator==(const AxisSpans&) const = default;

private:
  void append(AxisSpan span);

  llvm::SmallVector<AxisSpan> spans;
};

/// Verifies lists of axes: (S4), (S5) and (S6) of TensorSharding. The lists given to one checker
/// must not name an axis twice between them.
class AxisChecker {
public:
  /// `what` names the owner of the lists in errors: "the sharding of result 0".
  AxisChecker(mlir::Operation* op, std::string what, MeshAttr mesh)
      : op(op), what(std::move(what)), mesh(mesh) {}

  /// (S4) and (S5). Fails with an error at the operation.
  llvm::LogicalResult check(llvm::ArrayRef<AxisRefAttr> axes);
  /// (S4), (S5) and (S6): the axes must also be in the mesh's order. `kind` names the axes in
  /// errors.
  llvm::LogicalResult checkOrdered(llvm::ArrayRef<AxisRefAttr> axes, llvm::StringRef kind = "axes");

private:
  llvm::LogicalResult check(AxisRefAttr axis);

  mlir::Operation* op;
  std::string what;
  MeshAttr mesh;
  llvm::SmallVector<AxisSpan> seen;
};

} // namespace octavo::sdy
