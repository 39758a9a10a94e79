# Targets of the layers above the MLIR line.

include(Precompile)

add_library(octavo_options INTERFACE)
if(OCTAVO_TRIAL_FORMATS) # before the source, whose files of the same names have no rows
  target_include_directories(octavo_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/test/trial>")
endif()
target_include_directories(octavo_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PROJECT_BINARY_DIR}>"
  $<INSTALL_INTERFACE:include>)
target_compile_features(octavo_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
# Contraction is off, in programs that link an installed octavo too: each operation of a scalar
# specification rounds once, as written.
target_compile_options(octavo_options INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Werror=return-type;-Wno-unused-parameter>" -ffp-contract=off
  "$<BUILD_INTERFACE:-fvisibility-inlines-hidden>")
if(OCTAVO_PRECOMPILE) # precompiled headers are shared by targets that are compiled alike
  target_compile_options(octavo_options INTERFACE -fPIC -pthread)
endif()
if(OCTAVO_SANITIZE)
  target_compile_options(octavo_options INTERFACE
    "-fsanitize=${OCTAVO_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(octavo_options INTERFACE "-fsanitize=${OCTAVO_SANITIZE}")
  if(OCTAVO_SANITIZE MATCHES address)
    # Checks of each pointer, which double the time that kernels take to compile: the address
    # sanitizer stops at what is read or written through a wrong one.
    target_compile_options(octavo_options INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
  endif()
endif()
if(OCTAVO_FUZZ)
  # Edges are counted, comparisons are not traced: most of them are the undefined behaviour
  # sanitizer's own, and tracing them took a quarter of the time.
  target_compile_options(octavo_options INTERFACE
    -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
endif()

# What tests ask takes their time, not the asking: a quarter less to compile, as long to run.
add_library(octavo_test_options INTERFACE)
target_link_libraries(octavo_test_options INTERFACE octavo_options)
target_compile_options(octavo_test_options INTERFACE $<$<CONFIG:Release>:-O1>)

octavo_precompiled(Base LINK fmt::fmt nlohmann_json::nlohmann_json TBB::tbb tl::expected)
if(BUILD_TESTING)
  octavo_precompiled(UnitTest LINK octavo_test_options fmt::fmt GTest::gtest nlohmann_json::nlohmann_json TBB::tbb tl::expected)
endif()

# octavo_library(Name SOURCES a.cpp ... LINK targets ...): the library of one layer or dialect. Its sources
# name things of their own differently: thirty are one unit of `make`.
function(octavo_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD_BATCH_SIZE 30)
  target_link_libraries(${name} PUBLIC octavo_options ${arg_LINK})
  octavo_precompile(${name} Base)
endfunction()

# Where each runner of tests writes what became of its tests, for scripts/run-tests to count.
set(octavo_test_results "${PROJECT_BINARY_DIR}/test-results")

# octavo_unit_test(Name SOURCES aTest.cpp ... LINK targets ...): one GoogleTest program, one ctest entry.
# Those labelled `memory` are what `make test` runs in the sanitizers' build.
function(octavo_unit_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE octavo_test_options ${arg_LINK} GTest::gtest GTest::gtest_main)
  octavo_precompile(${name} UnitTest)
  add_test(NAME ${name} COMMAND ${name} "--gtest_output=xml:${octavo_test_results}/${name}.xml")
  set_tests_properties(${name} PROPERTIES LABELS memory)
  set_property(GLOBAL APPEND PROPERTY octavo_memory_tests ${name})
endfunction()

# octavo_fuzzer(FooFuzz SOURCE FooFuzz.cpp LINK targets ...): a libFuzzer target (clang), and a ctest
# entry that runs it once over each file of test/fuzz/Foo. The address sanitizer's build has both;
# -DOCTAVO_FUZZ=ON (preset fuzz) has the libraries report what they reach, without which libFuzzer
# can replay inputs but not look for new ones.
function(octavo_fuzzer name)
  if(NOT OCTAVO_SANITIZE MATCHES address)
    return()
  endif()
  cmake_parse_arguments(arg "" "SOURCE" "LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCE})
  target_link_libraries(${name} PRIVATE octavo_options ${arg_LINK})
  octavo_precompile(${name} Base)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  string(REGEX REPLACE "Fuzz$" "" corpus ${name})
  file(GLOB inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/fuzz/${corpus}/*")
  add_test(NAME ${name} COMMAND ${name} ${inputs})
  set_tests_properties(${name} PROPERTIES LABELS memory)
  set_property(GLOBAL APPEND PROPERTY octavo_memory_tests ${name})
endfunction()
