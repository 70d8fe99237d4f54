// What every story is told with: apply and scale like a person with kubectl, wait for something to
// be seen, watch that something is always so, and note down how it went.
#pragma once

#include "millwright/sandbox/story.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::sandbox {

class Stage {
 public:
  Stage(std::string story, StoryEnvironment environment, std::stop_token stop);

  // Every document of manifests/examples/<file>. False ends the story: `if (!ok) co_return;`.
  base::Task<bool> apply_file(std::string file);
  // `kubectl create -f`, as the legacy manifests are used.
  base::Task<bool> create_file(std::string file);
  base::Task<bool> apply_text(std::string what, std::string yaml);
  base::Task<bool> scale(std::string deployment, int replicas);
  base::Task<bool> remove(model::Resource resource, model::ObjectKey key);

  // Waits until `seen` holds. Past the deadline: a failure that says what was waited for.
  base::Task<bool> wait(std::string what, std::function<bool()> seen, base::Duration deadline);
  // Asks for the NodePool until its condition Ready is True.
  base::Task<bool> wait_pool_ready(std::string name);
  // Waits until no pod of `app` and then no node is left; every node must have stayed so long
  // after the last pod had gone (a second of tolerance).
  base::Task<void> wait_idle_end(std::string app, base::Duration patience, std::string rule);
  // Lets time pass.
  base::Task<bool> pass(base::Duration time);

  void say(std::string text);
  void fail(std::string expectation);
  // Says `text` when `holds`, else fails with it.
  void expect(bool holds, const std::string& text);
  // `still_holds` is asked after every event from now on; the first time it does not hold is a
  // failure that says `text`.
  void always(std::string text, std::function<bool()> still_holds);

  Recorder& recorder() { return *environment_.recorder; }
  kube::Client& client() { return *environment_.client; }
  base::TimePoint now() const { return environment_.client->loop().now(); }
  base::TimePoint begun() const { return begun_; }
  // The first document of an example, as it was sent.
  std::optional<boost::json::value> read_example(const std::string& file) const;
  // Judges what always() watched and watches no longer.
  void end_watches();
  // Stops watching and gives the account.
  StoryReport finish();

  // Counts over what the recorder saw. `app` is the value of the pods' label "app".
  std::size_t running(const std::string& app);    // Running, until the containers have ended
  std::size_t pods_left(const std::string& app);  // not gone
  std::vector<const NodeHistory*> nodes();        // not gone
  double vcpus();                                 // of nodes not gone
  std::string nodes_text();                       // "2 nodes (c9.4xlarge.4, c9.large.4; 18 vCPU)"

 private:
  struct Watch {
    std::string text;
    std::function<bool()> still_holds;
    bool broken = false;
  };
  struct Shared {
    explicit Shared(base::Loop& loop) : changed(loop) {}
    base::Signal changed;
    std::vector<Watch> watches;
    bool finished = false;
  };
  base::Task<bool> send_file(std::string file, bool create);
  base::Task<bool> send(std::string what, boost::json::value object, bool create);

  StoryEnvironment environment_;
  std::stop_token stop_;
  base::TimePoint begun_;
  StoryReport report_;
  std::shared_ptr<Shared> shared_;  // outlives the stage in the recorder's callback
};

// One story each: told on the stage until its end or its first failed wait.
base::Task<void> tell_kwok(Stage& stage);
base::Task<void> tell_huawei(Stage& stage);
base::Task<void> tell_alibaba(Stage& stage);
base::Task<void> tell_aws_team(Stage& stage);
base::Task<void> tell_aws_weight(Stage& stage);
base::Task<void> tell_nodepool_full(Stage& stage);
base::Task<void> tell_budgets_by_reason(Stage& stage);

}  // namespace millwright::sandbox
