# Fuzz targets. With INFEROMETER_ENABLE_FUZZERS (clang) each is a libFuzzer program, fuzz/fuzz_<NAME>. In every other
# build the same source runs once over its seed corpus, tests/fuzz/corpus/<NAME>/, as a test: what fuzzing
# once found stays fixed, and the targets cannot rot.

if(INFEROMETER_ENABLE_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "INFEROMETER_ENABLE_FUZZERS needs clang (libFuzzer); the compiler is ${CMAKE_CXX_COMPILER}. "
    "Use the preset \"fuzz\", or set CMAKE_CXX_COMPILER=clang++.")
endif()

if(INFEROMETER_ENABLE_FUZZERS)
  # What the preset "fuzz" builds: the targets and the libraries under them, not the program.
  add_custom_target(fuzzers)
endif()

# inferometer_fuzzer(NAME SOURCES a.cpp ... [DEPENDS base ...] [LIBRARIES lib ...])
function(inferometer_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(target fuzz_${name})
  if(INFEROMETER_ENABLE_FUZZERS)
    inferometer_program(${target} ${ARGN})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  else()
    inferometer_program(${target} SOURCES ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/run_corpus.cpp
      DEPENDS ${ARG_DEPENDS} LIBRARIES ${ARG_LIBRARIES})
    add_test(NAME "fuzz corpus: ${name}" COMMAND ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties("fuzz corpus: ${name}" PROPERTIES LABELS fuzz)
  endif()
endfunction()
