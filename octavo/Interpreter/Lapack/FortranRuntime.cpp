// The two functions that LAPACK needs from its environment. gfortran's library has the second, but
// it would initialize its input and output at the start of every command.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {

/// LAPACK's error handler. Like LAPACK's own, it prints a message and ends the process; arguments
/// are checked before a call, so it is not reached.
[[noreturn]] void xerbla_(const char* routine, const int* argument, std::size_t length) {
  std::fprintf(stderr, "octavo: argument %d of LAPACK's %.*s is wrong; this is a fault in octavo\n",
               *argument, static_cast<int>(length), routine);
  std::abort();
}

/// Fortran's a // b in `size` characters, cut or padded with spaces.
void _gfortran_concat_string(std::size_t size, char* to, std::size_t aSize, const char* a,
                             std::size_t bSize, const char* b) {
  const std::size_t fromA = std::min(aSize, size), fromB = std::min(bSize, size - fromA);
  std::copy_n(a, fromA, to);
  std::copy_n(b, fromB, to + fromA);
  std::fill(to + fromA + fromB, to + size, ' ');
}
}
