// The file `program.octavo` of a compiled folder: the program's names, its requirements on the
// machine, and its steps (Program/Steps/File/ProgramFile.h).
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

/// The file of a compiled folder that names the other files, whose names contain their digests. It
/// is renamed into place after the others, so that a reader always sees one whole program.
inline constexpr std::string_view kProgramFile = "program.octavo";

/// The error for a file whose digest differs.
inline constexpr std::string_view kDamaged =
    "it is damaged: its bytes are not those that were written; compile the program again";

/// FNV-1a: detects damaged files, not forged ones.
std::uint64_t digest(std::span<const std::byte> bytes);

/// Another file of the folder.
struct FolderPart {
  std::uint64_t digest = 0; ///< XXH64 (FileDigest.h); for weights, without kWeightsEndBytes
  std::uint64_t size = 0;   ///< of the file; 0: no such file
};

/// The contents of program.octavo.
struct FolderFile {
  std::string function;
  std::vector<std::string> arguments, results; ///< names; arguments that are bound are left out
  std::vector<Donation> donations;             ///< indices refer to these arguments
  /// The instruction set for which scaled weights are packed; empty without such weights.
  std::string products;
  std::vector<std::string> features;  ///< processor features that the kernels use
  std::vector<std::string> functions; ///< library functions that the kernels call
  FolderPart kernels, weights;
  std::vector<std::byte> program;

  /// Identifies the program, its names and the functions that its kernels call. The kernels' file
  /// contains it too.
  std::uint64_t id() const;
  /// Names of the files; they contain the digest. The dynamic loader knows a library by its path,
  /// and would take a new library at an old path for the one that is loaded.
  std::string kernelsFile() const;
  std::string weightsFile() const;
};

/// Whether `name` is a name for kernels or weights, of any program.
bool isPartName(std::string_view name);

/// The bytes of program.octavo.
std::vector<std::byte> bytesOf(const FolderFile& file);
/// Whether the bytes begin like program.octavo of any version.
bool isProgramFile(std::span<const std::byte> beginning);
/// Reads what bytesOf wrote. Fails on a wrong version, on damaged bytes, and on bytes of other
/// origin.
tl::expected<FolderFile, std::string> readFolderFile(std::span<const std::byte> bytes);

/// The last bytes of the weights' file. They identify weights of another program without reading
/// all bytes.
std::vector<std::byte> weightsEnd(const FolderPart& weights);
inline constexpr std::size_t kWeightsEndBytes = 3 * sizeof(std::uint64_t);
/// Fails if a weights file does not end with weightsEnd(weights) or has another size.
tl::expected<void, std::string> checkWeightsEnd(std::span<const std::byte> file,
                                                const FolderPart& weights);
/// Whether the bytes are the end of weights of any version.
bool isWeightsEnd(std::span<const std::byte> end);

/// The instruction set of products on this machine (OCTAVO_ISA may choose it) and whatever else
/// decides how weights are packed.
std::string productsOfMachine();

} // namespace octavo::program
