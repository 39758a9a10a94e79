#include "octavo/Pipelines/Codegen.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>

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

/// Lets go of an object's segments that nobody writes, if the address is in one of the object.
int letGo(dl_phdr_info* object, std::size_t /*size*/, void* address) {
  const auto segments = std::span(object->dlpi_phdr, object->dlpi_phnum);
  const auto begin = [&](const ElfW(Phdr) & segment) {
    return object->dlpi_addr + segment.p_vaddr;
  };
  const auto has = [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD &&
           reinterpret_cast<std::uintptr_t>(address) - begin(segment) < segment.p_memsz;
  };
  if (std::ranges::none_of(segments, has))
    return 0;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0)
      continue;
    const std::uintptr_t first = begin(segment) / page * page;
    // A wish: what is refused stays.
    madvise(reinterpret_cast<void*>(first), begin(segment) + segment.p_memsz - first,
            MADV_DONTNEED);
  }
  return 1;
}

} // namespace

tl::expected<const CodeGenerator*, std::string> codeGenerator() {
  static const auto generator = load();
  return generator;
}

void letGoOfGenerator() {
  if (const auto generator = codeGenerator())
    dl_iterate_phdr(letGo, const_cast<CodeGenerator*>(*generator));
}

} // namespace octavo::pipelines
