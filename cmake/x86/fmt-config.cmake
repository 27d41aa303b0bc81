# fmt for a cross-build: its headers alone, which are the same for every processor.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
file(CREATE_LINK /usr/include/fmt ${CMAKE_BINARY_DIR}/headers/fmt SYMBOLIC)
if(NOT TARGET fmt::fmt)
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_include_directories(fmt::fmt SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/headers)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
endif()
