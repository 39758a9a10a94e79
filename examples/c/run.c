/* Runs a folder that `octavo compile` wrote, on files of raw elements:
 *
 *   cc examples/c/run.c -I build/release/include -L build/release/bin -loctavo-program -o run
 *   LD_LIBRARY_PATH=build/release/bin ./run FOLDER ARGUMENT.bin... -o RESULT.bin...
 *
 * Prints what the program takes and gives. Where the size of a batch is open, the files say it. */
#include "octavo_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* what, const char* why) {
  fprintf(stderr, "run: %s: %s\n", what, why);
  exit(1);
}

static void* allocated(size_t bytes) {
  void* memory = malloc(bytes != 0 ? bytes : 1);
  if (memory == NULL)
    fail("memory", "there is not enough");
  return memory;
}

static void print(const char* what, octavo_tensor tensor, int64_t items) {
  printf("%s %s: %s[", what, tensor.name, tensor.type);
  for (size_t i = 0; i < tensor.rank; ++i)
    printf(i == 0 ? "%lld" : ", %lld",
           (long long)(tensor.shape[i] +
                       ((int)i == tensor.items_axis ? (items - 1) * tensor.item_extent : 0)));
  printf("]\n");
}

static FILE* opened(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0)
    fail(path, "cannot be read");
  *bytes = (size_t)ftell(file);
  rewind(file);
  return file;
}

static size_t bytes_of(octavo_tensor tensor, int64_t items) {
  return tensor.bytes + (size_t)(items - 1) * tensor.item_bytes;
}

int main(int argc, char** argv) {
  if (argc < 2)
    fail("usage", "run FOLDER ARGUMENT.bin... -o RESULT.bin...");
  octavo_program* program = octavo_program_load(argv[1]);
  if (program == NULL)
    fail(argv[1], octavo_last_error());
  const size_t taken = octavo_program_argument_count(program);
  const size_t given = octavo_program_result_count(program);
  if ((size_t)argc != 3 + taken + given || strcmp(argv[2 + taken], "-o") != 0)
    fail("usage", "one file is needed for each argument, then -o, then one for each result");

  int64_t items = -1;
  const void** arguments = allocated(taken * sizeof *arguments);
  for (size_t i = 0; i < taken; ++i) {
    const octavo_tensor tensor = octavo_program_argument(program, i);
    size_t bytes;
    FILE* file = opened(argv[2 + i], &bytes);
    if (items < 0 && tensor.item_bytes != 0)
      items = 1 + ((int64_t)bytes - (int64_t)tensor.bytes) / (int64_t)tensor.item_bytes;
    print("takes", tensor, items);
    void* memory = allocated(bytes);
    if (bytes != bytes_of(tensor, items) || fread(memory, 1, bytes, file) != bytes)
      fail(argv[2 + i], "has not the bytes of the argument");
    fclose(file);
    arguments[i] = memory;
  }
  if (items < 0)
    items = 1;
  void** results = allocated(given * sizeof *results);
  for (size_t i = 0; i < given; ++i)
    results[i] = allocated(bytes_of(octavo_program_result(program, i), items));

  if (octavo_program_run_items(program, items, arguments, results, 0) != 0)
    fail(argv[1], octavo_last_error());

  for (size_t i = 0; i < given; ++i) {
    const octavo_tensor tensor = octavo_program_result(program, i);
    print("gives", tensor, items);
    const char* path = argv[3 + taken + i];
    FILE* file = fopen(path, "wb");
    if (file == NULL ||
        fwrite(results[i], 1, bytes_of(tensor, items), file) != bytes_of(tensor, items) ||
        fclose(file) != 0)
      fail(path, "cannot be written");
    free(results[i]);
  }
  for (size_t i = 0; i < taken; ++i)
    free((void*)arguments[i]);
  free(arguments);
  free(results);
  octavo_program_free(program);
  return 0;
}
