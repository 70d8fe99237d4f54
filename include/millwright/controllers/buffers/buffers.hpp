// Reads what each CapacityBuffer asks for, hands its virtual pods to BufferRoom and keeps its
// status (Karpenter's capacitybuffer controller, feature gate CapacityBuffer).
#pragma once

#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <functional>
#include <set>
#include <stop_token>
#include <string>

namespace millwright::controllers {

// Called after a plan placed the virtual pods. Reserves their places for the owners of buffers that
// ask for it (annotation millwright.io/keep-for-owner), and ends what was reserved before.
void keep_buffer_room(Services& services);
// The same where a plan or a removal has put room since: on these nodes, or claims without a node.
void keep_buffer_room_on(Services& services, const std::set<std::string, std::less<>>& targets);

class Buffers {
 public:
  // `plan` is called when buffers want a plan. services.buffers must be set when run() is called.
  Buffers(Services& services, std::function<void()> plan);
  void enqueue(const model::ObjectKey& buffer) { reconciler_.enqueue(buffer.to_string()); }
  void enqueue_all();
  // Pods, nodes or pools changed, so room may have been taken or come free.
  void notify() { changed_ = true; }
  base::Task<void> run(std::stop_token stop);

 private:
  struct Resolved;
  base::Task<base::Result<Requeue>> reconcile(std::string key);
  static std::string reference_problem(const model::CapacityBuffer& buffer);
  static Resolved read_source(const model::CapacityBuffer& buffer,
                              const boost::json::value& object);
  base::Task<base::Result<Resolved>> resolve(std::shared_ptr<const model::CapacityBuffer> buffer);
  base::Task<base::Result<>> write_status(std::shared_ptr<const model::CapacityBuffer> buffer,
                                          std::shared_ptr<const Resolved> resolved);
  base::Task<base::Result<std::string>> owner_of_pods(model::Resource resource,
                                                      boost::json::value workload);
  base::Task<void> ask_for_plans(std::stop_token stop);

  Services& services_;
  std::function<void()> plan_;
  Reconciler reconciler_;
  bool changed_ = false;
};

}  // namespace millwright::controllers
