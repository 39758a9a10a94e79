// XLA's buffers: their dtypes and shapes, and access to their codes one a byte. XLA packs two
// four-bit elements into a byte, the first in the low bits (Kernels/Pack.h).
#pragma once

#include "python/bindings/BufferChecks.h"

#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

/// NumPy's name of XLA's element type.
std::string numpyName(xla::ffi::DataType type);

/// NumPy's name of the dtype in which XLA holds codes of the format; uint8 if XLA lacks the format.
std::string_view jaxDtype(const ElementFormat& format);

/// Describes a buffer of XLA by its dtype and shape.
template <typename XlaBuffer> Buffer described(std::string_view name, const XlaBuffer& buffer) {
  const auto extents = buffer.dimensions();
  return {name, numpyName(buffer.element_type()), Shape(extents.begin(), extents.end())};
}

/// The codes of an operand, one a byte. Codes of a packed buffer are unpacked into new memory.
/// Raises FormatError for a byte that is not a code, which a uint8 buffer of six-bit floats may
/// have.
class InputCodes {
public:
  InputCodes(std::string_view name, const xla::ffi::AnyBuffer& buffer, const ElementFormat& format);
  const std::uint8_t* get() const { return data; }

private:
  std::vector<std::uint8_t> unpacked;
  const std::uint8_t* data;
};

/// Memory for the codes of a result, one a byte. `finish` packs them into the buffer if need be.
class OutputCodes {
public:
  OutputCodes(const xla::ffi::AnyBuffer& buffer, const ElementFormat& format);
  std::uint8_t* get();
  void finish();

private:
  xla::ffi::AnyBuffer buffer;
  int width;
  bool isPacked;
  std::vector<std::uint8_t> unpacked;
};

} // namespace octavo::python
