// What a program leaves for whoever looks into it.
#pragma once

#include "octavo/Execution/Value.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace octavo::execution {

/// Where a program leaves tensors for whoever looks into it, and finds them again. Used by several
/// threads at once.
class Probes {
public:
  virtual ~Probes() = default;
  virtual llvm::Error write(llvm::StringRef id, mlir::RankedTensorType type,
                            const Tensor& tensor) = 0;
  /// What the probe `id` left when it came for the time `iteration`, counted from 0.
  virtual llvm::Expected<Tensor> read(llvm::StringRef id, std::uint32_t iteration,
                                      mlir::RankedTensorType type) = 0;
};

} // namespace octavo::execution
