// Writes Kubernetes Events: without repetitions, limited in rate, and without making callers wait.
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
  // An event with the same object, reason and dedupe_values is sent once in `dedupe_for`. Empty
  // dedupe_values stand for the message.
  std::vector<std::string> dedupe_values;
  base::Duration dedupe_for = std::chrono::minutes(2);
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void record(Event event) = 0;
};

// Sends core/v1 Events from a bounded queue: when the API server is too slow, the oldest are
// dropped and counted. record() returns at once. Loop thread only.
class EventRecorder final : public EventSink {
 public:
  EventRecorder(Client& client, std::string component, std::uint64_t seed, base::Logger log);
  ~EventRecorder() override;
  void record(Event event) override;
  // Sends the queued events until `stop`, and what is left for at most five seconds after it.
  base::Task<void> run(std::stop_token stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::kube
