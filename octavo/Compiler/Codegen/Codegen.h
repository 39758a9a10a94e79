// The code generator: runs LLVM's passes on the text of kernels and makes machine code. It is a
// library that is loaded when the first program is compiled, because its tables would add 5 ms to
// the start of every other command.
#pragma once

#include "octavo/Program/Steps/KernelFunction.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace octavo::compiler {

/// Machine code in memory. The functions are valid during the object's lifetime.
class MachineCode {
public:
  virtual ~MachineCode() = default;
  /// One function for each kernel, in the order of their texts.
  virtual std::span<const program::KernelFunction> functions() const = 0;
};

/// The optimized LLVM IR and the assembly of a kernel, for `--dump`.
struct Listing {
  std::string optimized, assembly;
};

/// The file that CodeGenerator::link writes.
inline constexpr const char* kLinkedFile = "kernels.so";

/// What a shared object of kernels requires from the machine that loads it.
struct LinkedKernels {
  std::vector<std::string> features; ///< processor features, in LLVM's names
  /// The functions of program::libraryFunctions whose addresses the loader writes to the object's
  /// `octavo_functions`, in this order.
  std::vector<std::string> functions;
};

/// Errors are texts for the user.
class CodeGenerator {
public:
  virtual ~CodeGenerator() = default;
  /// Compiles kernels for this machine. The functions are in the order of their texts.
  virtual tl::expected<std::unique_ptr<MachineCode>, std::string>
  compile(std::span<const std::string> kernels) const = 0;
  /// Links kernels to the shared object `kLinkedFile` in `folder`, where the linker's input is
  /// written, too. The object has these symbols:
  /// - `octavo_kernels`: the addresses of the kernels, in the order of their texts
  /// - `octavo_functions`: a table for the addresses of library functions
  /// - `octavo_facts`: three words, the number of kernels, the number of functions, `id`
  ///
  /// Fails if there is no linker: ld.lld-22, ld.lld or ld.
  virtual tl::expected<LinkedKernels, std::string>
  link(std::span<const std::string> kernels, std::uint64_t id, const std::string& folder) const = 0;
  /// The listing of one kernel.
  virtual tl::expected<Listing, std::string> list(const std::string& kernel) const = 0;
};

/// The generator in the library octavo-codegen.so beside this program. The error says where it was
/// looked for.
tl::expected<const CodeGenerator*, std::string> codeGenerator();

/// Returns the memory of the generator's code and tables to the system: compiling reads 35 MB of
/// them. If they are used again, the system reads them from the library's file.
void letGoOfGenerator();

} // namespace octavo::compiler
