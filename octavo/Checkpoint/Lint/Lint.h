// Looks for everything that makes a checkpoint's values wrong, missing or read differently than its
// writer meant. Reads each tensor of a quantized layer once; holds none of them in memory.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Kernels/Execution.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// "vllm", "transformers", "sglang", "trtllm".
std::string_view readerName(Reader reader);
std::optional<Reader> findReader(std::string_view name);
std::span<const Reader> lintReaders();

struct LintOptions {
  std::vector<std::string> only = {};   ///< names of rules; empty: all
  std::vector<std::string> ignore = {}; ///< names of rules
  std::vector<Reader> readers = {};
  const Layout* layout = nullptr; ///< null: what the checkpoint says, or its tensors
  kernels::Execution execution = {};
};

struct LintReport {
  std::string layout; ///< its name
  std::string reason; ///< why that layout
  Findings findings;  ///< errors first, then by rule, file and tensor
  std::uint64_t tensors = 0, layers = 0, bytes = 0;

  std::size_t count(Severity severity) const;
};

/// Error: nothing there that could be opened.
tl::expected<LintReport, Error> lint(const std::filesystem::path& path,
                                     const LintOptions& options = {});

} // namespace octavo::checkpoint
