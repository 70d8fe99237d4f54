# A room is one static library: its public headers under include/millwright/<room> (or its own
# include folder for the two top-level rooms) and every .cpp of its folder, sub-folders included.

# millwright_library(<room> DEPENDS <targets...> PRIVATE <targets...>)
# Call it from the room's own CMakeLists.txt. DEPENDS are rooms or libraries that the room's
# public headers show; PRIVATE are those only its sources use.
function(millwright_library room)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(target millwright_${room})
  if(NOT sources)
    add_library(${target} INTERFACE)
    add_library(millwright::${room} ALIAS ${target})
    return()
  endif()
  add_library(${target} STATIC ${sources})
  add_library(millwright::${room} ALIAS ${target})
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/src")
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/include")
    target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include")
  else()
    target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/include")
  endif()
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE} millwright_warnings)
endfunction()

# millwright_test(<room> DEPENDS <targets...> [LABELS <labels...>])
# One GoogleTest binary per room from every .cpp of the calling folder. TEST_DATA_DIR is test/data.
function(millwright_test room)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(target ${room}_test)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/test")
  target_compile_definitions(${target} PRIVATE
    TEST_DATA_DIR="${CMAKE_SOURCE_DIR}/test/data" SOURCE_ROOT="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE
    ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main millwright_rapidcheck millwright_warnings)
  # Registered as one ctest case per binary: the binary's own summary names the failing test.
  add_test(NAME ${target} COMMAND ${target} --gtest_brief=1)
  set_tests_properties(${target} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 1200)
endfunction()
