// A description of an executable: what was compiled and what was not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::program {

/// The type in which a product multiplies, whatever its operands are.
enum class Multiplied : std::uint8_t { F32, Bf16, Int8 };

/// Counts and steps of one executable. Sizes are those at batch size 1.
struct Explanation {
  /// Why the interpreter runs the whole program; empty if it is compiled. If set, all else is
  /// unknown.
  std::string interpretedWhole = {};

  std::int64_t operations = 0; ///< operations after the passes, including those in regions
  struct Kernels {
    std::int64_t operations = 0; ///< operations that kernels compute
    std::int64_t steps = 0;      ///< steps that run a kernel
    std::int64_t distinct = 0;   ///< distinct pieces of code
  } kernels = {};
  /// Operations without a step, such as views and constants, which are inlined where they are used.
  std::int64_t inlined = 0;
  /// A kind of step, and how many there are of it.
  struct Counted {
    std::string what;
    std::int64_t count = 0;
  };
  std::vector<Counted> products = {}; ///< by operand formats
  std::vector<Counted> others = {};   ///< other steps, by kind; kernels are counted above
  struct Interpreted {
    std::string operation, location, reason;
  };
  std::vector<Interpreted> interpreted = {}; ///< in program order
  struct Step {
    const void* id; ///< the step's id in Profile
    std::string kind;
    std::string detail; ///< operations of a kernel, formats of a product, reason for interpretation
    std::string operation; ///< the last operation that it computes
    std::string source;    ///< the operation's name in the program's source
    std::string location;
    int depth;                               ///< nesting depth in loops and branches
    std::int64_t kernel;                     ///< index of its code; -1: none
    double bytes;                            ///< read and written in a run, each byte once
    double arithmetic;                       ///< multiplications and additions of products in a run
    Multiplied multiplied = Multiplied::F32; ///< the type of these multiplications
  };
  std::vector<Step> steps = {}; ///< in program order

  std::int64_t arenaBytes = 0;
  std::int64_t constantBytes = 0;
  std::int64_t packedWeights = 0; ///< weights that products pack in the first run
  std::int64_t packedBytes = 0;   ///< a lower bound: without padding of packed forms
};

} // namespace octavo::program
