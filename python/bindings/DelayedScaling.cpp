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

/// The values as f32. A number of Python counts as an array of rank 0.
static Array numbers(nb::handle object, std::string_view name) {
  const bool isNumber = PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr());
  return asFloats(
      toArray(isNumber ? nb::module_::import_("numpy").attr("float32")(object) : nb::borrow(object),
              name),
      name);
}

/// The array, or a NumPy scalar if its rank is 0.
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
      R"(The scales of the next training step from the largest magnitudes of earlier steps (delayed scaling).

The rules are those of Transformer Engine (docs/semantics.md, F1 to F4). The arguments stay unchanged.

history: float32 [..., N], the amax of each tensor in N steps. Slot 0 is the current step; slots 1 to
    N - 1 are the earlier steps, oldest first.
scale: float32 [...], by which the values of each tensor are multiplied before they become codes. If
    the amax is 0, negative, infinite or NaN, the scale stays.
format: the element format: "e4m3fn" or "e5m2".
choice: the amax that decides: "max", the largest of the N, or "most-recent", slot 0.
zero_amax: "roll" treats an amax of 0 in slot 0 as any other; "keep" then leaves history and scale as
    they are.
margin: the new scale is divided by 2^margin.

Returns (history, scale, inverse): the history with slot 0 set to 0; the scale, which is
max / 2^margin / amax with the format's largest value max; and 1 / scale, which turns codes into values.
Raises FormatError, DtypeError, ShapeError.)");
  module.def("current_scale", &current, DefaultFloats(), nb::arg("amax").none(), nb::arg("format"),
             nb::kw_only(), nb::arg("epsilon") = 0.0f, nb::arg("scales") = "all",
             nb::sig("def current_scale(amax: numpy.typing.ArrayLike, format: str | "
                     "numpy.typing.DTypeLike, *, epsilon: float = 0.0, scales: str = 'all') -> "
                     "tuple[typing.Any, typing.Any]"),
             R"(The scale of a tensor from its own largest magnitude (current scaling).

The rule is Transformer Engine's (docs/semantics.md, F5): the format's largest value divided by amax,
or 1 if amax is 0, infinite or NaN.

amax: float32 [...], the largest magnitude of each tensor.
format: the element format: "e4m3fn" or "e5m2".
epsilon: the least amax; a smaller amax counts as epsilon.
scales: "all" allows any scale; "powers-of-two" rounds the scale down to a power of two.

Returns (scale, inverse) of amax's shape: values times scale become codes, codes times inverse values.
Raises FormatError, DtypeError, ShapeError.)");
}

} // namespace octavo::python
