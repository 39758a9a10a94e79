// lint: finds what makes a checkpoint's values wrong, missing, or read differently than its writer
// meant. Reads each tensor of a quantized layer once, in pieces.
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

/// The reader's name: "vllm", "transformers", "sglang", "trtllm".
std::string_view readerName(Reader reader);
/// The reader of that name; nullopt if there is none.
std::optional<Reader> findReader(std::string_view name);
/// All readers.
std::span<const Reader> lintReaders();

/// Options of lint.
struct LintOptions {
  std::vector<std::string> only = {};   ///< names of rules; empty: all
  std::vector<std::string> ignore = {}; ///< names of rules
  std::vector<Reader> readers = {};     ///< readers whose rules are checked too
  const Layout* layout = nullptr;       ///< null: detected from the configuration or the tensors
  kernels::Execution execution = {};
};

/// The result of lint.
struct LintReport {
  std::string layout; ///< name of the layout
  std::string reason; ///< why it is that layout
  Findings findings;  ///< errors first, then by rule, file and tensor
  std::uint64_t tensors = 0, layers = 0, bytes = 0;

  std::size_t count(Severity severity) const;
};

/// Checks a checkpoint. Error: nothing in it can be opened.
tl::expected<LintReport, Error> lint(const std::filesystem::path& path,
                                     const LintOptions& options = {});

} // namespace octavo::checkpoint
