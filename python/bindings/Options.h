// Arguments that are not arrays: numbers, paths and choices by name. An unknown choice raises
// FormatError with a list of the known ones.
#pragma once

#include "octavo/Kernels/Product/Epilogue.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/DelayedScaling.h"
#include "octavo/Numerics/Fnuz.h"
#include "octavo/Numerics/Scaled.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::python {

/// The value of an integer of Python or NumPy. Raises DtypeError. Values beyond 64 bits saturate.
std::int64_t integer(nanobind::handle object, std::string_view name);

/// The value of a number of Python or NumPy, or of an array of one element. Raises DtypeError.
double number(nanobind::handle object, std::string_view name);

/// The bytes of a path that is a str, bytes or os.PathLike. Raises DtypeError, FileError.
std::string pathOf(nanobind::handle object, std::string_view name);

numerics::Rounding rounding(const std::string& name);
numerics::Overflow overflow(const std::string& name);
numerics::NanCode nanCode(const std::string& name);
numerics::NonFinite nonFinite(const std::string& name);
format::ScaleRule scaleRule(const std::string& name);
numerics::SpecialCodes specialCodes(const std::string& name);
numerics::NoTwin noTwin(const std::string& name);
numerics::ScaleRange scaleRange(const std::string& name);
kernels::Activation activation(const std::string& name);
numerics::AmaxChoice amaxChoice(const std::string& name);
numerics::ZeroAmax zeroAmax(const std::string& name);
numerics::CurrentScales currentScales(const std::string& name);

} // namespace octavo::python
