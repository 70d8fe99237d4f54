# Compiler cache, linker, warnings and sanitizers, the same for every target.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # base_dir lets two checkouts of one revision share cache entries.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
      CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)  # a cross compiler looks for another name
  add_link_options(-fuse-ld=mold)
endif()

# No fused multiply-add: a plan is the same, byte for byte, on every processor.
add_compile_options(-ffp-contract=off)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
# -Og compiles about as fast as -O0 under sanitizers, and what it makes is smaller and runs faster.
set(CMAKE_CXX_FLAGS_SANITIZED "-Og -g1 -fno-omit-frame-pointer")
# -O1 keeps coroutine frames small enough that symmetric transfer does not grow the stack.
set(CMAKE_CXX_FLAGS_FUZZ "-O1 -g1 -fno-omit-frame-pointer")

add_library(millwright_warnings INTERFACE)
target_compile_options(millwright_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wconversion
  # g++ 12 does not know designated initialisers with defaulted members and warns on each.
  -Wno-missing-field-initializers)
if(MILLWRIGHT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # To g++ a source in a unit is a header, whose types should not hold what is of one source alone.
  target_compile_options(millwright_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(MILLWRIGHT_WERROR)
  target_compile_options(millwright_warnings INTERFACE -Werror)
endif()

if(MILLWRIGHT_MUTANTS)
  add_compile_definitions(MILLWRIGHT_MUTANTS)
endif()

if(MILLWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${MILLWRIGHT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MILLWRIGHT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Where code is instrumented, g++ takes its checks for uses of what is not set yet, in the
    # standard library too. The release build has this warning.
    target_compile_options(millwright_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(MILLWRIGHT_SANITIZE MATCHES thread)
    # g++ warns that atomic_thread_fence is not instrumented; Asio uses it.
    add_compile_options(-Wno-tsan)
  endif()
endif()
