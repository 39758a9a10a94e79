// Machine code for kernels: LLVM's passes on their text, and the code in memory. The code generator
// is a library of its own that is loaded when the first program is compiled: its tables would cost
// every other command 5 ms at its start.
#pragma once

#include "octavo/Program/Steps/KernelFunction.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace octavo::compiler {

/// The code of some kernels, for as long as it lives.
class MachineCode {
public:
  virtual ~MachineCode() = default;
  virtual std::span<const program::KernelFunction> functions() const = 0;
};

/// What LLVM makes of a kernel before it becomes machine code, and the assembly: to look at.
struct Listing {
  std::string optimized, assembly;
};

/// What CodeGenerator::link writes.
inline constexpr const char* kLinkedFile = "kernels.so";

/// What a shared object of kernels needs of the machine that loads it.
struct LinkedKernels {
  std::vector<std::string> features; ///< of the processor, as LLVM calls them
  /// The functions of program::libraryFunctions whose addresses the object's `octavo_functions` is
  /// to be given.
  std::vector<std::string> functions;
};

class CodeGenerator {
public:
  virtual ~CodeGenerator() = default;
  /// Compiles kernels for this machine, in the order of their texts.
  virtual tl::expected<std::unique_ptr<MachineCode>, std::string>
  compile(std::span<const std::string> kernels) const = 0;
  /// Links kernels to the shared object `kLinkedFile` of a folder, in which the linker's input
  /// lies, too. In it `octavo_kernels` is the table of their addresses in the order of their texts,
  /// and `octavo_facts` has the number of kernels, that of functions, and `id`, a word each. Runs a
  /// linker, ld.lld or ld, which the error says if there is none.
  virtual tl::expected<LinkedKernels, std::string>
  link(std::span<const std::string> kernels, std::uint64_t id, const std::string& folder) const = 0;
  virtual tl::expected<Listing, std::string> list(const std::string& kernel) const = 0;
};

/// The one of the library beside this program; the error says where it was looked for.
tl::expected<const CodeGenerator*, std::string> codeGenerator();

/// Its code and tables, of which compiling reads 35 MB, are nobody's memory until they are used
/// again: the system reads them from the library's file then.
void letGoOfGenerator();

} // namespace octavo::compiler
