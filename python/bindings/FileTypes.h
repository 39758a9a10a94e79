// The dtypes of safetensors and of NumPy.
#pragma once

#include "python/bindings/Array.h"

#include "octavo/Checkpoint/Files/SafetensorsDtype.h"

#include <string>

namespace octavo::python {

/// NumPy's name of a dtype of safetensors.
std::string numpyName(const checkpoint::SafetensorsDtype& dtype);

/// The dtype that stores the array's elements; raises DtypeError if there is none. `name` is the
/// argument's, for messages.
const checkpoint::SafetensorsDtype& safetensorsDtype(const Array& array, const std::string& name);

} // namespace octavo::python
