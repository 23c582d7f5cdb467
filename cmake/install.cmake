# The library as an embedder gets it: one archive `libmillrace.a` made of the objects of all rooms
# that core/api stands on, the public headers, and a CMake package that gives the target
# Millrace::millrace.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Adds `target` and every millrace_* target it links, directly or not, to the list named `out`.
function(millrace_collect_rooms target out)
  set(found ${${out}})
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  list(APPEND found ${target})
  foreach(link ${links})
    # $<LINK_ONLY:x> and $<BUILD_INTERFACE:x> wrap the name of what is linked privately.
    string(REGEX REPLACE "^\\$<[A-Z_]+:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^millrace_" AND TARGET ${link} AND NOT link IN_LIST found)
      millrace_collect_rooms(${link} found)
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(millrace_rooms "")
millrace_collect_rooms(millrace_api millrace_rooms)
# Where the system calls are a library of their own, the real ones belong to the product.
if(TARGET millrace_sys AND NOT "millrace_sys" IN_LIST millrace_rooms)
  list(APPEND millrace_rooms millrace_sys)
endif()

set(millrace_objects "")
foreach(room ${millrace_rooms})
  get_target_property(room_type ${room} TYPE)
  if(room_type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
    list(APPEND millrace_objects $<TARGET_OBJECTS:${room}>)
    # Objects that leave the project must also link without this compiler's LTO plugin.
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${room} PRIVATE -ffat-lto-objects)
    endif()
  endif()
endforeach()

find_package(Threads REQUIRED)
add_library(millrace STATIC ${millrace_objects})
add_library(Millrace::millrace ALIAS millrace)
set_target_properties(millrace PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(millrace PUBLIC cxx_std_20)
target_include_directories(millrace INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(millrace PUBLIC Threads::Threads $<BUILD_INTERFACE:millrace_flags>)

set(millrace_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Millrace)
install(TARGETS millrace EXPORT MillraceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/millrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(EXPORT MillraceTargets NAMESPACE Millrace:: DESTINATION ${millrace_package_folder})
configure_package_config_file(cmake/MillraceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/MillraceConfig.cmake INSTALL_DESTINATION ${millrace_package_folder})
# 0.x promises nothing between minor versions.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/MillraceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/MillraceConfig.cmake
  ${PROJECT_BINARY_DIR}/MillraceConfigVersion.cmake DESTINATION ${millrace_package_folder})
