// NumPy's .npy files, versions 1 to 3 of the format: numbers and booleans, little-endian or single
// bytes, in C or Fortran order. NumPy's own types are spelled as it does ('<f4'), those that
// ml_dtypes adds by their names ('float8_e4m3', 'int4'), which numpy.load understands once
// ml_dtypes is imported.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/InputFile.h"
#include "octavo/Numerics/Tensor.h"

#include <tl/expected.hpp>

#include <filesystem>

namespace octavo::checkpoint {

/// Reads one array; Fortran order becomes row-major. numpy.save writes the types of ml_dtypes as
/// raw bytes without their name ('|V1', '<V2', '<f1'). Such bytes, and codes in unsigned integers,
/// have the type that the file's name says (x.float8_e4m3.npy, x.i4.npy); raw bytes in a file
/// without one are refused, and so are codes that the type does not have.
tl::expected<numerics::Tensor, Error> readNpy(const std::filesystem::path& path);

tl::expected<numerics::Tensor, Error> readNpy(const InputFile& file);

/// Whether NumPy or ml_dtypes has the type, so that .npy files hold it.
bool npyHolds(const numerics::ElementType& type);

/// Writes one array, version 1.0, C order; types of NumPy's own byte for byte as numpy.save does.
/// Errors: an element type that neither NumPy nor ml_dtypes has, the file system.
tl::expected<void, Error> writeNpy(const std::filesystem::path& path,
                                   const numerics::Tensor& tensor);

} // namespace octavo::checkpoint
