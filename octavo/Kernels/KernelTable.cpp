#include "octavo/Kernels/KernelTable.h"

#include <cassert>

namespace octavo::kernels {

namespace portable {
extern const KernelTable kTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const KernelTable kTable;
}
#if !defined(OCTAVO_WITHOUT_AVX512)
namespace avx512 {
extern const KernelTable kTable;
}
#endif
#elif defined(__aarch64__)
namespace neon {
extern const KernelTable kTable;
}
#endif

const KernelTable& kernelTable(Isa isa) {
  assert(!whyNot(isa));
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return avx2::kTable;
#if !defined(OCTAVO_WITHOUT_AVX512)
  case Isa::Avx512:
    return avx512::kTable;
#endif
#elif defined(__aarch64__)
  case Isa::Neon:
    return neon::kTable;
#endif
  default:
    return portable::kTable;
  }
}

} // namespace octavo::kernels
