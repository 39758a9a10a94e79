// The file `program.octavo` of a compiled folder: what the program is called by, what it needs of
// the machine, and its steps (Steps/ProgramFile.h).
#pragma once

#include "octavo/Execution/Donation.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::standalone {

/// Files of a compiled folder, besides its kernels (FolderFile::kernelsFile). The weights may be of
/// another folder by mistake: they have the program's id.
inline constexpr std::string_view kProgramFile = "program.octavo";
inline constexpr std::string_view kWeightsFile = "weights.bin";

/// What is said of a file whose digest differs.
inline constexpr std::string_view kDamaged =
    "it is damaged: its bytes are not those that were written; compile the program again";

/// FNV-1a: tells a file that was damaged, not one that was forged.
std::uint64_t digest(std::span<const std::byte> bytes);

struct FolderFile {
  std::string function;
  std::vector<std::string> arguments, results; ///< names; of the arguments, of those not bound
  std::vector<execution::Donation> donations;  ///< of these arguments
  /// Instruction set of the products that scaled weights are packed for; empty without any.
  std::string products;
  std::vector<std::string> features;  ///< of the processor, that the kernels use
  std::vector<std::string> functions; ///< that the kernels call
  std::uint64_t kernels = 0;          ///< digest of their file; 0 without any
  std::vector<std::byte> program;

  /// Stands for the program.
  std::uint64_t id() const;
  /// Named by what is in it: the dynamic loader knows a library by its path, and would take one
  /// that is loaded for another that has its place in the folder now.
  std::string kernelsFile() const;
};

/// Whether a file of a folder is some program's kernels.
bool isKernelsFile(std::string_view name);

std::vector<std::byte> bytesOf(const FolderFile& file);
/// The error says what is wrong with bytes that no other function than bytesOf is trusted for.
tl::expected<FolderFile, std::string> readFolderFile(std::span<const std::byte> bytes);

/// The last bytes of the file of weights, all of whose bytes are `size`.
std::vector<std::byte> weightsEnd(std::uint64_t id, std::uint64_t size);
tl::expected<void, std::string> checkWeightsEnd(std::span<const std::byte> file, std::uint64_t id);

/// The instruction set of products on this machine, as OCTAVO_ISA may say, and what else decides
/// how they pack.
std::string productsOfMachine();

} // namespace octavo::standalone
