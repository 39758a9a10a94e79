/* Programs that `octavo compile` wrote to folders, called from C and C++. Link with
 * liboctavo-program.so; nothing of a compiler is needed, neither when the program is built nor when
 * it runs. docs/commands/compile.md has an example. */
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

typedef struct octavo_program octavo_program;

/* What a program takes or gives: a tensor, row-major, without gaps. The texts and the shape are the
 * program's, and are there as long as it is. A program that leaves the size of a batch open runs on
 * any number of items: shape and bytes are then those of one, and each further item is item_extent
 * more along items_axis, and item_bytes more. */
typedef struct octavo_tensor {
  const char* name;
  /* The elements, as MLIR spells them: f32, bf16, i32, ui8, i1, f8E4M3FN, complex<f32>, ... An
   * element takes 1, 2, 4, 8 or 16 bytes; narrower ones lie one in a byte, in its lowest bits: the
   * others are 0, or of a signed integer of an argument its sign. An i1 is 0 or 1. */
  const char* type;
  size_t element_bytes;
  size_t rank;
  const int64_t* shape; /* rank extents */
  size_t bytes;         /* of all elements */
  int items_axis; /* along which items lie, one behind the other; -1: the tensor is the same for any
                   * number of them, and what follows is 0 */
  int64_t item_extent;
  size_t item_bytes;
} octavo_tensor;

/* The program of a folder; null where it cannot be loaded, and octavo_last_error says why. Its code
 * runs in this process: load no folder that you would not run. Weights are mapped, so that
 * processes have them in memory once. Loading checks every byte of the program and of its code, but
 * only the size and the end of the weights: `octavo verify` also finds altered bytes within them.
 * The folder's files are not to be changed in place while a program is loaded; `octavo compile`
 * may write the folder again, at any time, which has new files then. */
OCTAVO_API octavo_program* octavo_program_load(const char* folder);

/* Frees the program, of which no run is under way. Null is nothing. */
OCTAVO_API void octavo_program_free(octavo_program* program);

/* The arguments that are not bound, and the results, in the program's order. */
OCTAVO_API size_t octavo_program_argument_count(const octavo_program* program);
OCTAVO_API size_t octavo_program_result_count(const octavo_program* program);

/* Argument or result `index`; all fields are 0 where there is none of that number. */
OCTAVO_API octavo_tensor octavo_program_argument(const octavo_program* program, size_t index);
OCTAVO_API octavo_tensor octavo_program_result(const octavo_program* program, size_t index);

/* The fewest and the most items of a run; both are 1 where no batch is open. */
OCTAVO_API int64_t octavo_program_least_items(const octavo_program* program);
OCTAVO_API int64_t octavo_program_most_items(const octavo_program* program);

/* Runs the program on the elements of its arguments, and writes its results: one pointer each, to
 * as many bytes as octavo_tensor says, aligned to an element. 0, or -1 where octavo_last_error says
 * what is wrong: a null pointer, an element that is no code of its type, results that overlap. The
 * results may be written in part where it is an error of the run. Any number of threads may run a
 * program at once, each with results of its own. The memory of a result may be that of an argument,
 * from the first byte to the last, and must not overlap one otherwise; arguments are not written to
 * but so. */
OCTAVO_API int octavo_program_run(octavo_program* program, const void* const* arguments,
                                  void* const* results);

/* The same on at most so many threads, the calling one among them; 0: as many as the machine has.
 */
OCTAVO_API int octavo_program_run_on(octavo_program* program, const void* const* arguments,
                                     void* const* results, int threads);

/* The same on so many items. */
OCTAVO_API int octavo_program_run_items(octavo_program* program, int64_t items,
                                        const void* const* arguments, void* const* results,
                                        int threads);

/* What went wrong last in a call of this thread; empty before anything did. The text is there until
 * the thread's next call that fails. */
OCTAVO_API const char* octavo_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
