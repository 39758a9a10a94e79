// Arguments that are no arrays. Choices by name: an unknown one raises FormatError, which lists
// those that there are.
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

/// Any integer of Python or NumPy. Raises DtypeError; one beyond 64 bits becomes the nearest.
std::int64_t integer(nanobind::handle object, std::string_view name);

/// Any number of Python, NumPy or an array of one. Raises DtypeError.
double number(nanobind::handle object, std::string_view name);

/// A path as the system has it: str, bytes or os.PathLike. Raises DtypeError, FileError.
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
