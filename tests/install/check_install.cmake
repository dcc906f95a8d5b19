# Run by ctest: see CMakeLists.txt beside it.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
# A package must not remember where it was installed.
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)

set(flags "")
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} -S ${EMBED_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${WORK_DIR}/moved -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/embed)
if(NOT output STREQUAL "300 requests alike by both steppers, in long stretches\n200 requests finished, shortest prompt first\n")
  message(FATAL_ERROR "the embedding program printed: ${output}")
endif()

run(${WORK_DIR}/moved/bin/inferometer --version)
foreach(folder IN ITEMS scenarios hardware/clusters hardware/gpus hardware/profiles costmodel/models sim/presets workloads/presets)
  file(GLOB shipped ${WORK_DIR}/moved/share/inferometer/${folder}/*)
  if(NOT shipped)
    message(FATAL_ERROR "nothing was installed in share/inferometer/${folder}")
  endif()
endforeach()

# The installed program finds the installed CUDA module: without a GPU it says so, and not that there is no module.
if(HAVE_CUDA)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=INFEROMETER_CUDA_MODULE
    ${WORK_DIR}/moved/bin/inferometer calibrate run --gpu 0 --dry-run
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(output MATCHES "has no CUDA|cannot be loaded|is no CUDA module|of another build" OR NOT result MATCHES "^[02]$")
    message(FATAL_ERROR "the installed program without a GPU ended with ${result}:\n${output}")
  endif()
endif()
