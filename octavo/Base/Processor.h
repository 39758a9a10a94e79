// Which processor a thread runs on.
#pragma once

namespace octavo::base {

/// The processor that the calling thread is on, or -1 where the system does not say.
int processor();

/// Moves the calling thread to another of its processors, if it has one. The system wakes a thread
/// beside the one that hands it work, and may leave both there for 100 ms while another processor
/// is idle: that is twice the time of short loops. At most once in some milliseconds.
void leaveProcessor(int processor);

} // namespace octavo::base
