// The loaded program or library that contains an address.
#pragma once

#include <link.h>

#include <span>
#include <string>

namespace octavo::compiler {

/// Valid as long as the object is loaded.
struct LoadedObject {
  ElfW(Addr) base = 0; ///< the addresses of segments are relative to it
  std::span<const ElfW(Phdr)> segments;
};

/// The object with a segment that contains the address; without segments if there is none.
LoadedObject loadedObjectOf(const void* address);

/// The build ID that the linker wrote, a digest of the object, in hexadecimal digits; empty if
/// there is none.
std::string buildIdOf(const LoadedObject& object);

} // namespace octavo::compiler
