// Shared by the subcommands that read checkpoints: options that name the layout and limit memory
// and threads.
#pragma once

#include "tools/octavo/Commands.h"

#include "octavo/Checkpoint/Folder.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Work.h"
#include "octavo/Kernels/WideMemory.h"

#include <cstdint>
#include <string>

namespace octavo::tools {

/// The values of --memory (bytes) and --threads (0: all of the machine's).
struct WorkFlags {
  std::uint64_t memory = std::uint64_t{1} << 30;
  int threads = 0;
};

/// Adds --memory and --threads.
void addWorkFlags(CLI::App& command, WorkFlags& flags);
checkpoint::WorkSettings workSettings(const WorkFlags& flags);

/// Adds the option `option` for a layout. Its help lists all layouts.
CLI::Option* addLayoutOption(CLI::App& command, const std::string& option, std::string& layout,
                             const std::string& help);
/// Adds --from: the layout of the checkpoint that the command reads.
void addFromOption(CLI::App& command, std::string& layout);
/// Adds --against-from: the layout of the other checkpoint, which the command line calls `other`.
void addAgainstFromOption(CLI::App& command, std::string& layout, const std::string& other);

/// The layout named `name`. Otherwise throws CommandError with all names.
const checkpoint::Layout& layoutNamed(const std::string& name);
/// The same; null if the name is empty.
const checkpoint::Layout* layoutIfNamed(const std::string& name);

/// The dtype of plain weights named `name`: bf16, f16 or f32. Otherwise throws CommandError with
/// all names.
kernels::WideType wideTypeNamed(const std::string& name);

/// Opens a checkpoint. Throws CommandError.
checkpoint::Folder
openFolder(const std::string& path,
           checkpoint::UnfinishedJob unfinished = checkpoint::UnfinishedJob::Refused);

/// The layout named `name`; if the name is empty, the layout of the folder. Throws CommandError if
/// octavo cannot read that layout.
const checkpoint::Layout& layoutOf(const checkpoint::Folder& folder, const std::string& name);

/// The bytes of all tensors.
std::uint64_t bytesOf(const checkpoint::Folder& folder);

} // namespace octavo::tools
