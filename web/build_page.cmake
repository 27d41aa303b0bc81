# Copies the sources of the page into the build folder, installs its packages there when their list
# has changed, and builds it. Without the packages (no network, say) the toolkit is built without a page.
foreach(file ${FILES})
  get_filename_component(folder ${file} DIRECTORY)
  file(COPY ${SOURCE}/${file} DESTINATION ${BINARY}/${folder})
endforeach()

file(SHA256 ${BINARY}/package-lock.json wanted)
set(stamp ${BINARY}/node_modules/.streambed-installed)
set(installed "")
if(EXISTS ${stamp})
  file(READ ${stamp} installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${BINARY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    file(REMOVE ${PAGE})
    message(WARNING "npm could not install the packages of the timeline page, so it is left out; "
      "the next build tries again.\n${output}")
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
endif()

execute_process(COMMAND ${NODE} node_modules/vite/bin/vite.js build --logLevel warn
  WORKING_DIRECTORY ${BINARY} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the timeline page does not build")
endif()
get_filename_component(folder ${PAGE} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
file(COPY_FILE ${BINARY}/dist/index.html ${PAGE})
