# Targets of the layers above the MLIR line.

add_library(octavo_options INTERFACE)
target_include_directories(octavo_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
# Contraction is off: each operation of a scalar specification rounds once, as written.
target_compile_options(octavo_options INTERFACE
  -Wall -Wextra -Werror=return-type -Wno-unused-parameter -ffp-contract=off -fvisibility-inlines-hidden)
if(OCTAVO_SANITIZE)
  target_compile_options(octavo_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(octavo_options INTERFACE -fsanitize=address,undefined)
endif()
if(OCTAVO_FUZZ)
  # Edges are counted, comparisons are not traced: most of them are the undefined behaviour
  # sanitizer's own, and tracing them took a quarter of the time.
  target_compile_options(octavo_options INTERFACE
    -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
endif()

# octavo_library(Name SOURCES a.cpp ... LINK targets ...): the library of one layer or dialect.
function(octavo_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC octavo_options ${arg_LINK})
endfunction()

# octavo_unit_test(Name SOURCES aTest.cpp ... LINK targets ...): one GoogleTest program, one ctest entry.
function(octavo_unit_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE octavo_options ${arg_LINK} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# octavo_fuzzer(FooFuzz SOURCE FooFuzz.cpp LINK targets ...): a libFuzzer target (clang), and a ctest
# entry that runs it once over each file of test/fuzz/Foo. The sanitizers' build has both;
# -DOCTAVO_FUZZ=ON (preset fuzz) has the libraries report what they reach, without which libFuzzer
# can replay inputs but not look for new ones.
function(octavo_fuzzer name)
  if(NOT OCTAVO_SANITIZE AND NOT OCTAVO_FUZZ)
    return()
  endif()
  cmake_parse_arguments(arg "" "SOURCE" "LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCE})
  target_link_libraries(${name} PRIVATE octavo_options ${arg_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  string(REGEX REPLACE "Fuzz$" "" corpus ${name})
  file(GLOB inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/fuzz/${corpus}/*")
  add_test(NAME ${name} COMMAND ${name} ${inputs})
endfunction()
