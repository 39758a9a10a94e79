#include "python/bindings/Errors.h"

#include "octavo/Base/PrintableText.h"

namespace octavo::python {

namespace nb = nanobind;

static const char* className(ErrorClass errorClass) {
  switch (errorClass) {
  case ErrorClass::Format:
    return "FormatError";
  case ErrorClass::Dtype:
    return "DtypeError";
  case ErrorClass::Shape:
    return "ShapeError";
  case ErrorClass::NonFinite:
    return "NonFiniteError";
  case ErrorClass::File:
    return "FileError";
  case ErrorClass::Program:
    return "ProgramError";
  }
  return "Error";
}

nb::str pythonText(std::string_view text) {
  return nb::str(base::printable(text, base::Newlines::Kept).c_str());
}

void registerErrors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const nb::object type =
          nb::module_::import_("octavo.errors").attr(className(error.errorClass));
      PyErr_SetObject(type.ptr(), pythonText(error.what()).ptr());
    }
  });
}

} // namespace octavo::python
