// Functions that compiled kernels call.
#pragma once

#include <span>

namespace octavo::program {

struct LibraryFunction {
  const char* name;
  void* address;
  /// LLVM's type of its arguments and its result, which are of one type: `double`. Null for what
  /// every process has, of the C library.
  const char* type;
  int arguments = 0;
};

/// The C library's functions on f64, under names that LLVM does not take for them, and parts of
/// functions of complex numbers: `octavo_complex_exp_f32_real`.
std::span<const LibraryFunction> libraryFunctions();

} // namespace octavo::program
