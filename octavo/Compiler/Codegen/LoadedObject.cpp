#include "octavo/Compiler/Codegen/LoadedObject.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace octavo::compiler {

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

std::string buildIdOf(const LoadedObject& object) {
  for (const ElfW(Phdr) & segment : object.segments) {
    if (segment.p_type != PT_NOTE)
      continue;
    llvm::StringRef notes(reinterpret_cast<const char*>(object.base + segment.p_vaddr),
                          segment.p_memsz);
    ElfW(Nhdr) note;
    while (notes.size() >= sizeof note) {
      std::memcpy(&note, notes.data(), sizeof note);
      const auto padded = [](std::size_t size) { return llvm::alignTo(size, 4); };
      const llvm::StringRef name = notes.substr(sizeof note, note.n_namesz);
      const std::size_t begin = sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && name == llvm::StringRef("GNU", 4))
        return llvm::toHex(notes.substr(begin, note.n_descsz), true);
      notes = notes.substr(begin + padded(note.n_descsz));
    }
  }
  return "";
}

} // namespace octavo::compiler
