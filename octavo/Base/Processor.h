// The processor that a thread runs on.
#pragma once

namespace octavo::base {

/// The calling thread's current processor, or -1 if the system does not tell.
int processor();

/// Moves the calling thread off `processor` to another one that it may use, if there is one. Does
/// nothing if the thread was moved within the last few milliseconds.
///
/// The system wakes a worker on the processor of the thread that hands it work. It may leave both
/// there for 100 ms while others are idle: twice the time of short loops.
void leaveProcessor(int processor);

} // namespace octavo::base
