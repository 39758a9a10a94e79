// octavo.matmul, shared with the operator @ of ScaledTensor.
#pragma once

#include <nanobind/nanobind.h>

namespace octavo::python {

/// octavo.matmul(a, b) without an epilogue.
nanobind::object matmul(nanobind::handle a, nanobind::handle b);

} // namespace octavo::python
