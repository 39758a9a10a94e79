// octavo.to_fnuz, octavo.to_ocp and octavo.cap_fnuz: FP8 codes and scales between OCP's formats and
// AMD's.
#include "python/bindings/Array.h"
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"

#include "octavo/Numerics/Fnuz.h"

#include <nanobind/stl/string.h>

#include <cstring>

namespace octavo::python {

namespace nb = nanobind;

/// A row-major copy of the array.
static Array copied(const Array& array, int bytesPerElement) {
  const Array from = contiguous(array), copy = emptyOf(array.shape, array.dtype);
  if (from.size() > 0)
    std::memcpy(copy.data, from.data, from.size() * static_cast<std::size_t>(bytesPerElement));
  return copy;
}

static numerics::ScaleShiftReport shift(const Array& scales, int exponent,
                                        numerics::ScaleRange range) {
  const auto codes = [&]<typename Code>(Code) {
    return numerics::shiftScales(*scales.format,
                                 std::span(reinterpret_cast<Code*>(scales.data), scales.size()),
                                 exponent, range);
  };
  return scales.format->bytes() == 1   ? codes(std::uint8_t{})
         : scales.format->bytes() == 2 ? codes(std::uint16_t{})
                                       : codes(std::uint32_t{});
}

/// Converts codes to the twin of `format` and adapts the scales. Returns both and the counts of
/// changed codes and scales as a dict.
static nb::tuple toTwin(const Array& codes, const ElementFormat& format, const Array& scales,
                        const numerics::FnuzOptions& options, numerics::ScaleRange range) {
  const ElementFormat& twin = *numerics::fnuzTwin(format);
  const bool toFnuz = twin.specials == format::Specials::UnsignedZero;
  if (!scales.format || scales.format->isInteger() || scales.format->bytes() > 4)
    raise(ErrorClass::Dtype,
          "scales: expected float32, bfloat16, float16 or an 8-bit float, found {}", scales.dtype);
  if (options.noTwin == numerics::NoTwin::Requantize && scales.size() != 1)
    raise(ErrorClass::Shape,
          "scales: no_twin=\"requantize\" takes the codes of one scale at a time, found scales of "
          "shape {}",
          text(scales.shape));
  const Array newCodes = copied(codes, 1), newScales = copied(scales, scales.format->bytes());
  const std::span bytes(reinterpret_cast<std::uint8_t*>(newCodes.data), newCodes.size());
  const numerics::FnuzReport report = toFnuz ? numerics::ocpToFnuz(format, bytes, options)
                                             : numerics::fnuzToOcp(format, bytes, options);
  if (report.refused)
    raise(ErrorClass::NonFinite,
          "codes: code 0x{:02x} at index {} (row-major) has no twin in {}; {} says what it becomes",
          bytes[static_cast<std::size_t>(*report.refused)], *report.refused, twin.name,
          toFnuz ? "special=" : "special= (NaN, Inf) or no_twin= (finite)");
  const numerics::ScaleShiftReport shifted = shift(newScales, report.scaleExponent, range);
  if (shifted.refused)
    raise(ErrorClass::NonFinite,
          "scales: number {} (row-major) times {} is not a value of {}; scale_range=\"saturate\" "
          "takes "
          "the nearest",
          *shifted.refused, toFnuz ? "2" : "1/2", scales.dtype);
  nb::dict counts;
  counts["negative_zeros"] = report.negativeZeros;
  counts["specials"] = report.specials;
  counts["no_twins"] = report.noTwins;
  counts["inexact"] = report.inexact;
  counts["scales_out_of_range"] = shifted.outOfRange;
  return nb::make_tuple(viewed(newCodes, twin).numpy, newScales.numpy, counts);
}

/// The format of the codes: `source`, or that of their dtype if `source` is None.
static const ElementFormat& sourceOf(const Array& codes, nb::handle source,
                                     format::Specials expected) {
  const ElementFormat* format = source.is_none() ? codes.format : &elementFormat(source, "source");
  if (codes.dtype != "uint8" && codes.format != format)
    raise(ErrorClass::Dtype, "codes: their dtype is {}, not that of source={}; leave source out",
          codes.dtype, format->name);
  const ElementFormat* twin = format ? numerics::fnuzTwin(*format) : nullptr;
  if (!twin || (format->specials == format::Specials::UnsignedZero) !=
                   (expected == format::Specials::UnsignedZero))
    raise(ErrorClass::Dtype, "codes: expected {}, or uint8 with source=, found {}",
          expected == format::Specials::UnsignedZero ? "float8_e4m3fnuz or float8_e5m2fnuz"
                                                     : "float8_e4m3fn or float8_e5m2",
          source.is_none() ? codes.dtype : std::string(format->name));
  return *format;
}

static nb::tuple cap(nb::handle codesObject, nb::handle source) {
  const Array codes = toArray(codesObject, "codes");
  const ElementFormat& fnuz = sourceOf(codes, source, format::Specials::UnsignedZero);
  const Array capped = copied(codes, 1);
  const std::int64_t changed = numerics::capFnuz(
      fnuz, std::span(reinterpret_cast<std::uint8_t*>(capped.data), capped.size()));
  return nb::make_tuple(viewed(capped, fnuz).numpy, changed);
}

void bindFnuz(nb::module_& module) {
  module.def(
      "cap_fnuz", &cap, DefaultFloats(), nb::arg("codes").none(), nb::kw_only(),
      nb::arg("source") = nb::none(),
      nb::sig("def cap_fnuz(codes: numpy.typing.ArrayLike, *, source: str | "
              "numpy.typing.DTypeLike | None = None) -> "
              "tuple[numpy.typing.NDArray[typing.Any], int]"),
      R"(Limits FNUZ codes to half of the largest value of OCP's format: 224 for e4m3fnuz, 28672 for e5m2fnuz.

vLLM's kernels have the same limit (docs/semantics.md, F10). Codes from octavo.to_fnuz never exceed it.

codes: float8_e4m3fnuz or float8_e5m2fnuz of any shape; with `source`, codes in uint8.
source: the format of uint8 codes: "e4m3fnuz" or "e5m2fnuz".

Returns (codes, count): the codes in the FNUZ dtype, and how many changed.
Raises DtypeError, FormatError.)");
  module.def(
      "to_fnuz",
      [](nb::handle codesObject, nb::handle scalesObject, nb::handle source,
         const std::string& special, const std::string& range) {
        const Array codes = toArray(codesObject, "codes"), scales = toArray(scalesObject, "scales");
        return toTwin(codes, sourceOf(codes, source, format::Specials::None), scales,
                      {.special = specialCodes(special)}, scaleRange(range));
      },
      DefaultFloats(), nb::arg("codes").none(), nb::arg("scales").none(), nb::kw_only(),
      nb::arg("source") = nb::none(), nb::arg("special") = "refuse",
      nb::arg("scale_range") = "refuse",
      nb::sig("def to_fnuz(codes: numpy.typing.ArrayLike, scales: numpy.typing.ArrayLike, *, "
              "source: str | numpy.typing.DTypeLike | None = None, special: str = 'refuse', "
              "scale_range: str = 'refuse') -> tuple[numpy.typing.NDArray[typing.Any], "
              "numpy.typing.NDArray[typing.Any], dict[str, int]]"),
      R"(Converts OCP FP8 to the FNUZ formats of AMD's MI300.

The same byte means half the value in FNUZ, so codes stay and scales double (docs/semantics.md, F6 to
F11).

codes: float8_e4m3fn or float8_e5m2 of any shape; with `source`, codes in uint8.
scales: floats of at most 32 bits, of any shape.
source: the format of uint8 codes: "e4m3fn" or "e5m2".
special: for NaN and Inf codes: "refuse" raises NonFiniteError, "nan" makes them NaN, "saturate" makes
    them the largest value.
scale_range: for scales whose double is not a value of their dtype: "refuse" raises NonFiniteError,
    "saturate" takes the nearest value.

Returns (codes, scales, counts): the codes in the FNUZ dtype, the doubled scales, and a dict that counts
what changed, such as "negative_zeros" (0x80, NaN in FNUZ, becomes 0) and "specials".
Raises DtypeError, FormatError, NonFiniteError.)");
  module.def(
      "to_ocp",
      [](nb::handle codesObject, nb::handle scalesObject, nb::handle source,
         const std::string& special, const std::string& twin, const std::string& range) {
        const Array codes = toArray(codesObject, "codes"), scales = toArray(scalesObject, "scales");
        return toTwin(codes, sourceOf(codes, source, format::Specials::UnsignedZero), scales,
                      {.special = specialCodes(special), .noTwin = noTwin(twin)},
                      scaleRange(range));
      },
      DefaultFloats(), nb::arg("codes").none(), nb::arg("scales").none(), nb::kw_only(),
      nb::arg("source") = nb::none(), nb::arg("special") = "refuse", nb::arg("no_twin") = "refuse",
      nb::arg("scale_range") = "refuse",
      nb::sig("def to_ocp(codes: numpy.typing.ArrayLike, scales: numpy.typing.ArrayLike, *, "
              "source: str | numpy.typing.DTypeLike | None = None, special: str = 'refuse', "
              "no_twin: str = 'refuse', scale_range: str = 'refuse') -> "
              "tuple[numpy.typing.NDArray[typing.Any], numpy.typing.NDArray[typing.Any], dict[str, "
              "int]]"),
      R"(Converts the FNUZ formats of AMD's MI300 to OCP FP8: codes stay, scales halve.

codes: float8_e4m3fnuz or float8_e5m2fnuz of any shape; with `source`, codes in uint8.
scales, source, special, scale_range: as in to_fnuz.
no_twin: for finite codes whose doubled value OCP's format lacks (240 in e4m3fnuz): "refuse" raises
    NonFiniteError, "saturate" takes the largest value, "requantize" rounds every code again under the
    given scale, of which there must be one.

Returns (codes, scales, counts) as to_fnuz does.
Raises DtypeError, FormatError, ShapeError, NonFiniteError.)");
}

} // namespace octavo::python
