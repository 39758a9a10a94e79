# The version of compiled folders: a digest of the sources that define their contents (the fields of
# steps, their enumerators, the packed forms of weights), without comments and white space. Any other
# change of these sources changes the version. Included, this file lists them in `folder_format`. As a
# script it writes OUTPUT, a header with the version:
# cmake -DSOURCE=... -DOUTPUT=... -P FolderVersion.cmake

if(NOT SOURCE)
  set(SOURCE "${PROJECT_SOURCE_DIR}")
endif()
if(NOT CMAKE_SCRIPT_MODE_FILE) # a script lists the files each time anyway
  set(configure_depends CONFIGURE_DEPENDS)
endif()
file(GLOB folder_format ${configure_depends}
  "${SOURCE}/octavo/Program/Folder/FileDigest.*" "${SOURCE}/octavo/Program/Folder/FolderFile.*"
  "${SOURCE}/octavo/Program/Steps/*.h" "${SOURCE}/octavo/Program/Steps/*/*.h" "${SOURCE}/octavo/Program/Steps/*Fields.cpp" "${SOURCE}/octavo/Program/Steps/*/*Fields.cpp" "${SOURCE}/octavo/Program/Steps/File/ProgramFile.cpp"
  "${SOURCE}/octavo/Kernels/Product/*.h" "${SOURCE}/octavo/Kernels/Product/*Pack*.cpp"
  "${SOURCE}/octavo/Kernels/Product/ProductPlan.cpp"
  "${SOURCE}/octavo/Numerics/QuantizeOptions.h")
list(FILTER folder_format EXCLUDE REGEX "Test")

if(CMAKE_SCRIPT_MODE_FILE)
  set(digests "")
  foreach(file IN LISTS folder_format)
    file(READ "${file}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
    string(SHA256 digest "${text}")
    string(APPEND digests "${digest}")
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING "${digest}" 0 16 digest)
  set(text "#define OCTAVO_FOLDER_VERSION 0x${digest}u\n")
  if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" before)
  endif()
  if(NOT before STREQUAL text) # else a changed comment would recompile its includers
    file(WRITE "${OUTPUT}" "${text}")
  endif()
endif()
