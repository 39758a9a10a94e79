// octavo.update_delayed_scale and octavo.current_scale: scales of FP8 training.
#include "python/bindings/Array.h"
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"

#include "octavo/Numerics/DelayedScaling.h"

#include <nanobind/stl/string.h>

#include <cmath>
#include <cstring>

namespace octavo::python {

namespace nb = nanobind;
using numerics::TrainingScale;

static const ElementFormat& trainingFormat(nb::handle named) {
  const ElementFormat& format = elementFormat(named, "format");
  if (!format.isNarrow())
    raise(ErrorClass::Format, "format: expected a format of at most 8 bits, found {}", format.name);
  return format;
}

static float* floats(const Array& array) { return reinterpret_cast<float*>(array.data); }

/// The values as f32; Python's numbers too, which NumPy has as arrays of rank 0.
static Array numbers(nb::handle object, std::string_view name) {
  const bool isNumber = PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr());
  return asFloats(
      toArray(isNumber ? nb::module_::import_("numpy").attr("float32")(object) : nb::borrow(object),
              name),
      name);
}

/// A number as NumPy gives it: an array of rank 0 becomes its scalar.
static nb::object scalarOr(const Array& array) { return array.numpy[nb::tuple()]; }

static nb::tuple update(nb::handle historyObject, nb::handle scaleObject, nb::handle formatName,
                        const std::string& choiceName, const std::string& zeroName, int margin) {
  const ElementFormat& format = trainingFormat(formatName);
  const numerics::DelayedScaling recipe = {
      .choice = amaxChoice(choiceName), .zeroAmax = zeroAmax(zeroName), .margin = margin};
  const auto largest = static_cast<float>(numerics::maxValue(format));
  if (const float top = std::ldexp(largest, -margin); top == 0 || std::isinf(top))
    raise(ErrorClass::Format, "margin: {} / 2^{} is beyond float32", largest, margin);
  const Array old = numbers(historyObject, "history");
  if (old.shape.empty() || old.shape.back() == 0)
    raise(ErrorClass::Shape,
          "history: expected amaxes of one step or more along the last axis, found shape {}",
          text(old.shape));
  const Shape lead(old.shape.begin(), old.shape.end() - 1);
  const Array oldScale = numbers(scaleObject, "scale");
  if (oldScale.shape != lead)
    raise(ErrorClass::Shape, "scale: expected shape {}, one scale a history, found {}", text(lead),
          text(oldScale.shape));
  const ElementFormat& f32 = format::element("f32");
  const Array history = emptyArray(old.shape, f32), scale = emptyArray(lead, f32),
              inverse = emptyArray(lead, f32);
  if (history.size() > 0)
    std::memcpy(history.data, old.data, history.size() * sizeof(float));
  const auto steps = static_cast<std::size_t>(old.shape.back());
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const TrainingScale updated = numerics::updateDelayedScale(
        format, recipe, std::span(floats(history) + i * steps, steps), floats(oldScale)[i]);
    floats(scale)[i] = updated.scale;
    floats(inverse)[i] = updated.inverse;
  }
  return nb::make_tuple(history.numpy, scalarOr(scale), scalarOr(inverse));
}

static nb::tuple current(nb::handle amaxObject, nb::handle formatName, double epsilonNumber,
                         const std::string& scalesName) {
  const auto epsilon = static_cast<float>(epsilonNumber); // in the default rounding
  const ElementFormat& format = trainingFormat(formatName);
  const numerics::CurrentScales scales = currentScales(scalesName);
  if (!(epsilon >= 0) || std::isinf(epsilon))
    raise(ErrorClass::Format, "epsilon: expected a number of at least 0, found {}", epsilon);
  const Array amax = numbers(amaxObject, "amax");
  const ElementFormat& f32 = format::element("f32");
  const Array scale = emptyArray(amax.shape, f32), inverse = emptyArray(amax.shape, f32);
  for (std::size_t i = 0; i < amax.size(); ++i) {
    const TrainingScale found = numerics::currentScale(format, floats(amax)[i], epsilon, scales);
    floats(scale)[i] = found.scale;
    floats(inverse)[i] = found.inverse;
  }
  return nb::make_tuple(scalarOr(scale), scalarOr(inverse));
}

void bindDelayedScaling(nb::module_& module) {
  module.attr("broken_seal") = std::string(numerics::kBrokenSeal);
  module.def(
      "update_delayed_scale", &update, DefaultFloats(), nb::arg("history").none(),
      nb::arg("scale").none(), nb::arg("format"), nb::kw_only(), nb::arg("choice") = "max",
      nb::arg("zero_amax") = "roll", nb::arg("margin") = 0,
      nb::sig("def update_delayed_scale(history: numpy.typing.ArrayLike, scale: "
              "numpy.typing.ArrayLike, format: str | numpy.typing.DTypeLike, *, choice: str = "
              "'max', zero_amax: str = 'roll', margin: int = 0) -> "
              "tuple[numpy.typing.NDArray[numpy.float32], typing.Any, typing.Any]"),
      R"(One step of delayed scaling in FP8 training, as Transformer Engine takes it (docs/semantics.md, F1
to F4). It changes nothing that it is given.

history: [..., N] amaxes of tensors, float32; slot 0 of the step that ends, slots 1 to N - 1 of the
    earlier ones, oldest first.
scale: [...], what the values of each tensor were multiplied by, float32; it stays where the amax is
    0, negative, infinite or NaN.
format: the element format, "e4m3fn" or "e5m2".
choice: which amax decides: "max", the largest of all N, or "most-recent", slot 0.
zero_amax: "roll", or "keep": an amax of 0 in slot 0 leaves history and scale as they are.
margin: scales are made 2^margin times smaller.

Returns the history of the next step, its slot 0 set to 0; the scale, max / 2^margin / amax; and its
inverse, by which codes are multiplied to be values again.
Raises FormatError, DtypeError, ShapeError.)");
  module.def(
      "current_scale", &current, DefaultFloats(), nb::arg("amax").none(), nb::arg("format"),
      nb::kw_only(), nb::arg("epsilon") = 0.0f, nb::arg("scales") = "all",
      nb::sig("def current_scale(amax: numpy.typing.ArrayLike, format: str | "
              "numpy.typing.DTypeLike, *, epsilon: float = 0.0, scales: str = 'all') -> "
              "tuple[typing.Any, typing.Any]"),
      R"(The scale of a tensor from its own amax, as Transformer Engine's current scaling has it
(docs/semantics.md, F5): max / amax, 1 where amax is 0, infinite or NaN.

amax: [...], float32.
format: the element format, "e4m3fn" or "e5m2".
epsilon: smaller amaxes count as this.
scales: "all", or "powers-of-two", rounded down to one.

Returns the scale, by which values are multiplied, and its inverse, both of amax's shape.
Raises FormatError, DtypeError, ShapeError.)");
}

} // namespace octavo::python
