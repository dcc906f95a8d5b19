# The installed tree: bin/inferometer, the libraries with their headers, the shipped data, and a CMake package:
#   find_package(inferometer REQUIRED)
#   target_link_libraries(mine PRIVATE inferometer::inferometer)   # then #include "base/units.hpp"
#   target_link_libraries(libmine PRIVATE inferometer::plugin)      # of a MODULE, for inferometer --plugin libmine.so
include(CMakePackageConfigHelpers)

set(INFEROMETER_DATA_INSTALL_DIR ${CMAKE_INSTALL_DATADIR}/inferometer)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/inferometer)

get_property(libraries GLOBAL PROPERTY INFEROMETER_INSTALLED_LIBRARIES)
install(TARGETS inferometer_all ${libraries} EXPORT inferometer-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT inferometer-targets NAMESPACE inferometer:: DESTINATION ${package_dir})
install(TARGETS inferometer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

install(DIRECTORY base hardware costmodel calibration workloads sim
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inferometer
  FILES_MATCHING PATTERN "*.hpp" PATTERN "cli" EXCLUDE PATTERN "device" EXCLUDE)

# Found by data_directory(), base/data_path.hpp, under the same relative names as in the source tree.
foreach(folder IN ITEMS scenarios hardware/clusters hardware/gpus hardware/profiles costmodel/models sim/presets workloads/presets)
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${folder} DESTINATION ${INFEROMETER_DATA_INSTALL_DIR}/${parent}
    PATTERN "*.py" EXCLUDE)
endforeach()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/inferometer-config.cmake.in ${PROJECT_BINARY_DIR}/inferometer-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS INFEROMETER_DATA_INSTALL_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/inferometer-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/inferometer-config.cmake
  ${PROJECT_BINARY_DIR}/inferometer-config-version.cmake
  cmake/InferometerLibraries.cmake
  DESTINATION ${package_dir})
