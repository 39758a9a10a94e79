// The AVX-512 instructions of our kernels, one lane at a time, after their descriptions in Intel's
// manual ("Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2) and not after
// their uses here. `compile` calls these functions where LLVM's IR has the intrinsic of the name;
// Avx512Test.cpp holds them against hand-worked cases and AVX2's narrower twins.
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace {

template <typename T, int N> using Vector = T __attribute__((vector_size(N * sizeof(T))));
using U8 = Vector<std::uint8_t, 64>;
using I8 = Vector<std::int8_t, 64>;
using U16 = Vector<std::uint16_t, 32>;
using I16 = Vector<std::int16_t, 32>;
using I32 = Vector<std::int32_t, 16>;
using U32 = Vector<std::uint32_t, 16>;
using I64 = Vector<long long, 8>;
using F32 = Vector<float, 16>;
using Eight16 = Vector<std::uint16_t, 8>;

} // namespace

// The operands are LLVM's, whose floating-point intrinsics end with a rounding; 4: MXCSR's, which
// is to nearest.
extern "C" {
U8 vpermb(U8 from, U8 index) asm("emulated.avx512.permvar.qi.512");
F32 vpermps(F32 from, U32 index) asm("emulated.avx512.permvar.sf.512");
U8 vpermi2b(U8 first, U8 index, U8 second) asm("emulated.avx512.vpermi2var.qi.512");
U16 vpermi2w(U16 first, U16 index, U16 second) asm("emulated.avx512.vpermi2var.hi.512");
U32 vpermi2d(U32 first, U32 index, U32 second) asm("emulated.avx512.vpermi2var.d.512");
U16 vpsrlw(U16 a, Eight16 count) asm("emulated.avx512.psrl.w.512");
U32 vpternlogd(U32 a, U32 b, U32 c, int table) asm("emulated.avx512.pternlog.d.512");
I16 vpackssdw(I32 a, I32 b) asm("emulated.avx512.packssdw.512");
I8 vpacksswb(I16 a, I16 b) asm("emulated.avx512.packsswb.512");
U8 vpackuswb(I16 a, I16 b) asm("emulated.avx512.packuswb.512");
I32 vcvtps2dq(F32 a, I32 unselected, std::uint16_t mask,
              int) asm("emulated.avx512.mask.cvtps2dq.512");
F32 vmaxps(F32 a, F32 b, int) asm("emulated.avx512.max.ps.512");
F32 vrangeps(F32 a, F32 b, int control, F32 unselected, std::uint16_t mask,
             int) asm("emulated.avx512.mask.range.ps.512");
I32 vpdpbusd(I32 sum, U8 a, I8 b) asm("emulated.avx512.vpdpbusd.512");
I32 vpdpwssd(I32 sum, I16 a, I16 b) asm("emulated.avx512.vpdpwssd.512");
/// "vpdpwssd $2, $1, $0" of "=v,v,v,0"
I64 vpdpwssdText(I64 first, I64 second, I64 sum) asm("emulated.asm.vpdpwssd");
F32 vdpbf16ps(F32 sum, U16 a, U16 b) asm("emulated.avx512bf16.dpbf16ps.512");
void ldtilecfg(const std::uint8_t* configuration) asm("emulated.ldtilecfg");
void tilerelease() asm("emulated.tilerelease");
void tilezero(std::int8_t tile) asm("emulated.tilezero");
void tileloadd(std::int8_t tile, const std::uint8_t* rows,
               std::int64_t stride) asm("emulated.tileloadd64");
void tilestored(std::int8_t tile, std::uint8_t* rows,
                std::int64_t stride) asm("emulated.tilestored64");
void tdpbf16ps(std::int8_t sum, std::int8_t a, std::int8_t b) asm("emulated.tdpbf16ps");
}

namespace {

template <typename To, typename From> To as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <typename V> constexpr int kLanes = sizeof(V) / sizeof(V{}[0]);

/// Lane `index % kLanes` of the lanes of one vector or, one after the other, of two.
template <typename V, typename Index> V permute(V from, Index index) {
  V to;
  for (int i = 0; i < kLanes<V>; ++i)
    to[i] = from[index[i] & (kLanes<V> - 1)];
  return to;
}
template <typename V> V permute(V first, V index, V second) {
  V to;
  for (int i = 0; i < kLanes<V>; ++i) {
    const int at = index[i] & (kLanes<V> - 1);
    to[i] = index[i] & kLanes<V> ? second[at] : first[at];
  }
  return to;
}

/// Of each 16 bytes of both operands, one after the other, what `To` has of it, saturated.
template <typename To, typename From> To pack(From a, From b) {
  constexpr int kOfQuarter = kLanes<From> / 4;
  using Narrow = std::remove_reference_t<decltype(To{}[0])>;
  constexpr std::int32_t kLeast = std::numeric_limits<Narrow>::min(),
                         kMost = std::numeric_limits<Narrow>::max();
  To to;
  for (int i = 0; i < kLanes<To>; ++i) {
    const int at = i / (2 * kOfQuarter) * kOfQuarter + i % kOfQuarter;
    const std::int32_t x = i / kOfQuarter % 2 ? b[at] : a[at];
    to[i] = static_cast<Narrow>(x < kLeast ? kLeast : x > kMost ? kMost : x);
  }
  return to;
}

constexpr std::uint32_t kSign = 0x80000000, kQuiet = 0x00400000, kInfinity = 0x7F800000;
bool isNan(std::uint32_t bits) { return (bits & ~kSign) > kInfinity; }
bool isSignalling(std::uint32_t bits) { return isNan(bits) && !(bits & kQuiet); }

std::uint32_t range(std::uint32_t a, std::uint32_t b, int control) {
  if (isSignalling(a)) // whatever the sign control says
    return a | kQuiet;
  if (isSignalling(b))
    return b | kQuiet;
  const bool largest = control & 1, absolute = control & 2;
  std::uint32_t chosen;
  if (isNan(b)) {
    chosen = a;
  } else if (isNan(a)) {
    chosen = b;
  } else {
    // Zeros of both signs, and of absolute values all that are equal but for the sign, are ordered
    // by their signs.
    const bool bySign = (a ^ b) == kSign && (absolute || (a & ~kSign) == 0);
    const float x = as<float>(absolute ? a & ~kSign : a), y = as<float>(absolute ? b & ~kSign : b);
    const bool aIsLess = bySign ? (a & kSign) != 0 : x <= y;
    chosen = aIsLess != largest ? a : b;
  }
  switch (control >> 2 & 3) {
  case 0:
    return (a & kSign) | (chosen & ~kSign);
  case 1:
    return chosen;
  case 2:
    return chosen & ~kSign;
  default:
    return chosen | kSign;
  }
}

/// sum + a * b, rounded once and to nearest, denormal operands and results taken for zero, which is
/// what VDPBF16PS does whatever MXCSR says. The processor's own instruction under such an MXCSR
/// decides which results are denormal; eight lanes at a time, since changing MXCSR takes long. Not
/// modelled: which of several NaNs is passed on.
using Eight = Vector<float, 8>;
Eight multiplyAddFlushing(Eight sum, Eight a, Eight b) {
  const std::uint32_t flushing = 0x9FC0; // FTZ, DAZ, all exceptions masked
  std::uint32_t before;
  asm volatile("vstmxcsr %1\n\t"
               "vldmxcsr %2\n\t"
               "vfmadd231ps %4, %3, %0\n\t"
               "vldmxcsr %1"
               : "+x"(sum), "=&m"(before)
               : "m"(flushing), "x"(a), "x"(b));
  return sum;
}

} // namespace

U8 vpermb(U8 from, U8 index) { return permute(from, index); }
F32 vpermps(F32 from, U32 index) { return permute(from, index); }
U8 vpermi2b(U8 first, U8 index, U8 second) { return permute(first, index, second); }
U16 vpermi2w(U16 first, U16 index, U16 second) { return permute(first, index, second); }
U32 vpermi2d(U32 first, U32 index, U32 second) { return permute(first, index, second); }

/// The count is the lower half of its register, all of it.
U16 vpsrlw(U16 a, Eight16 count) {
  std::uint64_t by;
  std::memcpy(&by, &count, sizeof by);
  return by > 15 ? U16{} : a >> static_cast<std::uint16_t>(by);
}

/// Bit 4 * a + 2 * b + c of the table, for each bit.
U32 vpternlogd(U32 a, U32 b, U32 c, int table) {
  U32 to{};
  for (int i = 0; i < kLanes<U32>; ++i)
    for (int bit = 0; bit < 32; ++bit) {
      const int at = (a[i] >> bit & 1) << 2 | (b[i] >> bit & 1) << 1 | (c[i] >> bit & 1);
      to[i] |= static_cast<std::uint32_t>(table >> at & 1) << bit;
    }
  return to;
}

I16 vpackssdw(I32 a, I32 b) { return pack<I16>(a, b); }
I8 vpacksswb(I16 a, I16 b) { return pack<I8>(a, b); }
U8 vpackuswb(I16 a, I16 b) { return pack<U8>(a, b); }

/// NaN and what an integer does not hold become the least integer.
I32 vcvtps2dq(F32 a, I32 unselected, std::uint16_t mask, int) {
  for (int i = 0; i < kLanes<I32>; ++i)
    if (mask >> i & 1)
      unselected[i] = a[i] >= -0x1p31f && a[i] < 0x1p31f
                          ? static_cast<std::int32_t>(__builtin_roundevenf(a[i]))
                          : std::numeric_limits<std::int32_t>::min();
  return unselected;
}

/// The second operand unless the first is greater: where either is NaN, and of two zeros.
F32 vmaxps(F32 a, F32 b, int) {
  F32 to;
  for (int i = 0; i < kLanes<F32>; ++i)
    to[i] = a[i] > b[i] ? a[i] : b[i];
  return to;
}

F32 vrangeps(F32 a, F32 b, int control, F32 unselected, std::uint16_t mask, int) {
  const U32 x = as<U32>(a), y = as<U32>(b);
  U32 to = as<U32>(unselected);
  for (int i = 0; i < kLanes<U32>; ++i)
    if (mask >> i & 1)
      to[i] = range(x[i], y[i], control);
  return as<F32>(to);
}

/// Sums wrap around.
I32 vpdpbusd(I32 sum, U8 a, I8 b) {
  for (int i = 0; i < kLanes<I32>; ++i) {
    std::int32_t products = 0;
    for (int j = 4 * i; j < 4 * i + 4; ++j)
      products += std::int32_t{a[j]} * b[j];
    sum[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[i]) +
                                       static_cast<std::uint32_t>(products));
  }
  return sum;
}
I32 vpdpwssd(I32 sum, I16 a, I16 b) {
  for (int i = 0; i < kLanes<I32>; ++i) {
    std::uint32_t to = static_cast<std::uint32_t>(sum[i]);
    for (int j = 2 * i; j < 2 * i + 2; ++j)
      to += static_cast<std::uint32_t>(std::int32_t{a[j]} * b[j]);
    sum[i] = static_cast<std::int32_t>(to);
  }
  return sum;
}
I64 vpdpwssdText(I64 first, I64 second, I64 sum) {
  return as<I64>(vpdpwssd(as<I32>(sum), as<I16>(first), as<I16>(second)));
}

/// Of each pair the product of the upper elements is added first.
F32 vdpbf16ps(F32 sum, U16 a, U16 b) {
  const U32 x = as<U32>(a), y = as<U32>(b);
  const std::uint32_t upper = 0xFFFF0000;
  const auto addProducts = [&](F32 first, F32 second) {
    for (int half = 0; half < 2; ++half) {
      Eight to, p, q;
      for (int i = 0; i < 8; ++i) {
        to[i] = sum[8 * half + i];
        p[i] = first[8 * half + i];
        q[i] = second[8 * half + i];
      }
      to = multiplyAddFlushing(to, p, q);
      for (int i = 0; i < 8; ++i)
        sum[8 * half + i] = to[i];
    }
  };
  addProducts(as<F32>(x & upper), as<F32>(y & upper));
  addProducts(as<F32>(x << 16), as<F32>(y << 16));
  return sum;
}

namespace {

/// A tile of palette 1. Not modelled: faults, of tiles that are not configured or do not fit.
struct Tile {
  int rows, columnBytes;
  std::uint8_t bytes[16][64];
};
thread_local Tile tiles[8];

float bf16At(const Tile& tile, int row, int column) {
  std::uint16_t half;
  std::memcpy(&half, tile.bytes[row] + 2 * column, sizeof half);
  return as<float>(std::uint32_t{half} << 16);
}

} // namespace

void ldtilecfg(const std::uint8_t* configuration) {
  for (int i = 0; i < 8; ++i) {
    std::uint16_t columnBytes;
    std::memcpy(&columnBytes, configuration + 16 + 2 * i, sizeof columnBytes);
    tiles[i] = {configuration[48 + i], columnBytes, {}};
  }
}
void tilerelease() { std::memset(tiles, 0, sizeof tiles); }
void tilezero(std::int8_t tile) { std::memset(tiles[tile].bytes, 0, sizeof tiles[tile].bytes); }
void tileloadd(std::int8_t tile, const std::uint8_t* rows, std::int64_t stride) {
  tilezero(tile);
  for (int row = 0; row < tiles[tile].rows; ++row)
    std::memcpy(tiles[tile].bytes[row], rows + row * stride,
                static_cast<std::size_t>(tiles[tile].columnBytes));
}
void tilestored(std::int8_t tile, std::uint8_t* rows, std::int64_t stride) {
  for (int row = 0; row < tiles[tile].rows; ++row)
    std::memcpy(rows + row * stride, tiles[tile].bytes[row],
                static_cast<std::size_t>(tiles[tile].columnBytes));
}

/// Sums of the products of even and of odd columns of `a`, from 0, then both and the sum added, all
/// to nearest and with denormals taken for zero.
void tdpbf16ps(std::int8_t sum, std::int8_t a, std::int8_t b) {
  constexpr int kColumns = 16;
  for (int row = 0; row < tiles[sum].rows; ++row)
    for (int first = 0; first < kColumns; first += 8) {
      Eight even{}, odd{}, total;
      for (int k = 0; k < tiles[a].columnBytes / 4; ++k) {
        Eight left[2], right[2];
        for (int lane = 0; lane < 8; ++lane)
          for (int half = 0; half < 2; ++half) {
            left[half][lane] = bf16At(tiles[a], row, 2 * k + half);
            right[half][lane] = bf16At(tiles[b], k, 2 * (first + lane) + half);
          }
        even = multiplyAddFlushing(even, left[0], right[0]);
        odd = multiplyAddFlushing(odd, left[1], right[1]);
      }
      const Eight one = Eight{} + 1.0f;
      std::uint8_t* const at = tiles[sum].bytes[row] + 4 * first;
      std::memcpy(&total, at, sizeof total);
      total = multiplyAddFlushing(total, multiplyAddFlushing(odd, even, one), one);
      std::memcpy(at, &total, sizeof total);
    }
}
