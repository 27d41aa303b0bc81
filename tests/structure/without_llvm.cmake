# Configures and builds the project as if neither LLVM nor node were installed. With the options of the build that
# asks for it, and in a folder beside it, so that most of the objects are in the compiler's cache, which counts the way
# from the folder to the sources.
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGV}")
  endif()
endfunction()

must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${BINARY} -DCMAKE_MAKE_PROGRAM=${NINJA}
     -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${TYPE}
     -DCMAKE_COMPILE_WARNING_AS_ERROR=${WERROR}
     -DSTREAMBED_TESTS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON -DSTREAMBED_WEB=OFF)
must(${CMAKE_COMMAND} --build ${BINARY})
must(${BINARY}/toolkit/bin/streambed --version)
if(EXISTS ${BINARY}/toolkit/share/streambed/timeline.html)
  message(FATAL_ERROR "the timeline page was built: node was used after all")
endif()
if(EXISTS ${BINARY}/toolkit/lib64/streambed/sb_pass.so)
  message(FATAL_ERROR "the pass was built: LLVM was found after all")
endif()
