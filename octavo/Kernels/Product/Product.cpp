#include "octavo/Kernels/Product/Product.h"

#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace octavo::kernels {

namespace portable {
extern const ProductKernels kProducts;
}
#if defined(__x86_64__)
namespace avx2 {
extern const ProductKernels kProducts;
}
#if !defined(OCTAVO_WITHOUT_AVX512)
namespace avx512 {
extern const ProductKernels kProducts;
}
#endif
#elif defined(__aarch64__)
namespace neon {
extern const ProductKernels kProducts;
}
#endif

const ProductKernels& productKernels(Isa isa) {
  assert(!whyNot(isa));
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return avx2::kProducts;
#if !defined(OCTAVO_WITHOUT_AVX512)
  case Isa::Avx512:
    return avx512::kProducts;
#endif
#elif defined(__aarch64__)
  case Isa::Neon:
    return neon::kProducts;
#endif
  default:
    return portable::kProducts;
  }
}

void multiply(const ProductPlan& plan, std::span<const PackedOperand> left,
              std::span<const PackedOperand> right, void* output, const Epilogue& epilogue,
              const Execution& given) {
  Execution execution = given;
  if (!left.empty() && !isWorthThreads(static_cast<std::int64_t>(left.size()) * left[0].rows,
                                       right[0].rows, plan.depth))
    execution.threads = 1;
  assert(execution.isa == plan.isa && (right.size() == left.size() || right.size() == 1));
  SharedMaximum amax;
  ThreadVector<ProductEpilogue> epilogues;
  ThreadVector<std::unique_ptr<ProductWork>> works;
  ThreadVector<std::int64_t> ends; // end of each product's range of task numbers
  epilogues.reserve(left.size());
  const bool isEmpty = left.empty() || left[0].rows == 0 || right[0].rows == 0;
  for (std::size_t i = 0; i < left.size() && !isEmpty; ++i) {
    const PackedOperand& a = left[i];
    const PackedOperand& b = right[right.size() == 1 ? 0 : i];
    assert(a.side == Side::Left && b.side == Side::Right && a.rows == left[0].rows &&
           b.rows == right[0].rows);
    epilogues.emplace_back(epilogue, plan.isa, output, static_cast<std::int64_t>(i), a.rows, b.rows,
                           OuterScales{a.outer, b.outer}, amax);
    works.push_back(productWork(plan, a, b, epilogues.back(), execution));
    ends.push_back((ends.empty() ? 0 : ends.back()) + works.back()->tasks());
  }
  const auto tasks = static_cast<std::size_t>(ends.empty() ? 0 : ends.back());
  forRanges(tasks, 1, execution, [&](std::size_t begin, std::size_t end) {
    auto item = static_cast<std::size_t>(
        std::ranges::upper_bound(ends, static_cast<std::int64_t>(begin)) - ends.begin());
    for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end);
         ++task) {
      while (task >= ends[item])
        ++item;
      works[item]->run(task - (item == 0 ? 0 : ends[item - 1]));
    }
  });
  if (epilogue.amax)
    *epilogue.amax = std::bit_cast<float>(amax.get());
}

void multiply(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
              std::span<float> c, const Execution& execution) {
  assert(static_cast<std::int64_t>(c.size()) == left.rows * right.rows);
  multiply(plan, std::span(&left, 1), std::span(&right, 1), c.data(), {}, execution);
}

void finish(std::span<float> sums, std::int64_t batch, std::int64_t rows, std::int64_t columns,
            void* output, const Epilogue& epilogue, const Execution& execution) {
  assert(static_cast<std::int64_t>(sums.size()) == batch * rows * columns);
  assert(epilogue.format != &format::element("f32") || output == sums.data());
  SharedMaximum amax;
  forRanges(static_cast<std::size_t>(batch * rows), 16, execution,
            [&](std::size_t begin, std::size_t end) {
              const auto last = static_cast<std::int64_t>(end);
              for (auto row = static_cast<std::int64_t>(begin), next = row; row < last;
                   row = next) {
                const std::int64_t item = row / rows, first = item * rows;
                next = std::min(last, first + rows);
                ProductEpilogue(epilogue, execution.isa, output, item, rows, columns, {}, amax)
                    .finish({row - first, next - first, 0, columns, sums.data() + row * columns,
                             columns});
              }
            });
  if (epilogue.amax)
    *epilogue.amax = std::bit_cast<float>(amax.get());
}

} // namespace octavo::kernels
