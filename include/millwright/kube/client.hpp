// A client of the Kubernetes API. Its calls are coroutines. It limits its own rate and repeats
// calls that are safe to repeat. Loop thread only.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/kube/transport.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace millwright::kube {

struct ClientOptions {
  std::string field_manager = "millwright";
  double qps = 200;  // client-side token bucket over all calls but watches
  double burst = 300;
  std::chrono::milliseconds timeout{30'000};
  // How often a call is tried. Reads are repeated after Unavailable, Throttled and Timeout, writes
  // only after HTTP 429.
  int attempts = 4;
  std::uint64_t seed = 1;  // of the jitter between attempts
};

struct ListOptions {
  std::string namespace_;
  std::string label_selector;
  std::string field_selector;
  int page_size = 500;
  std::string resource_version;  // "0": any recent state is good enough
};

struct ObjectList {
  std::vector<boost::json::value> items;  // apiVersion and kind filled in on each
  std::string resource_version;
};

// A part of a large list. `first` means that the list begins. When a continue token expires, the
// list is read again from its begin with larger pages, so that objects may come a second time.
struct ListPage {
  std::vector<boost::json::value> items;  // apiVersion and kind filled in on each
  bool first = false;
};

struct DeleteOptions {
  std::string uid;  // precondition; empty: none
  std::optional<std::int64_t> grace_period_seconds;
  // The grace period ends then, after a second at least: it is what is left when the call is sent,
  // which may wait for its turn. Takes the place of the one above. Of remove() only.
  std::optional<base::TimePoint> end_of_grace;
  std::string propagation_policy;  // "", Background, Foreground, Orphan
};

enum class PatchType { Merge, Json, Strategic };

class Client {
 public:
  using Json = boost::json::value;
  template <class T>
  using Reply = base::Task<base::Result<T>>;

  Client(base::Loop& loop, std::shared_ptr<Transport> transport, ClientOptions options = {},
         base::Metrics* metrics = nullptr);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  base::Loop& loop() const;
  Transport& transport() const;

  // Error kinds follow the Status reason: NotFound, Exists (AlreadyExists), Conflict, Invalid,
  // Unauthorized (401), Denied (403), Gone (410, Expired), Throttled (429), Unavailable (5xx),
  // Timeout.
  Reply<Json> get(model::Resource resource, model::ObjectKey key, std::stop_token stop = {});
  // Options have no default argument: in the statement of a co_await, g++ 12 destroys one twice.
  Reply<ObjectList> list(model::Resource resource, ListOptions options, std::stop_token stop = {});
  Reply<ObjectList> list(model::Resource resource) { return list(resource, ListOptions()); }
  // The resourceVersion that a list would have now: asks for one object.
  Reply<std::string> current_version(model::Resource resource, std::string name_space,
                                     std::stop_token stop = {});
  // Calls `on_page` for each page, so that a large list is never in memory as a whole. Returns the
  // list's resourceVersion.
  Reply<std::string> list_pages(model::Resource resource, ListOptions options,
                                std::function<void(ListPage)> on_page, std::stop_token stop = {});
  // The created object as the server stores it. generateName is allowed.
  Reply<Json> create(model::Resource resource, Json object, std::stop_token stop = {});
  // PUT; Conflict when resourceVersion is stale. `subresource` may be "status".
  Reply<Json> replace(model::Resource resource, Json object, std::string subresource = {},
                      std::stop_token stop = {});
  // A merge patch that has metadata.resourceVersion fails with Conflict when the object has
  // changed.
  Reply<Json> patch(model::Resource resource, model::ObjectKey key, PatchType type, Json patch,
                    std::string subresource = {}, std::stop_token stop = {});
  // Server-side apply with this client's field manager.
  Reply<Json> apply(model::Resource resource, Json object, bool force = true,
                    std::stop_token stop = {});
  Reply<Json> remove(model::Resource resource, model::ObjectKey key, DeleteOptions options,
                     std::stop_token stop = {});
  Reply<Json> remove(model::Resource resource, model::ObjectKey key) {
    return remove(resource, std::move(key), DeleteOptions());
  }
  // Creates a policy/v1 Eviction. Throttled means that a disruption budget refuses; the message
  // names it.
  Reply<Json> evict(model::ObjectKey pod, DeleteOptions options, std::stop_token stop = {});
  Reply<Json> evict(model::ObjectKey pod) { return evict(std::move(pod), DeleteOptions()); }
  // pods/binding.
  Reply<Json> bind(model::ObjectKey pod, std::string uid, std::string node,
                   std::stop_token stop = {});

  // Reads the object, lets `change` build a merge patch from it and sends the patch, unless
  // somebody else has changed the object: then it begins anew, so that `change` may run several
  // times. nullopt from `change`: there is nothing to do.
  Reply<Json> update(model::Resource resource, model::ObjectKey key,
                     std::function<std::optional<Json>(const Json&)> change,
                     std::string subresource = {}, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The error that an HTTP answer stands for. A metav1.Status in its body decides, if there is one.
base::Error error_of(const net::Response& response, std::string_view what);

}  // namespace millwright::kube
