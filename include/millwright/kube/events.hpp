// Kubernetes Events for people: de-duplicated, rate limited, never in the way of the work.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/random.hpp"
#include "millwright/kube/client.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::kube {

struct ObjectReference {
  std::string api_version;
  std::string kind;
  model::ObjectKey key;
  std::string uid;
};
ObjectReference reference_to(const model::Resource& resource, const model::ObjectMeta& meta);

struct Event {
  ObjectReference object;
  bool warning = false;
  std::string reason;
  std::string message;
  // The same (object, reason, dedupe_values) is sent once in this time. Empty dedupe_values: the
  // message.
  std::vector<std::string> dedupe_values;
  base::Duration dedupe_for = std::chrono::minutes(2);
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void record(Event event) = 0;
};

// Sends core/v1 Events through the client from a bounded queue (the oldest are dropped and counted
// when the API server cannot keep up). record() returns at once. Loop thread only.
class EventRecorder final : public EventSink {
 public:
  EventRecorder(Client& client, std::string component, std::uint64_t seed, base::Logger log);
  ~EventRecorder() override;
  void record(Event event) override;
  // Sends what is queued; runs until `stop` and then drains what is left for at most five seconds.
  base::Task<void> run(std::stop_token stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::kube
