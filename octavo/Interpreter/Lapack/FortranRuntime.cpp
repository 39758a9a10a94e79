// The two functions that LAPACK asks of the world around it. gfortran's library has the second, but
// it would set up its input and output at the start of every command.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {

/// LAPACK's own prints the message and ends the process, too: arguments are checked before a call.
[[noreturn]] void xerbla_(const char* routine, const int* argument, std::size_t length) {
  std::fprintf(stderr, "octavo: argument %d of LAPACK's %.*s is wrong; this is a fault in octavo\n",
               *argument, static_cast<int>(length), routine);
  std::abort();
}

/// Fortran's a // b in `size` characters, cut or filled with blanks.
void _gfortran_concat_string(std::size_t size, char* to, std::size_t aSize, const char* a,
                             std::size_t bSize, const char* b) {
  const std::size_t fromA = std::min(aSize, size), fromB = std::min(bSize, size - fromA);
  std::copy_n(a, fromA, to);
  std::copy_n(b, fromB, to + fromA);
  std::fill(to + fromA + fromB, to + size, ' ');
}
}
