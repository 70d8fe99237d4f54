# millwright_embed(<target> <namespace> <file> <constant>...)
# Files that become a part of the program: each a std::string_view named <constant>, declared in a
# header of the target's own. Run as a script (-DOUTPUT=... -DNAMESPACE=... -DPAIRS=...) it writes
# the source; a changed file is read again by the next build.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Written by scripts/cmake/Embed.cmake.\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
  string(REPLACE "|" ";" pairs "${PAIRS}")
  while(pairs)
    list(POP_FRONT pairs file constant)
    file(READ "${file}" content HEX)
    string(LENGTH "${content}" digits)
    math(EXPR bytes "${digits} / 2")
    string(REGEX REPLACE "(..)" "\\\\x\\1" content "${content}")
    # Compilers read very long lines slowly.
    string(REPEAT "....|" 16 line)
    string(REPLACE "|" "" line "${line}")
    string(REGEX REPLACE "(${line})" "\\1\"\n\"" content "${content}")
    string(APPEND text "extern const std::string_view ${constant};\n"
      "const std::string_view ${constant}(\n\"${content}\",\n${bytes});\n")
  endwhile()
  file(WRITE "${OUTPUT}" "${text}}\n")
  return()
endif()

set(MILLWRIGHT_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(millwright_embed target namespace)
  set(files "")
  set(pairs "")
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments file constant)
    list(APPEND files "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    list(APPEND pairs "${CMAKE_CURRENT_SOURCE_DIR}/${file}" ${constant})
  endwhile()
  list(JOIN pairs "|" pairs)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DNAMESPACE=${namespace}" "-DPAIRS=${pairs}"
            -P "${MILLWRIGHT_EMBED_SCRIPT}"
    DEPENDS ${files} "${MILLWRIGHT_EMBED_SCRIPT}"
    COMMENT "Embedding files into ${target}" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
