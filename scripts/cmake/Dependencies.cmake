# Everything borrowed, from Debian packages. scripts/setup installs the same list.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json container)
find_package(OpenSSL 3 REQUIRED)
find_package(CURL REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_package(pugixml REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
find_library(CCTZ_LIBRARY cctz REQUIRED)
find_library(PROFILER_LIBRARY profiler REQUIRED)
find_library(MIMALLOC_LIBRARY mimalloc REQUIRED)

# A plan allocates much, and on one thread: with mimalloc, one of 50 pods takes a quarter less
# time than with glibc's malloc. Programs link it first. Sanitizers bring their own.
add_library(millwright_allocator INTERFACE)
if(NOT MILLWRIGHT_SANITIZE)
  target_link_libraries(millwright_allocator INTERFACE
    -Wl,--push-state,--no-as-needed ${MIMALLOC_LIBRARY} -Wl,--pop-state)
endif()

# Asio and Beast are compiled once, in src/net; every user must see the same definitions.
add_library(millwright_boost INTERFACE)
target_link_libraries(millwright_boost INTERFACE Boost::json Boost::container Boost::headers Threads::Threads)
target_compile_definitions(millwright_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)

# Tests and benchmarks are built when what they need is installed: the program alone needs none of
# it (scripts/setup build).
if(MILLWRIGHT_TESTS)
  find_package(GTest QUIET)
  find_library(RAPIDCHECK_LIBRARY rapidcheck)
  find_library(GLPK_LIBRARY glpk)
  find_package(benchmark QUIET)
  if(NOT GTest_FOUND OR NOT RAPIDCHECK_LIBRARY OR NOT GLPK_LIBRARY)
    message(STATUS "Tests are left out: scripts/setup tests installs what they need")
    set(MILLWRIGHT_TESTS OFF)
  else()
    add_library(millwright_rapidcheck INTERFACE)
    target_link_libraries(millwright_rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
    if(NOT benchmark_FOUND)
      message(STATUS "Benchmarks are left out: scripts/setup bench installs what they need")
    endif()
  endif()
endif()
