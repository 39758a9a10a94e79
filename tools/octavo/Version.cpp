#include "tools/octavo/Version.h"

#include "tools/octavo/Commit.h" // generated

namespace octavo::tools {

const char* version() { return "octavo " OCTAVO_VERSION OCTAVO_COMMIT; }

} // namespace octavo::tools
