#include "cmake/precompiled/Base.h"

#include <CLI/CLI.hpp>
