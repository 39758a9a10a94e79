# Finds MLIR 22 and defines what the layers below the MLIR line need.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(octavo_mlir_headers INTERFACE)
target_include_directories(octavo_mlir_headers SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(octavo_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_definitions(octavo_mlir_headers INTERFACE ${octavo_llvm_definitions})
add_library(octavo_mlir INTERFACE)
target_link_libraries(octavo_mlir INTERFACE octavo_mlir_headers)
# Debian's packages link the static libraries of MLIR to the shared one of LLVM, whose relocations
# alone take 10 ms at the start of every command.
function(octavo_link_llvm_statically library)
  get_target_property(linked ${library} INTERFACE_LINK_LIBRARIES)
  if(NOT linked OR NOT "LLVM" IN_LIST linked)
    return()
  endif()
  list(TRANSFORM linked REPLACE "^LLVM$" "LLVMRemarks;LLVMSupport")
  set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${linked}")
endfunction()
foreach(library IN LISTS MLIR_EXPORTED_TARGETS)
  if(TARGET ${library})
    octavo_link_llvm_statically(${library})
  endif()
endforeach()
target_link_libraries(octavo_mlir INTERFACE
  MLIRArithDialect MLIRBytecodeReader MLIRBytecodeWriter MLIRControlFlowDialect MLIRFuncDialect
  MLIRFuncInlinerExtension MLIRMathDialect MLIRParser MLIRPass MLIRQuantDialect MLIRSCFDialect
  MLIRShapeDialect MLIRTensorDialect MLIRTransforms)
octavo_precompiled(Mlir LINK octavo_mlir fmt::fmt nlohmann_json::nlohmann_json TBB::tbb tl::expected)

# octavo_tablegen(Target file.td out.inc flag ... ): appends one generated file to Target.
function(octavo_tablegen target source output)
  set(LLVM_TARGET_DEFINITIONS ${source})
  set(TABLEGEN_OUTPUT)
  mlir_tablegen(${output} ${ARGN} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  get_property(all GLOBAL PROPERTY octavo_tablegen_${target})
  set_property(GLOBAL APPEND PROPERTY octavo_tablegen_${target} ${TABLEGEN_OUTPUT})
endfunction()

# octavo_tablegen_target(Target): a target that stands for the files generated so far.
function(octavo_tablegen_target target)
  get_property(all GLOBAL PROPERTY octavo_tablegen_${target})
  add_custom_target(${target} DEPENDS ${all})
endfunction()

# octavo_mlir_library(Name SOURCES ... LINK ... DEPENDS generated-targets ...)
function(octavo_mlir_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  octavo_library(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} octavo_mlir)
  octavo_precompile(${name} Mlir)
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
endfunction()
