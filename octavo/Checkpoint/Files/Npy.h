// NumPy's .npy files, versions 1 to 3 of the format: numbers and booleans, little-endian or single
// bytes, in C or Fortran order.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/InputFile.h"
#include "octavo/Numerics/Tensor.h"

#include <tl/expected.hpp>

#include <filesystem>

namespace octavo::checkpoint {

/// Reads one array; Fortran order becomes row-major. NumPy writes the narrow floats of ml_dtypes as
/// raw bytes without their type ('|V1', '<V2', '<f1'): those are refused, with the way out.
tl::expected<numerics::Tensor, Error> readNpy(const std::filesystem::path& path);

tl::expected<numerics::Tensor, Error> readNpy(const InputFile& file);

/// Writes one array, version 1.0, C order, byte for byte as numpy.save does. Errors: an element
/// type that NumPy itself does not have, the file system.
tl::expected<void, Error> writeNpy(const std::filesystem::path& path,
                                   const numerics::Tensor& tensor);

} // namespace octavo::checkpoint
