#include "python/bindings/FileTypes.h"

#include "python/bindings/Errors.h"

namespace octavo::python {

using checkpoint::SafetensorsDtype;

std::string numpyName(const SafetensorsDtype& dtype) {
  if (!dtype.type)
    return "complex64"; // C64, the one that octavo has no tensor of
  if (dtype.type->isFloat())
    return std::string(dtype.type->format().numpy);
  if (dtype.type->isBoolean())
    return "bool";
  return fmt::format("{}int{}", dtype.type->integer().isUnsigned ? "u" : "",
                     dtype.type->integer().width);
}

const SafetensorsDtype& safetensorsDtype(const Array& array, const std::string& name) {
  for (const SafetensorsDtype& dtype : checkpoint::safetensorsDtypes())
    if (numpyName(dtype) == array.dtype)
      return dtype;
  raise(ErrorClass::Dtype, "{}: safetensors has no dtype for {}", name, array.dtype);
}

} // namespace octavo::python
