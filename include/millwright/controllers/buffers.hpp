// CapacityBuffers: from the pod template and number that each asks for to the pods that stand for
// its room, and what it is told about itself (Karpenter's capacitybuffer controller, feature gate
// CapacityBuffer).
#pragma once

#include "millwright/controllers/buffer_room.hpp"
#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class Buffers {
 public:
  // `plan` is called when buffers want a plan. services.buffers must be set when run() is called.
  Buffers(Services& services, std::function<void()> plan);
  void enqueue(const model::ObjectKey& buffer) { reconciler_.enqueue(buffer.to_string()); }
  void enqueue_all();
  // Pods, nodes or pools changed: the room may have been taken, or may be had now.
  void notify() { changed_ = true; }
  base::Task<void> run(std::stop_token stop);

 private:
  struct Resolved;
  base::Task<base::Result<Requeue>> reconcile(std::string key);
  base::Task<base::Result<Resolved>> resolve(std::shared_ptr<const model::CapacityBuffer> buffer);
  base::Task<base::Result<>> write_status(std::shared_ptr<const model::CapacityBuffer> buffer,
                                          std::shared_ptr<const Resolved> resolved);
  base::Task<void> ask_for_plans(std::stop_token stop);

  Services& services_;
  std::function<void()> plan_;
  Reconciler reconciler_;
  bool changed_ = false;
};

}  // namespace millwright::controllers
