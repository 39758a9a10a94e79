/* The C interface for programs that `octavo compile` wrote to folders. Link with
 * liboctavo-program.so. No compiler is needed to build or run the caller. docs/commands/compile.md
 * has an example. */
#ifndef OCTAVO_PROGRAM_H
#define OCTAVO_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define OCTAVO_API __attribute__((visibility("default")))
#else
#define OCTAVO_API
#endif

/* A loaded program. */
typedef struct octavo_program octavo_program;

/* An argument or a result: a dense row-major tensor. The program owns the texts and the shape.
 *
 * If the batch is open, the program runs on any number of items (the batch size): shape and bytes
 * are those of one item. Each further item adds item_extent along items_axis, and item_bytes. */
typedef struct octavo_tensor {
  const char* name;
  /* The element type as MLIR spells it: f32, bf16, i32, ui8, i1, f8E4M3FN, complex<f32>, ... An
   * element takes 1, 2, 4, 8 or 16 bytes. A narrower element is the low bits of a byte, whose other
   * bits are 0; in arguments of signed integers they may also repeat the sign. An i1 is 0 or 1. */
  const char* type;
  size_t element_bytes;
  size_t rank;
  const int64_t* shape; /* rank extents */
  size_t bytes;         /* of all elements */
  int items_axis; /* axis along which items follow one another; -1: the tensor does not depend on
                   * the number of items, and the fields below are 0 */
  int64_t item_extent;
  size_t item_bytes;
} octavo_tensor;

/* Loads the program of a folder. Null if it cannot be loaded; octavo_last_error says why. The
 * folder's code runs in this process: load only folders that you trust. Weights are mapped, so
 * processes share them in memory. Loading checks every byte of the program and of its code, but
 * only the size and the end of the weights; `octavo verify` also checks the bytes between. Do not
 * change files of the folder in place while a program is loaded. `octavo compile` may write the
 * folder again at any time, since it makes new files. */
OCTAVO_API octavo_program* octavo_program_load(const char* folder);

/* Frees a program. No run may be in progress. Does nothing for null. */
OCTAVO_API void octavo_program_free(octavo_program* program);

/* Counts of the arguments that are not bound, and of the results. 0 for null. */
OCTAVO_API size_t octavo_program_argument_count(const octavo_program* program);
OCTAVO_API size_t octavo_program_result_count(const octavo_program* program);

/* Argument or result `index`, in the program's order. All fields are 0 if there is none. */
OCTAVO_API octavo_tensor octavo_program_argument(const octavo_program* program, size_t index);
OCTAVO_API octavo_tensor octavo_program_result(const octavo_program* program, size_t index);

/* The smallest and the largest number of items of a run; both are 1 if no batch is open. */
OCTAVO_API int64_t octavo_program_least_items(const octavo_program* program);
OCTAVO_API int64_t octavo_program_most_items(const octavo_program* program);

/* Runs the program. `arguments` and `results` have one pointer each, to as many bytes as
 * octavo_tensor says, aligned to an element. A result may lie in the memory of an argument, from
 * the first byte to the last, and must not overlap one otherwise. Arguments are written to only in
 * that case. Any number of threads may run a program at once, each with its own results.
 *
 * Returns 0, or -1 with the reason in octavo_last_error: a null or misaligned pointer, an element
 * that is not a code of its type, overlapping results, or an error of the run. After an error of
 * the run, results may be partly written. */
OCTAVO_API int octavo_program_run(octavo_program* program, const void* const* arguments,
                                  void* const* results);

/* The same on at most `threads` threads, including the calling one; 0: as many as the machine has.
 */
OCTAVO_API int octavo_program_run_on(octavo_program* program, const void* const* arguments,
                                     void* const* results, int threads);

/* The same on `items` items. */
OCTAVO_API int octavo_program_run_items(octavo_program* program, int64_t items,
                                        const void* const* arguments, void* const* results,
                                        int threads);

/* The error of this thread's last failed call; empty before the first one. The text is valid until
 * the thread's next failed call. */
OCTAVO_API const char* octavo_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
