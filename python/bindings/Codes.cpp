// octavo.amax, octavo.pack, octavo.unpack.
#include "python/bindings/Array.h"
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"

#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/Pack.h"

#include <nanobind/stl/string.h>

namespace octavo::python {

namespace nb = nanobind;

/// The result is f64, like Python's floats: a later conversion from f32 would run in the caller's
/// float environment and might flush a subnormal number to 0.
static double amax(nb::handle object) {
  const Array x = toArray(object, "x");
  const kernels::WideType type = wideType(x, "x");
  const Array in = contiguous(x);
  return withoutLock(
      [&]() -> double { return kernels::amax(type, in.data, in.size(), execution()); });
}

/// The format itself; raises FormatError unless files pack its codes (fewer than 8 bits).
static const ElementFormat& packable(const ElementFormat& format) {
  if (format.width() >= 8)
    raise(ErrorClass::Format, "format: codes of fewer than 8 bits are packed; those of {} have {}",
          format.name, format.width());
  return format;
}

static nb::object pack(nb::handle object, nb::handle named) {
  const Array codes = toArray(object, "codes");
  if (named.is_none() && !codes.format)
    raise(ErrorClass::Dtype,
          "codes: {} does not say what they are; pass format=, such as \"e2m1fn\"", codes.dtype);
  const ElementFormat& format =
      packable(named.is_none() ? *codes.format : elementFormat(named, "format"));
  if (codes.format != &format && codes.dtype != "uint8")
    raise(ErrorClass::Dtype, "codes: expected {}, found {}", codesText(format), codes.dtype);
  if (codes.shape.empty())
    raise(ErrorClass::Shape, "codes: expected one axis or more, found shape ()");
  const std::int64_t bits = codes.shape.back() * format.width();
  if (codes.shape.size() > 1 && bits % 8 != 0)
    raise(ErrorClass::Shape,
          "codes: {} codes of {} bits on the last axis do not fill whole bytes; pad the axis, or "
          "pack them as one axis",
          codes.shape.back(), format.width());
  const Array in = contiguous(codes);
  checkCodes(in, format, "codes");
  Shape shape = codes.shape;
  shape.back() = (bits + 7) / 8;
  const Array packed = emptyOf(shape, "uint8");
  withoutLock([&] {
    kernels::pack(reinterpret_cast<const std::uint8_t*>(in.data), in.size(), format.width(),
                  reinterpret_cast<std::uint8_t*>(packed.data), execution());
  });
  return packed.numpy;
}

static nb::object unpack(nb::handle object, nb::handle named) {
  const Array packed = toArray(object, "packed");
  const ElementFormat& format = packable(elementFormat(named, "format"));
  if (packed.dtype != "uint8")
    raise(ErrorClass::Dtype, "packed: expected uint8, found {}", packed.dtype);
  if (packed.shape.empty() || packed.shape.back() * 8 % format.width() != 0)
    raise(ErrorClass::Shape,
          "packed: expected a last axis of whole codes of {} bits, found shape {}", format.width(),
          text(packed.shape));
  const Array in = contiguous(packed);
  Shape shape = packed.shape;
  shape.back() = packed.shape.back() * 8 / format.width();
  const Array codes = emptyArray(shape, format);
  withoutLock([&] {
    kernels::unpack(reinterpret_cast<const std::uint8_t*>(in.data), codes.size(), format.width(),
                    reinterpret_cast<std::uint8_t*>(codes.data), execution());
  });
  return codes.numpy;
}

void bindCodes(nb::module_& module) {
  module.def("amax", &amax, DefaultFloats(), nb::arg("x").none(),
             nb::sig("def amax(x: numpy.typing.ArrayLike) -> float"),
             R"(The largest magnitude of an array's values.

x: float32, bfloat16 or float16 of any shape.

Returns 0 for an empty array, NaN if a value is NaN. Raises DtypeError.)");
  module.def("pack", &pack, DefaultFloats(), nb::arg("codes").none(),
             nb::arg("format") = nb::none(),
             nb::sig("def pack(codes: numpy.typing.ArrayLike, format: str | "
                     "numpy.typing.DTypeLike | None = None) -> numpy.typing.NDArray[numpy.uint8]"),
             R"(Packs codes of fewer than 8 bits along the last axis, as files store them.

codes: [..., n], one code a byte, in a dtype of ml_dtypes, or in uint8 with `format`. The n codes must
    fill whole bytes; if there is one axis, zeros fill the last byte.
format: the element format of uint8 codes, such as "e2m1fn"; None takes it from the dtype.

Returns uint8 [..., n * bits / 8]. The first code lies in the low bits: a byte holds two 4-bit codes,
three bytes hold four 6-bit codes. Raises FormatError, DtypeError, ShapeError.)");
  module.def("unpack", &unpack, DefaultFloats(), nb::arg("packed").none(), nb::arg("format"),
             nb::sig("def unpack(packed: numpy.typing.ArrayLike, format: str | "
                     "numpy.typing.DTypeLike) -> numpy.typing.NDArray[typing.Any]"),
             R"(Unpacks the codes that octavo.pack packed.

packed: uint8 [..., bytes]. The bytes of the last axis must hold whole codes.
format: an element format of fewer than 8 bits, such as "e2m1fn", "e3m2fn" or "e2m3fn", or its dtype.

Returns [..., bytes * 8 / bits], one code a byte, in the format's dtype.
Raises FormatError, DtypeError, ShapeError.)");
}

} // namespace octavo::python
