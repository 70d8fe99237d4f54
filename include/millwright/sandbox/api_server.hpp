// A Kubernetes API server in memory, for tests and demonstrations. It serves the part of the REST
// interface that kubectl, client-go programs and Millwright use. Objects are JSON, one counter
// gives resource versions. Time is the loop's and random numbers are seeded, so that a run in
// virtual time repeats exactly.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/base/result.hpp"
#include "millwright/kube/transport.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/model/meta.hpp"
#include "millwright/net/http.hpp"
#include "millwright/net/server.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

class AdmissionCaller;

// One stored version of an object: never changed, shared by whoever reads it.
using Object = std::shared_ptr<const boost::json::value>;

enum class Change : std::uint8_t { Added, Modified, Deleted };

struct Event {
  Change change = Change::Added;
  Object object;    // Deleted: the last state, with the version of the deletion
  Object previous;  // nullptr for Added
  std::uint64_t version = 0;
  base::TimePoint time;
};

// Faults injected into REST requests, over HTTP and in process alike. Rates are probabilities from
// 0 to 1, drawn from the server's seed. The sandbox's own controllers are not affected: they do not
// use REST.
struct Faults {
  double conflict_rate = 0;      // writes answered 409 Conflict, nothing done
  double error_rate = 0;         // requests answered 500, nothing done
  double lost_reply_rate = 0;    // writes that are done and then answered 500
  double watch_cut_rate = 0;     // watch events before which the stream is cut
  base::Duration watch_delay{};  // each watch event is up to this late; order is kept
  base::Duration list_delay{};   // each list is answered up to this late, with what there is then
  std::map<std::string, base::Duration> late_lists;  // those of these resources, exactly so late
  // Every request for these resources, by plural name, is answered 403 or 500.
  std::set<std::string> forbidden;
  std::set<std::string> broken;
  std::set<std::string> undeletable;  // names of objects whose deletion is answered 403
};

struct ApiServerOptions {
  std::uint64_t seed = 1;
  std::string git_version = "v1.32.4";
  // Events kept per resource for watches to resume from; older versions answer 410 Gone.
  std::size_t history = 10'000;
  base::Duration bookmark_interval = std::chrono::seconds(60);
  Faults faults;
  base::Logger log;
};

struct RemoveOptions {
  std::string uid;                         // precondition; empty: none
  std::int64_t grace_period_seconds = -1;  // -1: the object's own default
  std::string propagation_policy;          // "", Background, Foreground, Orphan
};

// Loop thread only. Known kinds are those of model::all_resources().
class ApiServer {
 public:
  explicit ApiServer(base::Loop& loop, ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  base::Loop& loop() const;

  // Serves a REST request; answers through the exchange, now or later.
  void handle(net::Request request, std::shared_ptr<net::Exchange> exchange);

  // Carries AdmissionReviews to the webhooks that MutatingWebhookConfiguration and
  // ValidatingWebhookConfiguration objects name. Without one those objects have no effect.
  void set_admission(std::shared_ptr<AdmissionCaller> caller);
  void set_faults(Faults faults);

  // Direct calls, for the sandbox's own parts and for tests. They skip admission webhooks and
  // faults; defaulting, validation, versions, finalizers and events are as for REST.
  base::Result<Object> get(const model::Resource& resource, const model::ObjectKey& key) const;
  // Sorted by namespace and name.
  std::vector<Object> list(const model::Resource& resource) const;
  base::Result<Object> create(const model::Resource& resource, boost::json::value object);
  // Stores an object as it was in another cluster: uid, times and status are kept.
  base::Result<Object> restore(const model::Resource& resource, boost::json::value object);
  // Everything as it is now, and back to it: etcd, restored from a backup. Versions go back as
  // well, and watches end.
  struct Backup;
  std::shared_ptr<const Backup> back_up() const;
  void go_back_to(const Backup& backup);
  // As if others had written so often.
  void skip_versions(std::uint64_t count);
  // PUT. `subresource` is empty or "status".
  base::Result<Object> replace(const model::Resource& resource, boost::json::value object,
                               std::string_view subresource = {});
  // Reads, lets `change` edit a copy and stores it, when it differs.
  base::Result<Object> update(const model::Resource& resource, const model::ObjectKey& key,
                              const std::function<void(boost::json::value&)>& change,
                              std::string_view subresource = {});
  base::Result<> remove(const model::Resource& resource, const model::ObjectKey& key,
                        const RemoveOptions& options = {});
  base::Result<> bind(const model::ObjectKey& pod, std::string_view node);

  // Calls `on_event` on the loop for what exists (as Added) and then for every change, until the
  // returned subscription is dropped. Not subject to faults.
  using Subscription = std::shared_ptr<void>;
  [[nodiscard]] Subscription watch(const model::Resource& resource,
                                   std::function<void(const Event&)> on_event);

  std::uint64_t resource_version() const;

 private:
  friend struct ServerAccess;  // src/sandbox: gives access to the store
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// REST requests by function call, for kube::Client: without sockets, and in virtual time.
std::shared_ptr<kube::Transport> in_process_transport(ApiServer& server);

// REST over HTTPS on loopback, with a CA of its own and one bearer token. Requests are posted to
// the server's loop.
class ApiEndpoint {
 public:
  static base::Result<std::unique_ptr<ApiEndpoint>> start(ApiServer& server, std::uint16_t port = 0,
                                                          base::Logger log = {});
  virtual ~ApiEndpoint() = default;
  virtual std::string url() const = 0;  // "https://127.0.0.1:<port>"
  virtual std::string ca_pem() const = 0;
  virtual std::string token() const = 0;
  // Text of a kubeconfig that holds everything; the file form has mode 0600.
  virtual std::string kubeconfig() const = 0;
  virtual base::Result<> write_kubeconfig(const std::string& path) const = 0;
  virtual void stop() = 0;
};

}  // namespace millwright::sandbox
