// A compiled program as bytes: one piece with steps and memory layout; sections with constants and
// packed weights, which are mapped where the program runs.
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

/// Alignment of sections in bytes. At least as many zero bytes follow the last section.
inline constexpr std::size_t kSectionAlignment = 64;

/// Takes the sections' bytes in order. Each call's size is a multiple of kSectionAlignment.
using SectionSink =
    std::function<tl::expected<void, std::string>(std::span<const std::byte> bytes)>;

/// Serializes a program whose arguments are tensors or scaled tensors and whose results are
/// tensors. Weights that only products read are written packed. Fails, naming the operation or
/// value, if something has no form in a file; sink errors are passed on.
tl::expected<std::vector<std::byte>, std::string> writeProgram(Program& program,
                                                               const SectionSink& sink);

/// Reads what writeProgram made; the bytes are not trusted. Constants refer to `sections`, which
/// `lender` keeps alive. The kernels' addresses are not set yet.
tl::expected<Program, std::string> readProgram(std::span<const std::byte> bytes,
                                               std::span<const std::byte> sections,
                                               const std::shared_ptr<const void>& lender);

} // namespace octavo::program
