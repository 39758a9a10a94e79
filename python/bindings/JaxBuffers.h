// XLA's buffers: what they are, and their codes one a byte. XLA keeps four-bit elements two a byte,
// the first in the low bits (Kernels/Pack.h).
#pragma once

#include "python/bindings/BufferChecks.h"

#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

/// NumPy's name of an element type of XLA's.
std::string numpyName(xla::ffi::DataType type);

/// NumPy's name of the type that codes of a format have in XLA: uint8 where it has no such type.
std::string_view jaxDtype(const ElementFormat& format);

/// What a buffer of XLA's is, whatever it holds.
template <typename XlaBuffer> Buffer described(std::string_view name, const XlaBuffer& buffer) {
  const auto extents = buffer.dimensions();
  return {name, numpyName(buffer.element_type()), Shape(extents.begin(), extents.end())};
}

/// Codes of an operand, one a byte: those of a packed buffer in memory of their own. Raises
/// FormatError for a byte that is no code: six-bit floats come in uint8.
class InputCodes {
public:
  InputCodes(std::string_view name, const xla::ffi::AnyBuffer& buffer, const ElementFormat& format);
  const std::uint8_t* get() const { return data; }

private:
  std::vector<std::uint8_t> unpacked;
  const std::uint8_t* data;
};

/// The same of a result: `finish` packs what was written.
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
