// What an executable consists of, for whoever wants to know what was compiled and what was not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::program {

/// What the multiplications of a product are of, whatever its operands are.
enum class Multiplied : std::uint8_t { F32, Bf16, Int8 };

struct Explanation {
  /// Why the interpreter evaluates the program as a whole; empty where it is compiled. Nothing else
  /// is known then.
  std::string interpretedWhole = {};

  std::int64_t operations = 0; ///< of the program after the passes, those of regions too
  struct Kernels {
    std::int64_t operations = 0; ///< that they compute
    std::int64_t steps = 0;      ///< places that run one
    std::int64_t distinct = 0;   ///< pieces of code
  } kernels = {};
  /// Views, constants and what else is written where it is used.
  std::int64_t inlined = 0;
  /// Steps that are no kernel, product or interpreter: loops, branches, updates, copies, packing.
  struct Counted {
    std::string what;
    std::int64_t count = 0;
  };
  std::vector<Counted> products = {}; ///< by what is multiplied
  std::vector<Counted> others = {};   ///< by the kind of the step
  struct Interpreted {
    std::string operation, location, reason;
  };
  std::vector<Interpreted> interpreted = {}; ///< in the order of the program
  struct Step {
    const void* id; ///< what Profile calls it
    std::string kind;
    std::string detail;    ///< operations of a kernel, formats of a product, why it is interpreted
    std::string operation; ///< the last that it computes
    std::string source;    ///< what the program's source calls that
    std::string location;
    int depth;           ///< loops and branches around it
    std::int64_t kernel; ///< number of its code, -1 for none
    double bytes;        ///< of a run: read and written, each once
    double arithmetic;   ///< of a run: multiplications and additions of products
    Multiplied multiplied = Multiplied::F32; ///< there
  };
  std::vector<Step> steps = {}; ///< in the order in which they stand

  std::int64_t arenaBytes = 0;
  std::int64_t constantBytes = 0;
  std::int64_t packedWeights = 0; ///< by products, in the first run with the weight
  std::int64_t packedBytes = 0;   ///< at least: without what the forms are filled up with
};

} // namespace octavo::program
