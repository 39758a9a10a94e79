// Library functions that compiled kernels call.
#pragma once

#include <span>

namespace octavo::program {

/// A function that generated code may call by name.
struct LibraryFunction {
  const char* name;
  void* address;
  /// The LLVM type of the arguments and of the result, such as `double`. Null for functions of the
  /// C library that every process has.
  const char* type;
  int arguments = 0;
};

/// The C library's functions on f64, under names that LLVM does not recognize as library functions;
/// and the parts of complex functions, such as `octavo_complex_exp_f32_real`.
std::span<const LibraryFunction> libraryFunctions();

} // namespace octavo::program
