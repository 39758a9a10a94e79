#include "octavo/Program/Steps/Products/OpenPlan.h"

namespace octavo::program {

static kernels::OperandFormat with(kernels::OperandFormat format, std::int64_t along) {
  format.along = along;
  return format;
}

kernels::OperandFormat OpenPlan::left(std::int64_t items) const {
  return with(one.left, leftAlong.of(items));
}

kernels::OperandFormat OpenPlan::right(std::int64_t items) const {
  return with(one.right, rightAlong.of(items));
}

tl::expected<kernels::ProductPlan, std::string> OpenPlan::of(std::int64_t items) const {
  return isOpen() ? kernels::productPlan(left(items), right(items), depth.of(items)) : one;
}

} // namespace octavo::program
