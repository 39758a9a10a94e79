#include "octavo/Pipelines/Codegen.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace octavo::pipelines {

namespace {

tl::expected<const CodeGenerator*, std::string> load() {
  Dl_info self{};
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&load), &self, reinterpret_cast<void**>(&object),
              RTLD_DL_LINKMAP) == 0)
    return tl::make_unexpected("the code generator cannot be looked for: this program has no path");
  // The program itself has no name here; dli_fname is what it was called by, found or not.
  std::error_code unreadable;
  const auto here = std::filesystem::canonical(
                        *object->l_name == '\0' ? "/proc/self/exe" : object->l_name, unreadable)
                        .parent_path();
  std::string tried;
  for (const auto& folder : {here, here.parent_path() / "bin", here.parent_path() / "lib"}) {
    const std::string path = folder / "octavo-codegen.so";
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      using Entry = const CodeGenerator* (*)();
      if (const auto entry = reinterpret_cast<Entry>(dlsym(library, "octavoCodeGenerator")))
        return entry();
    }
    const char* why = dlerror();
    tried += std::string(tried.empty() ? "" : "; ") + (why == nullptr ? path : why);
  }
  return tl::make_unexpected("the code generator, octavo-codegen.so, cannot be loaded (" + tried +
                             "); --backend reference runs without it");
}

} // namespace

tl::expected<const CodeGenerator*, std::string> codeGenerator() {
  static const auto generator = load();
  return generator;
}

} // namespace octavo::pipelines
