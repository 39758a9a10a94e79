// What subcommands that read checkpoints share: the layout where it is not what it seems, how much
// memory and how many threads.
#pragma once

#include "tools/octavo/Commands.h"

#include "octavo/Checkpoint/Folder.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Work.h"
#include "octavo/Kernels/WideMemory.h"

#include <cstdint>
#include <string>

namespace octavo::tools {

struct WorkFlags {
  std::uint64_t memory = std::uint64_t{1} << 30;
  int threads = 0;
};

/// --memory, --threads.
void addWorkFlags(CLI::App& command, WorkFlags& flags);
checkpoint::WorkSettings workSettings(const WorkFlags& flags);

/// An option of that name for a layout; its help lists them all.
CLI::Option* addLayoutOption(CLI::App& command, const std::string& option, std::string& layout,
                             const std::string& help);
/// --from: the layout of the checkpoint that the command reads.
void addFromOption(CLI::App& command, std::string& layout);
/// --against-from: that of the other checkpoint, which is named `other` on the command line.
void addAgainstFromOption(CLI::App& command, std::string& layout, const std::string& other);

/// The layout of that name. Throws CommandError with all names.
const checkpoint::Layout& layoutNamed(const std::string& name);
/// The same; null where the name is empty.
const checkpoint::Layout* layoutIfNamed(const std::string& name);

/// The dtype of plain weights of that name: bf16, f16 or f32. Throws CommandError with all names.
kernels::WideType wideTypeNamed(const std::string& name);

/// Opens a checkpoint. Throws CommandError.
checkpoint::Folder
openFolder(const std::string& path,
           checkpoint::UnfinishedJob unfinished = checkpoint::UnfinishedJob::Refused);

/// The layout of that name; where the name is empty, the one that the folder has. Throws
/// CommandError where octavo does not read that one.
const checkpoint::Layout& layoutOf(const checkpoint::Folder& folder, const std::string& name);

/// Bytes of all tensors.
std::uint64_t bytesOf(const checkpoint::Folder& folder);

} // namespace octavo::tools
