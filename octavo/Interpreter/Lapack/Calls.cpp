#include "octavo/Interpreter/Lapack/Calls.h"

#include <algorithm>

namespace octavo::interpreter::lapack {

Kernel Call::kernel(const ElementType& type) const {
  if (!type.isComplex() && !type.isFloat())
    return nullptr;
  const numerics::ElementFormat& part = type.isComplex() ? type.part() : type.format();
  if (part == format::element("f32"))
    return type.isComplex() ? complex32 : f32;
  if (part == format::element("f64"))
    return type.isComplex() ? complex64 : f64;
  return nullptr;
}

std::span<const Call> calls() {
  static const std::vector<Call> table = [] {
    std::vector<Call> all;
    for (const std::vector<Call>& part : {factorizations(), eigenvalues(), solvers()})
      all.insert(all.end(), part.begin(), part.end());
    std::ranges::sort(all, {}, &Call::name);
    return all;
  }();
  return table;
}

tl::expected<std::vector<Tensor>, std::string> run(const Call& call, std::vector<Tensor> operands,
                                                   std::vector<Tensor> results,
                                                   const Options& options) {
  if (operands.empty())
    return tl::unexpected<std::string>("takes operands; there are none");
  const ElementType type = operands.front().type;
  const Kernel kernel = call.kernel(type);
  if (kernel == nullptr)
    return tl::unexpected("is not defined on elements of " + type.name() +
                          "; it is on f32, f64, complex<f32> and complex<f64>");
  auto batch = Batch::make(type.isComplex() ? call.complexSignature : call.signature, call.letters,
                           type, std::move(operands), std::move(results), options);
  if (!batch)
    return tl::unexpected(batch.error());
  if (std::string wrong = kernel(*batch); !wrong.empty())
    return tl::unexpected(wrong);
  return std::move(*batch).takeResults();
}

} // namespace octavo::interpreter::lapack
