// The file `program.octavo` of a compiled folder: what the program is called by, what it needs of
// the machine, and its steps (Program/Steps/File/ProgramFile.h).
#pragma once

#include "octavo/Program/Values/Donation.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::program {

/// The file of a compiled folder that names the others, each by what is in it. It is put in its
/// place after them, so that a folder is of one program whenever it is read.
inline constexpr std::string_view kProgramFile = "program.octavo";

/// What is said of a file whose digest differs.
inline constexpr std::string_view kDamaged =
    "it is damaged: its bytes are not those that were written; compile the program again";

/// FNV-1a: tells a file that was damaged, not one that was forged.
std::uint64_t digest(std::span<const std::byte> bytes);

/// A file beside program.octavo.
struct FolderPart {
  std::uint64_t digest = 0; ///< XXH64 (FileDigest.h); of weights without their last bytes
  std::uint64_t size = 0;   ///< of the file; 0: there is none
};

struct FolderFile {
  std::string function;
  std::vector<std::string> arguments, results; ///< names; of the arguments, of those not bound
  std::vector<Donation> donations;             ///< of these arguments
  /// Instruction set of the products that scaled weights are packed for; empty without any.
  std::string products;
  std::vector<std::string> features;  ///< of the processor, that the kernels use
  std::vector<std::string> functions; ///< that the kernels call
  FolderPart kernels, weights;
  std::vector<std::byte> program;

  /// Stands for the program, its names and what its kernels call: the kernels have it, too.
  std::uint64_t id() const;
  /// Named by what is in it: the dynamic loader knows a library by its path, and would take one
  /// that is loaded for another that has its place in the folder now.
  std::string kernelsFile() const;
  std::string weightsFile() const;
};

/// Whether the name is that of kernels or weights of some program.
bool isPartName(std::string_view name);

std::vector<std::byte> bytesOf(const FolderFile& file);
/// Whether a file begins as some version's program.octavo does.
bool isProgramFile(std::span<const std::byte> beginning);
/// The error says what is wrong with bytes that no other function than bytesOf is trusted for.
tl::expected<FolderFile, std::string> readFolderFile(std::span<const std::byte> bytes);

/// The last bytes of the file of weights: weights of another program in its place are told without
/// a look at all of them.
std::vector<std::byte> weightsEnd(const FolderPart& weights);
inline constexpr std::size_t kWeightsEndBytes = 3 * sizeof(std::uint64_t);
tl::expected<void, std::string> checkWeightsEnd(std::span<const std::byte> file,
                                                const FolderPart& weights);
/// Whether a file ends as weights of some version do.
bool isWeightsEnd(std::span<const std::byte> end);

/// The instruction set of products on this machine, as OCTAVO_ISA may say, and what else decides
/// how they pack.
std::string productsOfMachine();

} // namespace octavo::program
