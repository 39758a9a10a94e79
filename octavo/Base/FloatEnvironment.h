// The processor's floating-point control state: rounding mode, flushing of subnormals, traps. A
// caller may have changed it: XLA flushes subnormals in its threads, fesetround changes the
// rounding, and a new thread inherits the state of its creator.
#pragma once

#include <cstdint>

namespace octavo::base {

/// While an object exists, the calling thread computes as IEEE 754 does by default:
/// - rounding to nearest, ties to even,
/// - subnormals neither flushed nor read as zero,
/// - no traps,
/// - full precision in x87 registers.
///
/// The destructor restores the caller's state.
///
/// Every entry point constructs one: functions of the Python modules, calls from XLA, the C
/// interface, and each range of a loop on a pool thread. If the state is already the default, the
/// object only reads it.
///
/// Does nothing on processors other than x86-64 and AArch64.
class DefaultFloatEnvironment {
public:
  DefaultFloatEnvironment() {
#if defined(__x86_64__)
    asm volatile("stmxcsr %0" : "=m"(vectors));
    asm volatile("fnstcw %0" : "=m"(x87));
    isChanged = (vectors & ~kFlags) != kVectors || (x87 & kX87Controls) != kX87;
    if (isChanged)
      set(kVectors, kX87);
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(control));
    isChanged = control != 0;
    if (isChanged)
      set(0);
#endif
  }
  ~DefaultFloatEnvironment() {
#if defined(__x86_64__)
    if (isChanged)
      set(vectors, x87);
#elif defined(__aarch64__)
    if (isChanged)
      set(control);
#endif
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

private:
  // "memory": arithmetic on values that are loaded after the change must not move before it.
#if defined(__x86_64__)
  static constexpr std::uint32_t kFlags = 0x3F;         ///< sticky exception flags
  static constexpr std::uint32_t kVectors = 0x1F80;     ///< MXCSR: all exceptions masked
  static constexpr std::uint16_t kX87 = 0x037F;         ///< as glibc starts a program
  static constexpr std::uint16_t kX87Controls = 0x0F3F; ///< masks, precision, rounding

  static void set(std::uint32_t vectors, std::uint16_t x87) {
    asm volatile("ldmxcsr %0" : : "m"(vectors) : "memory");
    asm volatile("fldcw %0" : : "m"(x87) : "memory");
  }

  std::uint32_t vectors;
  std::uint16_t x87;
  bool isChanged;
#elif defined(__aarch64__)
  static void set(std::uint64_t control) {
    asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
  }

  std::uint64_t control;
  bool isChanged;
#endif
};

} // namespace octavo::base
