// Arrays that come in and go out. Whatever came in is seen as a NumPy array that shares its memory.
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Kernels/WideMemory.h"
#include "octavo/Numerics/ElementType.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

using format::ElementFormat;

using Shape = std::vector<std::int64_t>;

/// A NumPy array and what the kernels must know of it.
struct Array {
  nanobind::object numpy;
  std::string dtype;                     ///< NumPy's name of it
  const ElementFormat* format = nullptr; ///< null if no element format has that dtype
  Shape shape;
  bool isContiguous = false; ///< row-major, aligned, in the machine's byte order
  std::byte* data = nullptr; ///< written only to arrays that emptyArray made

  std::size_t size() const;
};

/// Any array as a NumPy array without a copy: NumPy's own, one with DLPack or `__array__`. `name`
/// is the argument's, for messages. Raises DtypeError for what is no array, lies on another device
/// or has masked values.
Array toArray(nanobind::handle object, std::string_view name);

/// The array itself, or a row-major copy.
Array contiguous(const Array& array);

/// A new array whose elements are not set, of the format's NumPy dtype; of uint8 for narrow codes
/// that have none.
Array emptyArray(const Shape& shape, const ElementFormat& format);
/// The same of any dtype, by NumPy's name of it.
Array emptyOf(const Shape& shape, const std::string& dtype);

/// The same memory with another dtype.
Array viewed(const Array& array, const ElementFormat& format);

/// The type by which kernels read f32, bf16 and f16; raises DtypeError for another dtype.
kernels::WideType wideType(const Array& array, std::string_view name);

/// The values as f32, row-major: exact from bf16 and f16. Raises as wideType.
Array asFloats(const Array& array, std::string_view name);

/// NumPy's name of the dtype of arrays of a narrow format: uint8 where NumPy and ml_dtypes lack it.
std::string_view dtypeName(const ElementFormat& format);

/// The same of tensors of a type that is not quantized.
std::string numpyName(const numerics::ElementType& type);

/// What arrays of a format are, for messages: "float4_e2m1fn or its codes in uint8".
std::string codesText(const ElementFormat& format);

/// The format that a name, a dtype of NumPy or torch or a scalar type names. Raises FormatError,
/// also for a name that NumPy reads otherwise, and DtypeError.
const ElementFormat& elementFormat(nanobind::handle named, std::string_view name);

/// The first of n bytes that is not a code of the format, or n. Touches no Python object.
std::size_t firstNoCode(const std::byte* bytes, std::size_t n, const ElementFormat& format);

/// Raises FormatError where one of n bytes is not a code of the format: kernels take the bits above
/// its width for granted. Touches no Python object.
void checkCodes(const std::byte* bytes, std::size_t n, const ElementFormat& format,
                std::string_view name);
/// The same of a row-major array, without the interpreter's lock.
void checkCodes(const Array& codes, const ElementFormat& format, std::string_view name);

/// "(2, 3)"
std::string text(const Shape& shape);

} // namespace octavo::python
