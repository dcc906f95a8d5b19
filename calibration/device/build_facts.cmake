# Writes build_facts.cpp, anew only when something in it changed. Run at every build:
#   cmake -D SOURCE_DIR=... -D OUTPUT=... -D VERSION=... -D NVCC_VERSION=... -P build_facts.cmake
cmake_minimum_required(VERSION 3.25)

# One line a file, as sha256sum prints it, sorted by name; the hash of all lines.
file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR}
  ${SOURCE_DIR}/kernels/*.hpp ${SOURCE_DIR}/kernels/*.cuh ${SOURCE_DIR}/kernels/*.cu ${SOURCE_DIR}/kernels/*.cpp
  ${SOURCE_DIR}/calibration/device/*.hpp ${SOURCE_DIR}/calibration/device/*.cuh
  ${SOURCE_DIR}/calibration/device/*.cu ${SOURCE_DIR}/calibration/device/*.cpp)
list(SORT sources)
set(lines "")
foreach(source IN LISTS sources)
  file(SHA256 ${SOURCE_DIR}/${source} hash)
  string(APPEND lines "${hash}  ${source}\n")
endforeach()
string(SHA256 source_hash "${lines}")

set(revision "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --short=12 HEAD
    RESULT_VARIABLE failed OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(revision ${head})
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND revision " dirty")
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "calibration/device/build_facts.hpp"

namespace inferometer {

const BuildFacts kBuildFacts = {
    .source_hash = "sha256:@source_hash@",
    .revision = "@revision@",
    .version = "@VERSION@",
    .nvcc_version = "@NVCC_VERSION@",
};

}  // namespace inferometer
]])
