# How a test is made. Every Catch2 case is a ctest of its own, labelled with its kind: ctest -L unit, -L property, ...
include(Catch)

add_library(inferometer_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cpp)
target_link_libraries(inferometer_catch_main PUBLIC Catch2::Catch2)
if(INFEROMETER_SANITIZE)
  target_compile_options(inferometer_catch_main PRIVATE -fsanitize=${INFEROMETER_SANITIZE})
endif()

# Catch2 is much of what a test compiles: it is compiled once for all of them, with their flags, or the compiler does not
# take it. A test with flags of its own sets DISABLE_PRECOMPILE_HEADERS.
function(inferometer_test_options target)
  # Optimising a test takes longer than running it: what it spends its time in is in the libraries.
  target_compile_options(${target} PRIVATE -O0)
  target_compile_definitions(${target} PRIVATE
    INFEROMETER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" INFEROMETER_SHARED_DATA="${INFEROMETER_SHARED_DATA_DIR}")
endfunction()

add_library(inferometer_test_headers OBJECT ${PROJECT_SOURCE_DIR}/tests/support/catch_headers.cpp)
target_include_directories(inferometer_test_headers PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(inferometer_test_headers PRIVATE cxx_std_20)
target_link_libraries(inferometer_test_headers PRIVATE inferometer_catch_main)
inferometer_compile_options(inferometer_test_headers)
inferometer_test_options(inferometer_test_headers)
target_precompile_headers(inferometer_test_headers PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/catch.hpp)

# inferometer_test(NAME SOURCES a.cpp ... [DEPENDS base ...] [LIBRARIES lib ...] [LABEL unit])
function(inferometer_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(target test_${name})
  inferometer_program(${target} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS}
    LIBRARIES inferometer_catch_main ${ARG_LIBRARIES})
  inferometer_test_options(${target})
  target_precompile_headers(${target} REUSE_FROM inferometer_test_headers)
  # Catch2 2 ends well when a case's name, taken as a filter, finds nothing: such a test would pass without running.
  catch_discover_tests(${target} TEST_PREFIX "${name}: "
    PROPERTIES LABELS "${ARG_LABEL}" FAIL_REGULAR_EXPRESSION "No test cases matched")
endfunction()
