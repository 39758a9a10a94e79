// NumPy's .npy files, versions 1 to 3 of the format: numbers and booleans, little-endian or single
// bytes, in C or Fortran order.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Numerics/Tensor.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace octavo::checkpoint {

/// Reads one array; Fortran order becomes row-major. NumPy writes the narrow floats of ml_dtypes as
/// raw bytes without their type ('|V1', '<V2', '<f1'): those are refused, with the way out.
tl::expected<numerics::Tensor, Error> readNpy(const std::filesystem::path& path);

/// The same over bytes in memory; `name` stands for the file.
tl::expected<numerics::Tensor, Error> parseNpy(std::span<const std::byte> bytes,
                                               const std::string& name);

/// Writes one array, version 1.0, C order, byte for byte as numpy.save does. Errors: an element
/// type that NumPy itself does not have, the file system.
tl::expected<void, Error> writeNpy(const std::filesystem::path& path,
                                   const numerics::Tensor& tensor);

} // namespace octavo::checkpoint
