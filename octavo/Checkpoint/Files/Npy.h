// NumPy's .npy files, versions 1 to 3: numbers and booleans, little-endian or single bytes, in C or
// Fortran order. NumPy's types are spelled as NumPy does ('<f4'). Types of ml_dtypes are spelled by
// name ('float8_e4m3', 'int4'), which numpy.load understands once ml_dtypes is imported.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/InputFile.h"
#include "octavo/Numerics/Tensor.h"

#include <tl/expected.hpp>

#include <filesystem>

namespace octavo::checkpoint {

/// Reads one array; Fortran order becomes row-major. numpy.save writes the types of ml_dtypes as
/// raw bytes without their name ('|V1', '<V2', '<f1'). For raw bytes, and for codes stored as
/// unsigned integers, the file's name gives the type (x.float8_e4m3.npy, x.i4.npy). Errors: an
/// invalid header or size; raw bytes in a file whose name has no type; codes that the type does not
/// have; the file system.
tl::expected<numerics::Tensor, Error> readNpy(const std::filesystem::path& path);

/// The same for an open file.
tl::expected<numerics::Tensor, Error> readNpy(const InputFile& file);

/// Whether a .npy file can hold the type: NumPy or ml_dtypes has it.
bool npyHolds(const numerics::ElementType& type);

/// Writes one array, version 1.0, C order. For NumPy's own types the bytes are those of numpy.save.
/// Errors: an element type that neither NumPy nor ml_dtypes has; the file system.
tl::expected<void, Error> writeNpy(const std::filesystem::path& path,
                                   const numerics::Tensor& tensor);

} // namespace octavo::checkpoint
