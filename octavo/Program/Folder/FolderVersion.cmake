# The version of compiled folders: a digest of the sources that say what lies in them (the fields of
# steps, their enumerators, the forms that weights are packed in), without comments and blanks, so
# that no change of these keeps the number. Included, it lists them in `folder_format`; as a script
# it writes OUTPUT, a header with the number: cmake -DSOURCE=... -DOUTPUT=... -P FolderVersion.cmake

if(NOT SOURCE)
  set(SOURCE "${PROJECT_SOURCE_DIR}")
endif()
if(NOT CMAKE_SCRIPT_MODE_FILE) # a script reads the folders anyway
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
  if(NOT before STREQUAL text) # else what includes it would be compiled with each comment
    file(WRITE "${OUTPUT}" "${text}")
  endif()
endif()
