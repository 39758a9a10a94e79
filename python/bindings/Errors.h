// Errors of the module: thrown here as C++ exceptions, seen in Python as the classes of
// octavo/errors.py.
#pragma once

#include "octavo/Text/Shortened.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace octavo::python {

enum class ErrorClass { Format, Dtype, Shape, NonFinite, File, Program };

/// Of less than 2 KB, whatever the input is called.
class Error : public std::runtime_error {
public:
  Error(ErrorClass errorClass, const std::string& message)
      : std::runtime_error(text::shortened(message)), errorClass(errorClass) {}
  ErrorClass errorClass;
};

/// Raises `errorClass` in Python. The message says what is wrong, what was found, what to do.
template <typename... Arguments>
[[noreturn]] void raise(ErrorClass errorClass, fmt::format_string<Arguments...> text,
                        Arguments&&... arguments) {
  throw Error(errorClass, fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// Text that may name files and tensors, whose names may be any bytes: escaped where it is not
/// UTF-8 or a terminal would obey it. Newlines stay.
nanobind::str pythonText(std::string_view text);

/// Makes nanobind translate Error. Once, when the module is loaded.
void registerErrors();

} // namespace octavo::python
