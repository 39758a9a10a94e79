#include "cmake/precompiled/Base.h"

#include <gtest/gtest.h>
