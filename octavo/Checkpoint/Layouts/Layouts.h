// All layouts, one file each. To add a layout: write its file here with its spellings and its
// reading of the configuration; declare its function below; add it to layouts() in Layout.cpp; add
// its file and test to CMakeLists.txt. Detection, inspect, lint, convert and
// docs/generated/layouts.md follow.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

namespace octavo::checkpoint {

const Layout& fp8Layout();
const Layout& deepSeekLayout();
const Layout& compressedTensorsLayout();
const Layout& modelOptLayout();
const Layout& quarkLayout();
const Layout& gptOssLayout();
const Layout& comfyLayout();
const Layout& mlxLayout();
const Layout& torchAoLayout();
const Layout& nativeLayout();
const Layout& plainLayout();

} // namespace octavo::checkpoint
