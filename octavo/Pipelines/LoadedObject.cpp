#include "octavo/Pipelines/LoadedObject.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace octavo::pipelines {

LoadedObject loadedObjectOf(const void* address) {
  struct Search {
    std::uintptr_t address;
    LoadedObject found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  const auto visit = [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    const auto segments = std::span<const ElfW(Phdr)>(object->dlpi_phdr, object->dlpi_phnum);
    const auto has = [&](const ElfW(Phdr) & segment) {
      return segment.p_type == PT_LOAD &&
             search.address - (object->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
    };
    if (std::ranges::none_of(segments, has))
      return 0;
    search.found = {object->dlpi_addr, segments};
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

} // namespace octavo::pipelines
