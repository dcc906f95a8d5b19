# How a test is made. Every Catch2 case is a ctest of its own, labelled with its kind: ctest -L unit, -L property, ...
include(Catch)

add_library(inferometer_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cpp)
target_link_libraries(inferometer_catch_main PUBLIC Catch2::Catch2)
if(INFEROMETER_SANITIZE)
  target_compile_options(inferometer_catch_main PRIVATE -fsanitize=${INFEROMETER_SANITIZE})
endif()

# inferometer_test(NAME SOURCES a.cpp ... [DEPENDS base ...] [LIBRARIES lib ...] [LABEL unit])
function(inferometer_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(target test_${name})
  inferometer_program(${target} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS}
    LIBRARIES inferometer_catch_main ${ARG_LIBRARIES})
  # Optimising a test takes longer than running it: what it spends its time in is in the libraries.
  target_compile_options(${target} PRIVATE -O0)
  target_compile_definitions(${target} PRIVATE
    INFEROMETER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" INFEROMETER_SHARED_DATA="${INFEROMETER_SHARED_DATA_DIR}")
  # Catch2 2 ends well when a case's name, taken as a filter, finds nothing: such a test would pass without running.
  catch_discover_tests(${target} TEST_PREFIX "${name}: "
    PROPERTIES LABELS "${ARG_LABEL}" FAIL_REGULAR_EXPRESSION "No test cases matched")
endfunction()
