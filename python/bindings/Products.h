// octavo.matmul, for ScaledTensor's operator too.
#pragma once

#include <nanobind/nanobind.h>

namespace octavo::python {

/// octavo.matmul(a, b): the product as it is.
nanobind::object matmul(nanobind::handle a, nanobind::handle b);

} // namespace octavo::python
