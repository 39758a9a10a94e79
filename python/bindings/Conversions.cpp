// octavo.convert: arrays of wide floats to narrow formats and back.
#include "python/bindings/Array.h"
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"
#include "python/bindings/OutputArray.h"
#include "python/bindings/Random.h"

#include "octavo/Kernels/Convert.h"

#include <nanobind/stl/string.h>

namespace octavo::python {

namespace nb = nanobind;

static bool isWide(const ElementFormat& format) {
  return &format == &format::element("f32") || &format == &format::element("bf16") ||
         &format == &format::element("f16");
}

static const std::uint8_t* codes(const Array& array) {
  return reinterpret_cast<const std::uint8_t*>(array.data);
}

static void decode(const Array& x, const ElementFormat& source, const Array& out) {
  const Array in = contiguous(x);
  checkCodes(in, source, "x");
  const kernels::WideType type = wideType(out, "to");
  withoutLock([&] { kernels::decode(source, codes(in), type, out.data, in.size(), execution()); });
}

static void encode(const Array& x, const ElementFormat& target,
                   const numerics::Conversion& conversion, nb::handle key, const Array& out) {
  const kernels::WideType type = wideType(x, "x");
  const Array in = contiguous(x);
  const auto stream = randomStream(key, conversion.rounding);
  auto* codes = reinterpret_cast<std::uint8_t*>(out.data);
  withoutLock([&] {
    if (stream)
      kernels::convertSeeded(target, conversion, type, in.data, codes, in.size(), *stream, 0,
                             execution());
    else
      kernels::convert(target, conversion, type, in.data, codes, in.size(), {}, execution());
  });
}

static nb::object convert(nb::handle object, nb::handle to, nb::handle from,
                          const std::string& roundingName, const std::string& overflowName,
                          const std::string& nanName, nb::handle key, nb::handle out) {
  const ElementFormat& target = elementFormat(to, "to");
  const numerics::Conversion conversion = {.rounding = rounding(roundingName),
                                           .overflow = overflow(overflowName),
                                           .nan = nanCode(nanName)};
  const Array x = toArray(object, "x");
  // int8 may hold integers or OCP's INT8, and uint8 may hold codes of any format. The caller says.
  const bool isAmbiguous = x.dtype == "uint8" || (x.format && x.format->isInteger());
  if (from.is_none() && isAmbiguous)
    raise(ErrorClass::Dtype,
          "x: {} does not say what its codes mean; pass source=, a format such as \"e4m3fn\"",
          x.dtype);
  const ElementFormat* source = from.is_none() ? x.format : &elementFormat(from, "source");
  if (!isAmbiguous && source != x.format)
    raise(ErrorClass::Dtype, "x: its dtype is {}, not that of source={}; leave source out", x.dtype,
          source->name);
  if (!source || !(source->isNarrow() || isWide(*source)))
    wideType(x, "x");
  if (isAmbiguous && !source->isNarrow())
    raise(ErrorClass::Dtype, "source: codes of {} are not of at most 8 bits, as those in {} are",
          source->name, x.dtype);
  if (target.isNarrow()) {
    Array wide = x;
    if (source->isNarrow()) { // every narrow value is exact in f32, so this still rounds once
      wide = emptyArray(x.shape, format::element("f32"));
      decode(x, *source, wide);
    }
    const OutputArray output(out, x.shape, target, "out", std::span(&x, 1));
    encode(wide, target, conversion, key, output.array());
    return output.toPython();
  }
  if (!source->isNarrow() || !isWide(target))
    raise(ErrorClass::Format,
          "convert goes to or from a format of at most 8 bits, and f32, bf16 or f16 on the other "
          "side; found {} to {}, for which there is x.astype",
          source->name, target.name);
  const OutputArray output(out, x.shape, target, "out", std::span(&x, 1));
  decode(x, *source, output.array());
  return output.toPython();
}

void bindConversions(nb::module_& module) {
  module.def(
      "convert", &convert, DefaultFloats(), nb::arg("x").none(), nb::arg("to"), nb::kw_only(),
      nb::arg("source") = nb::none(), nb::arg("rounding") = "ties-to-even",
      nb::arg("overflow") = "special", nb::arg("nan") = "negative-zero",
      nb::arg("key") = nb::none(), nb::arg("out") = nb::none(),
      nb::sig("def convert(x: numpy.typing.ArrayLike, to: str | numpy.typing.DTypeLike, *, "
              "source: str | numpy.typing.DTypeLike | None = None, rounding: str = "
              "'ties-to-even', overflow: str = 'special', nan: str = 'negative-zero', "
              "key: int | tuple[int, int] | None = None, out: "
              "numpy.typing.NDArray[typing.Any] | None = None) -> "
              "numpy.typing.NDArray[typing.Any]"),
      R"(Converts an array to another element format. Each element is rounded once (docs/semantics.md, N1 to N8).

x: float32, bfloat16, float16 or a narrow dtype, of any shape; with `source`, codes in uint8 or int8.
to: the name of a format ("e4m3fn", "bf16") or a dtype. x or the result must have at most 8 bits.
source: the format of the codes in x. An int8 code of OCP's INT8 means code / 64.
rounding: "ties-to-even", "ties-to-away", "ties-toward-zero", "toward-zero", "toward-positive",
    "toward-negative", or "stochastic", which needs `key`.
overflow: for values beyond the largest. "special" gives Inf, or NaN if the format has no Inf, or the
    largest value if it has neither. "saturate" gives the largest value.
nan: for NaN, if the format has none: "negative-zero" or "maximum".
key: the random numbers of stochastic rounding: an integer seed, or (seed, stream). Element i uses
    number i of the stream (N11).
out: a NumPy array to write to, of x's shape, of `to`'s dtype or uint8 for its codes. It is written in
    place if it is row-major and shares no memory with x, else through a copy.

Returns `out` if given, else a new array of x's shape and `to`'s dtype.
Raises DtypeError (for float64 too, which would round twice), FormatError, ShapeError.)");
}

} // namespace octavo::python
