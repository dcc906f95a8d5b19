# The libraries that every build of ours links to. Also part of the installed package, for the projects that embed it;
# there a missing one makes find_package(inferometer) fail the way its caller asked for.

foreach(library IN ITEMS yaml-cpp nlohmann_json fmt OpenSSL ZLIB simdjson Eigen3)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "inferometer")
    find_dependency(${library})
  else()
    find_package(${library} REQUIRED)
  endif()
endforeach()

# yaml-cpp 0.7 (Debian 12) names its target yaml-cpp, 0.8 (Debian 13) yaml-cpp::yaml-cpp.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  set_target_properties(yaml-cpp::yaml-cpp PROPERTIES INTERFACE_LINK_LIBRARIES yaml-cpp)
endif()