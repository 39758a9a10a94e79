# The package `octavo` for find_package: the headers and libraries of Format and Numerics, which are
# the golden model (docs/golden-model.md).
#   cmake --install BUILD --component golden-model --prefix PREFIX

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(octavo_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/octavo")

# octavo_install_headers(Folder): the headers of octavo/Folder, those of tests excepted.
function(octavo_install_headers folder)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/octavo/${folder}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/octavo" COMPONENT golden-model
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "Test*.h" EXCLUDE)
  if(OCTAVO_TRIAL_FORMATS AND EXISTS "${PROJECT_SOURCE_DIR}/test/trial/octavo/${folder}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/test/trial/octavo/${folder}"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/octavo" COMPONENT golden-model
      FILES_MATCHING PATTERN "*.inc")
  endif()
endfunction()

octavo_install_headers(Format)
octavo_install_headers(Numerics)

# Format and Numerics, and the libraries that they link.
set_target_properties(OctavoText PROPERTIES EXPORT_NAME Text)
set_target_properties(OctavoFormat PROPERTIES EXPORT_NAME Format)
set_target_properties(OctavoNumerics PROPERTIES EXPORT_NAME Numerics)
install(TARGETS octavo_options OctavoText OctavoFormat OctavoNumerics EXPORT octavoTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT golden-model)
install(EXPORT octavoTargets NAMESPACE octavo:: DESTINATION "${octavo_package_folder}"
  COMPONENT golden-model)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/octavoConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/octavoConfig.cmake" INSTALL_DESTINATION "${octavo_package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/octavoConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/octavoConfig.cmake" "${PROJECT_BINARY_DIR}/octavoConfigVersion.cmake"
  DESTINATION "${octavo_package_folder}" COMPONENT golden-model)
