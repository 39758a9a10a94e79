// The processor that a thread runs on.
#pragma once

namespace octavo::base {

/// The calling thread's current processor, or -1 if the system does not tell.
int processor();

/// Moves the calling thread off `processor` to another one that it may use, if there is one. The
/// system wakes a worker on the processor of the thread that hands it work, and may leave both
/// there for 100 ms while others are idle, which is twice the time of short loops. Does nothing if
/// the thread was moved within the last few milliseconds.
void leaveProcessor(int processor);

} // namespace octavo::base
