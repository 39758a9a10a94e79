// The version of octavo. It has its own source, so that a new commit recompiles only Version.cpp.
#pragma once

namespace octavo::tools {

/// The text of `octavo --version`: "octavo 0.1.0, commit 0123456789ab, modified". Without the
/// commit if octavo was not built in a git checkout.
const char* version();

} // namespace octavo::tools
