# Running the AVX-512 kernels on a machine that has AVX2 only: octavo/Kernels/emulated/compile.
# scripts/test-avx512 builds with it; nothing built so is meant for anything but tests.
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/../octavo/Kernels/emulated/compile"
  $ENV{CMAKE_CXX_COMPILER_LAUNCHER})
set(OCTAVO_EMULATED_AVX512 ON)
