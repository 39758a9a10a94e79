// The program or library, of those that are loaded, in which something lies.
#pragma once

#include <link.h>

#include <span>
#include <string>

namespace octavo::compiler {

/// As long as the object is loaded.
struct LoadedObject {
  ElfW(Addr) base = 0; ///< what the addresses of segments are from
  std::span<const ElfW(Phdr)> segments;
};

/// The one that has the address in a segment; one of no segments if there is none.
LoadedObject loadedObjectOf(const void* address);

/// The note that a linker puts into what it links, a digest of all of it; empty without one.
std::string buildIdOf(const LoadedObject& object);

} // namespace octavo::compiler
