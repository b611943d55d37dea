# What `cmake --install` lays down: the headers, the CMake package, pdl.pc. All of it may be moved afterwards, and none of
# it depends on an architecture. The package works from the build folder, too. GNUInstallDirs is not used: without a
# language it warns.
include(CMakePackageConfigHelpers)

set(pdl_include_dir include)
if(DEFINED CMAKE_INSTALL_INCLUDEDIR)
  set(pdl_include_dir "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(pdl_data_dir share)
if(DEFINED CMAKE_INSTALL_DATADIR)
  set(pdl_data_dir "${CMAKE_INSTALL_DATADIR}")
endif()
set(pdl_package_dir "${pdl_data_dir}/cmake/pdl")
set(pdl_pc_dir "${pdl_data_dir}/pkgconfig")

# pdl.pc finds its prefix from its own place; an absolute folder stays what it is.
if(IS_ABSOLUTE "${pdl_data_dir}")
  file(RELATIVE_PATH pdl_prefix_from_pc "${pdl_pc_dir}" "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH pdl_prefix_from_pc "/prefix/${pdl_pc_dir}" "/prefix")
endif()
string(REGEX REPLACE "/$" "" pdl_prefix_from_pc "${pdl_prefix_from_pc}")
set(pdl_pc_includedir "\${prefix}/${pdl_include_dir}")
if(IS_ABSOLUTE "${pdl_include_dir}")
  set(pdl_pc_includedir "${pdl_include_dir}")
endif()

set(pdl_made "${CMAKE_CURRENT_BINARY_DIR}/share/cmake/pdl") # where find_package looks below a prefix
configure_file("${CMAKE_CURRENT_LIST_DIR}/pdl.pc.in" "${pdl_made}/pdl.pc" @ONLY)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/pdlConfig.cmake.in" "${pdl_made}/pdlConfig.cmake"
                              INSTALL_DESTINATION "${pdl_package_dir}" NO_SET_AND_CHECK_MACRO)
set(pdl_compatible SameMajorVersion)
if(pdl_version_MAJOR EQUAL 0)
  set(pdl_compatible SameMinorVersion) # before 1.0 a minor version may break
endif()
write_basic_package_version_file("${pdl_made}/pdlConfigVersion.cmake" VERSION ${pdl_VERSION}
                                 COMPATIBILITY ${pdl_compatible} ARCH_INDEPENDENT)

install(TARGETS pdl EXPORT pdlTargets)
install(EXPORT pdlTargets NAMESPACE pdl:: DESTINATION "${pdl_package_dir}")
export(EXPORT pdlTargets NAMESPACE pdl:: FILE "${pdl_made}/pdlTargets.cmake")
install(FILES pdl.h pdl_device.cuh DESTINATION "${pdl_include_dir}")
install(FILES "${pdl_made}/pdlConfig.cmake" "${pdl_made}/pdlConfigVersion.cmake" DESTINATION "${pdl_package_dir}")
install(FILES "${pdl_made}/pdl.pc" DESTINATION "${pdl_pc_dir}")
