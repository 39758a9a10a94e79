// The file `program.octavo` of a compiled folder: what the program is called by, what it needs of
// the machine, and its steps (Steps/ProgramFile.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::standalone {

/// Files of a compiled folder. The last two may be of another folder by mistake: each has the
/// program's id.
inline constexpr std::string_view kProgramFile = "program.octavo";
inline constexpr std::string_view kWeightsFile = "weights.bin";
inline constexpr std::string_view kKernelsFile = "kernels.so"; ///< not there without kernels

struct FolderFile {
  std::string function;
  std::vector<std::string> arguments, results; ///< names; of the arguments, of those not bound
  /// Instruction set of the products that scaled weights are packed for; empty without any.
  std::string products;
  std::vector<std::string> features;  ///< of the processor, that the kernels use
  std::vector<std::string> functions; ///< that the kernels call
  std::vector<std::byte> program;

  /// Stands for the program.
  std::uint64_t id() const;
};

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
