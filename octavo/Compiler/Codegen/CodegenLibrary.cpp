#include "octavo/Compiler/Codegen/Codegen.h"
#include "octavo/Compiler/Codegen/LoadedObject.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

namespace octavo::compiler {

namespace {

tl::expected<const CodeGenerator*, std::string> load() {
  Dl_info self{};
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&load), &self, reinterpret_cast<void**>(&object),
              RTLD_DL_LINKMAP) == 0)
    return tl::make_unexpected("the code generator cannot be looked for: this program has no path");
  // The program itself has an empty l_name; its dli_fname is how it was called, which may not be a
  // path.
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

void letGoOfGenerator() {
  const auto generator = codeGenerator();
  if (!generator)
    return;
  const LoadedObject library = loadedObjectOf(*generator);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & segment : library.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0)
      continue;
    const std::uintptr_t begin = library.base + segment.p_vaddr;
    const std::uintptr_t first = begin / page * page;
    // A hint: the system may refuse it.
    madvise(reinterpret_cast<void*>(first), begin + segment.p_memsz - first, MADV_DONTNEED);
  }
}

} // namespace octavo::compiler
