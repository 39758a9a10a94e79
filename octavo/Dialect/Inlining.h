// What the inliner asks of a dialect.
#pragma once

#include "mlir/Transforms/InliningUtils.h"

namespace octavo {

/// Functions with operations of the dialect may be inlined anywhere: none of the operations depends
/// on where it stands.
struct InlineEverything : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(mlir::Operation*, mlir::Operation*, bool) const override { return true; }
  bool isLegalToInline(mlir::Operation*, mlir::Region*, bool, mlir::IRMapping&) const override {
    return true;
  }
  bool isLegalToInline(mlir::Region*, mlir::Region*, bool, mlir::IRMapping&) const override {
    return true;
  }
};

} // namespace octavo
