# Writes OUTPUT, a header that defines OCTAVO_COMMIT: the commit of SOURCE and whether tracked files
# differ from it. Empty if SOURCE is not the top of a git checkout (an unpacked archive).
# Runs with each build: cmake -DSOURCE=... -DOUTPUT=... -P WriteCommit.cmake

set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" rev-parse --show-cdup --short=12 HEAD WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
  # Two lines: the path up to the top, which is empty at the top itself, and the commit.
  if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n$")
    set(commit ", commit ${CMAKE_MATCH_1}")
    execute_process(COMMAND "${GIT}" status --porcelain --untracked-files=no WORKING_DIRECTORY "${SOURCE}"
      OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET)
    if(failed OR NOT changes STREQUAL "")
      string(APPEND commit ", modified")
    endif()
  endif()
endif()

set(text "#define OCTAVO_COMMIT \"${commit}\"\n")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text) # otherwise each build would recompile its includers
  file(WRITE "${OUTPUT}" "${text}")
endif()
