#include "octavo/Kernels/Bf16Dots.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace octavo::kernels {

#if defined(__x86_64__)

/// Asks Linux for the use of tile registers, which holds for all threads of the process.
static bool mayUseTiles() {
#if defined(OCTAVO_EMULATED_MACHINE)
  return true;
#else
  constexpr long kRequest = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#endif
}

bool usesBf16(Isa isa) { return isa == Isa::Avx512 && __builtin_cpu_supports("avx512bf16"); }

bool usesTiles(Isa isa) {
  static const bool hasTiles = __builtin_cpu_supports("amx-tile") != 0 &&
                               __builtin_cpu_supports("amx-bf16") != 0 && mayUseTiles();
  return usesBf16(isa) && hasTiles;
}

#else

bool usesBf16(Isa) { return false; }
bool usesTiles(Isa) { return false; }

#endif

} // namespace octavo::kernels
