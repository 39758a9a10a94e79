#include "python/bindings/Execution.h"

#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/FloatGuard.h"

#include <nanobind/stl/string.h>

#include <atomic>

namespace octavo::python {

namespace nb = nanobind;

static std::atomic<int> mostThreads = 0;

kernels::Execution execution() { return {.threads = mostThreads}; }

void bindExecution(nb::module_& module) {
  module.def(
      "set_threads",
      [](int threads) {
        if (threads < 0)
          raise(ErrorClass::Shape,
                "set_threads: expected a number of threads, or 0 for as many as the machine has; "
                "found {}",
                threads);
        mostThreads = threads;
      },
      DefaultFloats(), nb::arg("threads"),
      R"(Limits the number of threads that every later call uses. Results do not depend on it.

threads: the limit; 0, the initial setting, stands for the number of threads of the machine.

Raises ShapeError if threads is negative.)");
  module.def(
      "get_threads", [] { return mostThreads.load(); }, DefaultFloats(),
      "The limit that set_threads has set; 0 stands for the number of threads of the machine.");
  module.def(
      "isa", [] { return std::string(kernels::isaName(kernels::defaultIsa())); }, DefaultFloats(),
      "The instruction set that the kernels run on: \"portable\", \"avx2\", \"avx512\" or "
      "\"neon\".\n"
      "The environment variable OCTAVO_ISA forces one. Conversions, quantization and products of\n"
      "two tensors of 4-bit, 6-bit or int8 elements do not depend on it. Products with 8-bit\n"
      "floats or with plain arrays, and compiled programs, may: their sums stay within the bounds\n"
      "of docs/semantics.md.");
}

} // namespace octavo::python
