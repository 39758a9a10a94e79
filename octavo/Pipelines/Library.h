// Functions that compiled kernels call.
#pragma once

#include <span>

namespace octavo::pipelines {

struct LibraryFunction {
  const char* name;
  void* address;
};

/// The C library's functions on f64, under names that LLVM does not take for them.
std::span<const LibraryFunction> libraryFunctions();

} // namespace octavo::pipelines
