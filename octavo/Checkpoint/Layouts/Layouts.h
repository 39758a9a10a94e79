// The layouts, one file each; layouts() lists them.
#pragma once

#include "octavo/Checkpoint/Layout.h"

namespace octavo::checkpoint {

const Layout& fp8Layout();
const Layout& deepSeekLayout();
const Layout& compressedTensorsLayout();
const Layout& modelOptLayout();
const Layout& quarkLayout();
const Layout& gptOssLayout();
const Layout& nativeLayout();
const Layout& plainLayout();

} // namespace octavo::checkpoint
