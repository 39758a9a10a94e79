#include "python/bindings/OutputArray.h"

#include "python/bindings/Errors.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

namespace octavo::python {

namespace nb = nanobind;

static nb::module_ numpyModule() { return nb::module_::import_("numpy"); }

OutputArray::OutputArray(nb::handle out, const Shape& shape, const ElementFormat& format,
                         std::string_view name, std::span<const Array> inputs) {
  if (out.is_none()) {
    computed = emptyArray(shape, format);
    return;
  }
  if (!nb::isinstance(out, numpyModule().attr("ndarray")))
    raise(
        ErrorClass::Dtype,
        "{}: expected a NumPy array, found {}; a tensor of torch has one of its memory by numpy()",
        name, nb::cast<std::string>(out.type().attr("__name__")));
  const Array array = toArray(out, name);
  const nb::object dtype = array.numpy.attr("dtype");
  const bool isNative = nb::cast<bool>(dtype.attr("isnative"));
  const bool isBytes = format.isNarrow() && array.dtype == "uint8";
  if ((array.format != &format && !isBytes) || !isNative)
    raise(ErrorClass::Dtype, "{}: expected {}{}, found {}", name, format.numpy,
          format.isNarrow() ? " or uint8" : "", nb::cast<std::string>(nb::str(nb::handle(dtype))));
  if (array.shape != shape)
    raise(ErrorClass::Shape, "{}: expected shape {}, found {}", name, text(shape),
          text(array.shape));
  if (!nb::cast<bool>(array.numpy.attr("flags").attr("writeable")))
    raise(ErrorClass::Dtype, "{}: expected an array that can be written to, found a read-only one",
          name);
  object = nb::borrow(out);
  given = isBytes ? viewed(array, format) : array;
  const bool isShared = std::ranges::any_of(inputs, [&](const Array& input) {
    return nb::cast<bool>(numpyModule().attr("may_share_memory")(array.numpy, input.numpy));
  });
  computed = given->isContiguous && !isShared ? *given : emptyArray(shape, format);
}

Array OutputArray::stored(const Array& result) const {
  if (!given)
    return result;
  if (given->data != result.data)
    numpyModule().attr("copyto")(given->numpy, result.numpy);
  return *given;
}

nb::object OutputArray::toPython(const Array& result) const {
  const Array array = stored(result);
  return given ? object : array.numpy;
}

} // namespace octavo::python
