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

# Asio and Beast are compiled once, in src/net; every user must see the same definitions.
add_library(millwright_boost INTERFACE)
target_link_libraries(millwright_boost INTERFACE Boost::json Boost::container Boost::headers Threads::Threads)
target_compile_definitions(millwright_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)

if(MILLWRIGHT_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
  add_library(millwright_rapidcheck INTERFACE)
  target_link_libraries(millwright_rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
endif()
