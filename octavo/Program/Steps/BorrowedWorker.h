// A Worker of the frame's pool, held by one thread for a scope.
#pragma once

#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// Takes a worker from the frame's pool, or makes one if the pool is empty. The destructor returns
/// it.
class BorrowedWorker {
public:
  explicit BorrowedWorker(Frame& frame) : frame(frame), worker(frame.workers.take()) {
    if (!worker)
      worker = std::make_unique<Worker>();
  }
  BorrowedWorker(const BorrowedWorker&) = delete;
  BorrowedWorker& operator=(const BorrowedWorker&) = delete;
  ~BorrowedWorker() { frame.workers.giveBack(std::move(worker)); }
  Worker& operator*() const { return *worker; }
  Worker* operator->() const { return worker.get(); }

private:
  Frame& frame;
  std::unique_ptr<Worker> worker;
};

} // namespace octavo::program
