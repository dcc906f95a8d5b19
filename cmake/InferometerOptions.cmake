# What a user may choose at configure time, and the defaults that hold for the whole tree.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# AUTO: used when found. ON: an error when absent. OFF: not looked for.
foreach(part IN ITEMS CUDA SIMGRID MPI CHARTS)
  set(INFEROMETER_ENABLE_${part} AUTO CACHE STRING "Use ${part}: AUTO, ON or OFF")
  set_property(CACHE INFEROMETER_ENABLE_${part} PROPERTY STRINGS AUTO ON OFF)
  if(NOT INFEROMETER_ENABLE_${part} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "INFEROMETER_ENABLE_${part} is \"${INFEROMETER_ENABLE_${part}}\"; allowed: AUTO, ON or OFF")
  endif()
endforeach()

# One of them alone compiles in half the time.
set(INFEROMETER_CUDA_ARCHITECTURES "80;90a" CACHE STRING
  "GPUs that kernels are compiled for: 80 (A100; as PTX also later ones), 90a (H100, H200)")
foreach(architecture IN LISTS INFEROMETER_CUDA_ARCHITECTURES)
  if(NOT architecture MATCHES "^(80|90a)$")
    message(FATAL_ERROR "INFEROMETER_CUDA_ARCHITECTURES has \"${architecture}\"; allowed: 80 and 90a")
  endif()
endforeach()
if(NOT INFEROMETER_CUDA_ARCHITECTURES)
  message(FATAL_ERROR "INFEROMETER_CUDA_ARCHITECTURES is empty; allowed: 80 and 90a")
endif()

# A project that embeds this one with add_subdirectory wants the library, not our tests.
option(INFEROMETER_ENABLE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(INFEROMETER_ENABLE_BENCHMARKS "Build the benchmarks (Google Benchmark)" OFF)
option(INFEROMETER_ENABLE_FUZZERS "Build the fuzz targets (clang with libFuzzer)" OFF)
# The engine's inner loop crosses files: the program replays about 9 % faster (GCC 12).
option(INFEROMETER_LINK_TIME_OPTIMIZATION "Optimise the program across files (GCC below 14, Release)"
  ${PROJECT_IS_TOP_LEVEL})
# Builds without a compiler cache take a good deal less with them; ccache keeps nothing of what was compiled with them. The
# environment, since .ci/run has its builds made by others.
set(precompile OFF)
if(DEFINED ENV{INFEROMETER_PRECOMPILE_HEADERS})
  set(precompile $ENV{INFEROMETER_PRECOMPILE_HEADERS})
endif()
option(INFEROMETER_PRECOMPILE_HEADERS "Compile the standard library's headers once for all libraries" ${precompile})
option(INFEROMETER_WARNINGS_AS_ERRORS "A warning in our code is an error" ${PROJECT_IS_TOP_LEVEL})
set(INFEROMETER_SANITIZE "" CACHE STRING "Sanitizers for every target of ours, e.g. address,undefined")
set(INFEROMETER_SHARED_DATA_DIR "${PROJECT_SOURCE_DIR}/../shared/data" CACHE PATH
  "Measured data and traces for the tests that need them; they are skipped where the folder is absent")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# GCC 12 warns at -O3 of array bounds that are kept, and nothing here runs faster for it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
