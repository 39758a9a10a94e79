// Errors of the extension modules: C++ throws Error, Python sees the classes of octavo/errors.py.
#pragma once

#include "octavo/Base/Shortened.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace octavo::python {

enum class ErrorClass { Format, Dtype, Shape, NonFinite, File, Program };

/// An error with its Python class. The message is shortened to less than 2 KB, however long names
/// are.
class Error : public std::runtime_error {
public:
  Error(ErrorClass errorClass, const std::string& message)
      : std::runtime_error(base::shortened(message)), errorClass(errorClass) {}
  ErrorClass errorClass;
};

/// Throws an Error that Python sees as `errorClass`. The message says what is wrong, what was found
/// and what to do.
template <typename... Arguments>
[[noreturn]] void raise(ErrorClass errorClass, fmt::format_string<Arguments...> text,
                        Arguments&&... arguments) {
  throw Error(errorClass, fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// A Python string of text with names of files and tensors, which may have any bytes. Bytes that
/// are not UTF-8 and control characters are escaped, but newlines stay.
nanobind::str pythonText(std::string_view text);

/// Registers the translation of Error with nanobind. Called once, when a module is loaded.
void registerErrors();

} // namespace octavo::python
