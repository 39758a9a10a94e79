// Machine code for kernels: LLVM's passes on their text, and the code in memory.
#pragma once

#include "octavo/Steps/Kernel.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <span>
#include <string>

namespace octavo::pipelines {

/// The code of some kernels, for as long as it lives.
class MachineCode {
public:
  virtual ~MachineCode() = default;
  virtual std::span<const steps::KernelFunction> functions() const = 0;
};

/// Compiles kernels for this machine, in the order of their texts.
llvm::Expected<std::unique_ptr<MachineCode>> compile(std::span<const std::string> kernels);

/// What LLVM makes of a kernel before it becomes machine code, and the assembly: to look at.
struct Listing {
  std::string optimized, assembly;
};
llvm::Expected<Listing> list(const std::string& kernel);

} // namespace octavo::pipelines
