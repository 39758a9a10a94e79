// The layouts, one file each. To add one: its file here, with its spellings and what it makes of
// its configuration; its function below; its place in layouts() in Layout.cpp; its file and test in
// CMakeLists.txt. Detection, inspect, lint, convert and docs/generated/layouts.md follow.
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
