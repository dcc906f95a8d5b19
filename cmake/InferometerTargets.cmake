# How every target of the tree is made: one place for warnings, sanitizers and the installed package.

# Everything a project that embeds us links to; each inferometer_library() adds itself.
add_library(inferometer_all INTERFACE)
set_target_properties(inferometer_all PROPERTIES EXPORT_NAME inferometer)
add_library(inferometer::inferometer ALIAS inferometer_all)

# inferometer_compile_options(TARGET): what holds for all code of ours.
function(inferometer_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    # Fused multiply-add rounds differently from machine to machine; results must not.
    -ffp-contract=off
    # Position-independent code that nobody replaces at load time: functions may be inlined in their own file.
    -fno-semantic-interposition)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Both depend on what the optimiser inlined, and are mistaken about vectors that grow (GCC 13, 14) and about
    # strings that are put together (GCC 12, optimised).
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow $<$<CONFIG:Release>:-Wno-restrict>)
    if(INFEROMETER_PRECOMPILE_HEADERS)
      # The same mistake about strings, which precompiled headers bring out; builds without them keep the warnings.
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Wno-array-bounds>
        $<$<CONFIG:Release>:-Wno-stringop-overread>)
    endif()
  endif()
  if(INFEROMETER_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(INFEROMETER_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${INFEROMETER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(INFEROMETER_SANITIZE MATCHES undefined)
      # Checks at each use of each pointer cost up to half of the compile time, and the address sanitizer stops at most
      # of what they find: not at misaligned pointers and wrong downcasts.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,object-size,vptr)
    endif()
  endif()
endfunction()

# Whether the program is optimised across files. The libraries of its inner loop are fat objects then, of which the
# tests link the ordinary half, in a fraction of the time. Not where GCC 14 is: the linker beside it (2.44, Debian 13)
# takes members of archives of fat objects twice.
if(INFEROMETER_LINK_TIME_OPTIMIZATION AND CMAKE_BUILD_TYPE STREQUAL "Release"
    AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  set(INFEROMETER_LTO_COMPILE_OPTIONS -flto=auto -ffat-lto-objects)
  set(INFEROMETER_LTO_LINK_OPTIONS -flto=auto -O2 -Wno-stringop-overflow)
  set(INFEROMETER_PLAIN_LINK_OPTIONS -fno-lto)
endif()

# inferometer_link_options(TARGET): the sanitizers' run-time libraries, for programs.
function(inferometer_link_options target)
  if(INFEROMETER_SANITIZE)
    target_link_options(${target} PRIVATE -fsanitize=${INFEROMETER_SANITIZE})
  endif()
endfunction()

# What most sources of the libraries include, compiled once for each set of flags: the compiler takes it for no other.
function(inferometer_precompiled_headers target)
  set(nothing ${PROJECT_BINARY_DIR}/nothing_but_headers.cpp)
  file(CONFIGURE OUTPUT ${nothing} CONTENT "")
  add_library(${target} OBJECT ${nothing})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PRIVATE cxx_std_20)
  inferometer_compile_options(${target})
  target_compile_options(${target} PRIVATE ${ARGN})
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional> <set>
    <span> <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)
endfunction()

if(INFEROMETER_PRECOMPILE_HEADERS)
  inferometer_precompiled_headers(inferometer_headers)
  if(INFEROMETER_LTO_COMPILE_OPTIONS)
    inferometer_precompiled_headers(inferometer_headers_inner_loop ${INFEROMETER_LTO_COMPILE_OPTIONS})
  endif()
endif()

# inferometer_library(NAME [PROGRAM_ONLY] [INNER_LOOP] SOURCES a.cpp ... [DEPENDS other ...] [PRIVATE_LIBRARIES lib ...])
# One static library a folder: inferometer_<NAME>. DEPENDS are our own libraries, visible to users of this one.
# PROGRAM_ONLY: code of the command line, which an embedding project does not get. INNER_LOOP: run for each step or
# request.
function(inferometer_library name)
  cmake_parse_arguments(ARG "PROGRAM_ONLY;INNER_LOOP" "" "SOURCES;DEPENDS;PRIVATE_LIBRARIES" ${ARGN})
  set(target inferometer_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(inferometer::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/inferometer>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  inferometer_compile_options(${target})
  set(headers inferometer_headers)
  if(ARG_INNER_LOOP AND INFEROMETER_LTO_COMPILE_OPTIONS)
    target_compile_options(${target} PRIVATE ${INFEROMETER_LTO_COMPILE_OPTIONS})
    set(headers inferometer_headers_inner_loop)
  endif()
  if(INFEROMETER_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    # fmt's headers must look the same to those that do not use them.
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  endif()
  list(TRANSFORM ARG_DEPENDS PREPEND inferometer_)
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_LIBRARIES})
  if(NOT ARG_PROGRAM_ONLY)
    target_link_libraries(inferometer_all INTERFACE ${target})
    set_property(GLOBAL APPEND PROPERTY INFEROMETER_INSTALLED_LIBRARIES ${target})
  endif()
endfunction()

# inferometer_program(TARGET SOURCES a.cpp ... [DEPENDS base ...] [LIBRARIES lib ...]): an executable of ours.
# INNER_LOOP: optimised across files with the libraries of that name.
function(inferometer_program target)
  cmake_parse_arguments(ARG "INNER_LOOP" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  inferometer_compile_options(${target})
  inferometer_link_options(${target})
  if(ARG_INNER_LOOP)
    target_link_options(${target} PRIVATE ${INFEROMETER_LTO_LINK_OPTIONS})
  else()
    target_link_options(${target} PRIVATE ${INFEROMETER_PLAIN_LINK_OPTIONS})
  endif()
  list(TRANSFORM ARG_DEPENDS PREPEND inferometer_)
  target_link_libraries(${target} PRIVATE ${ARG_DEPENDS} ${ARG_LIBRARIES})
endfunction()

# inferometer_benchmark(NAME SOURCES a.cpp ... [DEPENDS base ...]): a Google Benchmark program, bench_<NAME>.
function(inferometer_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  inferometer_program(bench_${name} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS}
    LIBRARIES benchmark::benchmark benchmark::benchmark_main)
endfunction()
