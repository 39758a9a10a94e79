#include "python/bindings/FileTypes.h"

#include "python/bindings/Execution.h"

#include "octavo/Kernels/Pack.h"

namespace octavo::python {

using checkpoint::SafetensorsDtype;

std::string numpyName(const SafetensorsDtype& dtype) { return numpyName(*dtype.type); }

const SafetensorsDtype& safetensorsDtype(const Array& array, const std::string& name) {
  for (const SafetensorsDtype& dtype : checkpoint::safetensorsDtypes())
    if (numpyName(dtype) == array.dtype)
      return dtype;
  raise(ErrorClass::Dtype, "{}: safetensors has no dtype for {}", name, array.dtype);
}

Array readTensor(const checkpoint::SafetensorsFile& file,
                 const checkpoint::SafetensorsEntry& entry) {
  const Array array = emptyOf(entry.shape, numpyName(*entry.dtype));
  valueOf(withoutLock([&]() -> tl::expected<void, checkpoint::Error> {
    if (entry.dtype->bits >= 8)
      return file.fetch(entry, 0, {array.data, static_cast<std::size_t>(entry.size())});
    return file.bytes(entry).map([&](const std::vector<std::byte>& packed) {
      kernels::unpack(reinterpret_cast<const std::uint8_t*>(packed.data()), array.size(),
                      entry.dtype->bits, reinterpret_cast<std::uint8_t*>(array.data), execution());
    });
  }));
  return array;
}

} // namespace octavo::python
