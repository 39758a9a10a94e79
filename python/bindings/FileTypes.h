// Between safetensors files and NumPy: dtypes, tensors and errors.
#pragma once

#include "python/bindings/Array.h"
#include "python/bindings/Errors.h"

#include "octavo/Checkpoint/Files/Safetensors.h"

#include <string>

namespace octavo::python {

/// NumPy's name of the dtype of a safetensors file.
std::string numpyName(const checkpoint::SafetensorsDtype& dtype);

/// The safetensors dtype that stores the array's elements. Raises DtypeError if there is none.
/// `name` is the argument's name for messages.
const checkpoint::SafetensorsDtype& safetensorsDtype(const Array& array, const std::string& name);

/// Reads a tensor into a new array, in which each element has its own bytes. Raises FileError.
Array readTensor(const checkpoint::SafetensorsFile& file,
                 const checkpoint::SafetensorsEntry& entry);

/// The value of the result. Raises FileError with the error's message if there is none.
template <typename Value> Value valueOf(tl::expected<Value, checkpoint::Error> result) {
  if (!result)
    raise(ErrorClass::File, "{}", result.error().message());
  if constexpr (!std::is_void_v<Value>)
    return std::move(*result);
}

} // namespace octavo::python
