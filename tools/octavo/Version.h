// A file of its own, so that a new commit compiles nothing but Version.cpp.
#pragma once

namespace octavo::tools {

/// "octavo 0.1.0, commit 0123456789ab, modified": what `octavo --version` prints. Without the
/// commit where it was built outside a git checkout.
const char* version();

} // namespace octavo::tools
