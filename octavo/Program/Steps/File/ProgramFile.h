// A compiled program as bytes: steps and memory in one piece, constants and packed weights as
// sections of another, which is mapped where the program runs.
#pragma once

#include "octavo/Program/Steps/Program.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace octavo::program {

/// Sections begin at multiples of this, and as many bytes follow the last one.
inline constexpr std::size_t kSectionAlignment = 64;

/// Takes the bytes of the sections in their order, each a multiple of kSectionAlignment.
using SectionSink =
    std::function<tl::expected<void, std::string>(std::span<const std::byte> bytes)>;

/// The bytes of a program whose arguments are tensors, scaled ones too, and results tensors.
/// Weights that products alone read are written as these read them. The error names what has no
/// form in a file, or is the sink's.
tl::expected<std::vector<std::byte>, std::string> writeProgram(Program& program,
                                                               const SectionSink& sink);

/// The program of bytes that writeProgram made, which are not trusted. Its constants lie in
/// `sections`, which are there as long as `lender` is; its kernels are not there yet.
tl::expected<Program, std::string> readProgram(std::span<const std::byte> bytes,
                                               std::span<const std::byte> sections,
                                               const std::shared_ptr<const void>& lender);

} // namespace octavo::program
