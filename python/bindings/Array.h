// Arrays of arguments and results. An argument of any library becomes a NumPy array of the same
// memory.
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

/// A NumPy array with its dtype, shape and memory as kernels need them.
struct Array {
  nanobind::object numpy;
  std::string dtype;                     ///< NumPy's name of the dtype
  const ElementFormat* format = nullptr; ///< the format of that dtype; null if there is none
  Shape shape;
  bool isContiguous = false; ///< row-major, aligned, in the machine's byte order
  std::byte* data = nullptr; ///< written to only if emptyArray or `out` gave the array

  std::size_t size() const;
};

/// The array of an object without a copy: a NumPy array, or an object with DLPack or `__array__`.
/// `name` is the argument's name for messages. Raises DtypeError if the object is not an array,
/// lies on another device or has masked values.
Array toArray(nanobind::handle object, std::string_view name);

/// The array itself if it is row-major, else a row-major copy.
Array contiguous(const Array& array);

/// A new array with uninitialized elements, of the format's NumPy dtype, or uint8 if NumPy and
/// ml_dtypes lack the format.
Array emptyArray(const Shape& shape, const ElementFormat& format);
/// A new array with uninitialized elements of the dtype that NumPy calls `dtype`.
Array emptyOf(const Shape& shape, const std::string& dtype);

/// An array of the same memory whose dtype is the format's.
Array viewed(const Array& array, const ElementFormat& format);

/// The type with which kernels read the array: f32, bf16 or f16. Raises DtypeError for another
/// dtype.
kernels::WideType wideType(const Array& array, std::string_view name);

/// The values as a row-major f32 array; bf16 and f16 convert exactly. Raises DtypeError as wideType
/// does.
Array asFloats(const Array& array, std::string_view name);

/// NumPy's name of the dtype of arrays of the format; uint8 if NumPy and ml_dtypes lack the format.
std::string_view dtypeName(const ElementFormat& format);

/// NumPy's name of the dtype of tensors of this type, which must not be quantized.
std::string numpyName(const numerics::ElementType& type);

/// Describes arrays of the format in messages: "float4_e2m1fn or its codes in uint8".
std::string codesText(const ElementFormat& format);

/// The format that an argument names: by octavo's name, or by a dtype or scalar type of NumPy or
/// torch. Raises DtypeError for another object, FormatError for an unknown name or one that NumPy
/// uses for a different dtype.
const ElementFormat& elementFormat(nanobind::handle named, std::string_view name);

/// The index of the first of n bytes that is not a code of the format; n if all are. Touches no
/// Python object.
std::size_t firstNoCode(const std::byte* bytes, std::size_t n, const ElementFormat& format);

/// Raises FormatError if one of n bytes is not a code of the format: kernels assume that the bits
/// above the format's width are 0. Touches no Python object.
void checkCodes(const std::byte* bytes, std::size_t n, const ElementFormat& format,
                std::string_view name);
/// Checks a row-major array; releases the interpreter's lock meanwhile.
void checkCodes(const Array& codes, const ElementFormat& format, std::string_view name);

/// A shape as messages show it: "(2, 3)".
std::string text(const Shape& shape);

} // namespace octavo::python
