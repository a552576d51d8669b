# Test programs built from many sources: main (of a fuzz target: LLVMFuzzerTestOneInput) is given a unique name in each
# source, and a generated table maps the program's first argument to that function. Linking one program takes a second;
# under sanitizers, linking one for each source takes minutes.

# qn_test_program(PROGRAM SOURCES...): a program of unit tests. `PROGRAM NAME` runs the test tests/unit/NAME.c. A test
# that overrides a function of a library or needs an option of the linker must be a separate program.
function(qn_test_program program)
  set(declarations "")
  set(rows "")
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS main=main_of_${name})
    string(APPEND declarations "int main_of_${name}(void);\n")
    string(APPEND rows "    {\"${name}\", main_of_${name}},\n")
    add_test(NAME ${name} COMMAND ${program} ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${program}.c CONTENT "#include <stdio.h>
#include <string.h>

@declarations@
static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
@rows@};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof tests / sizeof *tests; i++)
        if (!strcmp(argv[1], tests[i].name))
            return tests[i].run();
    fprintf(stderr, \"usage: %s TEST, one of\\n\", argv[0]);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        fprintf(stderr, \"%s\\n\", tests[i].name);
    return 2;
}
" @ONLY)
  add_executable(${program} ${ARGN} ${CMAKE_BINARY_DIR}/generated/${program}.c)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()

# qn_replay_program(SOURCES...): the program `replay`, with the fuzz targets fuzz/fuzz_NAME.c. See fuzz/replay.h.
function(qn_replay_program)
  set(declarations "")
  set(rows "")
  foreach(source ${ARGN})
    get_filename_component(target ${source} NAME_WE)
    string(REPLACE fuzz_ "" name ${target})
    file(STRINGS ${source} initialize REGEX "^int LLVMFuzzerInitialize.*;")
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
      LLVMFuzzerTestOneInput=input_of_${name} LLVMFuzzerInitialize=initialize_${name})
    string(APPEND declarations "int input_of_${name}(const uint8_t *data, size_t n);\n")
    if(initialize)
      string(APPEND declarations "int initialize_${name}(int *argc, char ***argv);\n")
      string(APPEND rows "    {\"${name}\", input_of_${name}, initialize_${name}},\n")
    else()
      string(APPEND rows "    {\"${name}\", input_of_${name}, NULL},\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/replay_targets.c CONTENT "#include \"fuzz/replay.h\"

@declarations@
const struct replay_target replay_targets[] = {
@rows@    {NULL, NULL, NULL}};
" @ONLY)
  add_executable(replay fuzz/replay.c ${ARGN} ${CMAKE_BINARY_DIR}/generated/replay_targets.c)
  target_include_directories(replay PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()
