// Lists a resource and watches it: its objects come as upserts and deletes. A watch that ends is
// resumed where it was. After 410 Gone the resource is listed again, and objects that disappeared
// meanwhile are reported as deleted. A watch that said nothing for two minutes, not even a
// bookmark, is not trusted: the resource is listed again. And where the API server could not be
// reached, one object is listed before a watch is resumed, whose answer tells the server's version:
// etcd may have been restored meanwhile. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/kube/client.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

namespace millwright::kube {

struct InformerOptions {
  model::Resource resource;
  std::string namespace_;
  std::string label_selector;
  std::string field_selector;
  std::chrono::milliseconds min_backoff{200};
  std::chrono::milliseconds max_backoff{30'000};
  // The server is asked to end the watch after this long; it is resumed at once.
  std::chrono::seconds watch_timeout{290};
  std::uint64_t seed = 1;  // of the jitter
  base::Logger log;
};

struct InformerHandlers {
  std::function<void(const boost::json::value& object)> upsert;
  // `uid` is that of the object reported last under this key.
  std::function<void(const model::ObjectKey& key, const std::string& uid)> remove;
  // Once, after the first complete list was delivered.
  std::function<void()> synced;
  // Each time that listing is refused: NotFound, the resource is missing; Denied, the right to it
  // is missing, or who decides about rights fails for a while; Unauthorized, the API server does
  // not know who asks, and says nothing of rights. It is tried again all the same.
  std::function<void(const base::Error& why)> not_listable = {};
  // What was told is what the API server has: a list is complete, a watch has been accepted for a
  // second or ended at its time, or an event or bookmark came later than that. Servers send a
  // bookmark about once a minute.
  std::function<void()> heard = {};
  // A list or a watch failed, or a watched version is gone; the API server is asked again, after a
  // pause where it may be needed.
  std::function<void()> lost = {};
  // Once. A list, or an object in one, came with a lower version than what was heard before: etcd
  // was restored from a backup. Versions known before mean nothing any more, and changes made since
  // the backup were undone.
  std::function<void()> rewound = {};
};

// Runs until `stop`. Never gives up: failures are logged and retried with backoff and jitter.
base::Task<void> run_informer(Client& client, InformerOptions options, InformerHandlers handlers,
                              std::stop_token stop);

// The same with decoded objects. An object that cannot be decoded is logged with the reason and
// left out.
template <class T>
struct TypedHandlers {
  std::function<void(std::shared_ptr<const T>)> upsert;
  std::function<void(const model::ObjectKey& key, const std::string& uid)> remove;
  std::function<void()> synced;
};

template <class T>
InformerHandlers decode_into(TypedHandlers<T> typed, base::Logger log) {
  return InformerHandlers{
      .upsert =
          [upsert = std::move(typed.upsert), log](const boost::json::value& object) {
            auto decoded = model::decode<T>(object);
            if (!decoded) {
              log.warn("ignoring an object that cannot be read",
                       {{"error", decoded.error().message}});
              return;
            }
            upsert(std::make_shared<const T>(*std::move(decoded)));
          },
      .remove = std::move(typed.remove),
      .synced = std::move(typed.synced)};
}

}  // namespace millwright::kube
