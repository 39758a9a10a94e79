# Precompiled headers: other people's headers alone, so that a change to octavo's rebuilds nothing
# more. Sources include what they use, with or without them. Under a compiler launcher (ccache) they
# are off: a precompiled header names its own build's paths, so that no other build could share what
# was compiled with it.

if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile_default OFF)
else()
  set(precompile_default ON)
endif()
option(OCTAVO_PRECOMPILE "Precompiled headers" ${precompile_default})

# octavo_precompiled(Name LINK targets ...): precompiles cmake/precompiled/Name.h for targets that are
# compiled as `targets` say.
function(octavo_precompiled name)
  if(NOT OCTAVO_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(WRITE "${PROJECT_BINARY_DIR}/precompiled/${name}.cpp" "")
  add_library(Precompiled${name} OBJECT "${PROJECT_BINARY_DIR}/precompiled/${name}.cpp")
  target_link_libraries(Precompiled${name} PRIVATE octavo_options ${arg_LINK})
  target_precompile_headers(Precompiled${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/${name}.h")
endfunction()

# octavo_precompile(target Name): compiles target with what octavo_precompiled(Name) made.
function(octavo_precompile target name)
  if(OCTAVO_PRECOMPILE)
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM Precompiled${name})
  endif()
endfunction()
