// Safetensors files and NumPy: dtypes, tensors as arrays, errors.
#pragma once

#include "python/bindings/Array.h"
#include "python/bindings/Errors.h"

#include "octavo/Checkpoint/Files/Safetensors.h"

#include <string>

namespace octavo::python {

/// NumPy's name of a dtype of safetensors.
std::string numpyName(const checkpoint::SafetensorsDtype& dtype);

/// The dtype that stores the array's elements; raises DtypeError if there is none. `name` is the
/// argument's, for messages.
const checkpoint::SafetensorsDtype& safetensorsDtype(const Array& array, const std::string& name);

/// The tensor's elements, one a container, read into a new array. Raises FileError.
Array readTensor(const checkpoint::SafetensorsFile& file,
                 const checkpoint::SafetensorsEntry& entry);

/// The value; raises FileError where there is none.
template <typename Value> Value valueOf(tl::expected<Value, checkpoint::Error> result) {
  if (!result)
    raise(ErrorClass::File, "{}", result.error().message());
  if constexpr (!std::is_void_v<Value>)
    return std::move(*result);
}

} // namespace octavo::python
