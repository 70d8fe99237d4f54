// A sandbox cluster in virtual time that is recorded while things happen in it.
#pragma once

#include "app/recording/cluster_recording.hpp"
#include "support/virtual_cluster.hpp"

#include <memory>
#include <optional>
#include <string>

namespace millwright::test {

struct RecordedOptions {
  bool hide_names = false;
  std::optional<base::Duration> duration = {};
  std::uint64_t most_bytes = 1U << 30U;
  sandbox::Faults faults = {};
  cloud::Latency boot = {};  // of its machines
  sandbox::KubeletOptions kubelet = {};
};

// NodePool "general" of on-demand amd64 machines of kwok; `more` is one more member of its spec.
std::string general_pool(const std::string& more);

class RecordedCluster {
 public:
  // With that NodePool, and namespace "shop".
  explicit RecordedCluster(const RecordedOptions& options = {});
  ~RecordedCluster();

  void create(const std::string& yaml);
  // A Deployment "web" in "shop".
  void deploy(int replicas, const std::string& cpu = "1");
  void scale(int replicas);
  void change(const model::Resource& resource, const model::ObjectKey& key,
              const std::function<void(boost::json::value&)>& change);
  void begin_recording();
  void run_for(base::Duration duration) { cluster_.loop.run_for(duration); }
  // Stops it, as an interrupt does, if it has not ended by itself; what it wrote.
  std::string end_recording();
  const base::Result<app::RecordingOutcome>& outcome() const { return *outcome_; }
  sandbox::ApiServer& api() { return cluster_.cluster->world().api(); }
  base::VirtualLoop& loop() { return cluster_.loop; }
  // To this cluster; counts what writes.
  std::shared_ptr<kube::Transport> counting_transport();
  // The API server answers 401 to what comes through it, until the token is renewed.
  void expire_token() { token_expired_ = true; }
  void renew_token() { token_expired_ = false; }
  // Requests through it, as the recorder's are, that were no reads.
  int writes() const { return writes_; }

 private:
  RecordedOptions options_;
  VirtualCluster cluster_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<app::ClusterRecording> recording_;
  base::TaskGroup group_;
  std::stop_source stop_;
  std::string text_;
  int writes_ = 0;
  bool token_expired_ = false;
  std::optional<base::Result<app::RecordingOutcome>> outcome_;
};

}  // namespace millwright::test
