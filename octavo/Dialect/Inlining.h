// The inliner interface of dialects whose operations may be inlined anywhere.
#pragma once

#include "mlir/Transforms/InliningUtils.h"

namespace octavo {

/// Permits every inlining: no operation of these dialects depends on the region that contains it.
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
