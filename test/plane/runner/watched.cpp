#include "plane/runner/watched.hpp"

#include "millwright/kube/informer.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::plane {

Watched::Watched(kube::Client& client, sandbox::Recorder& recorder, base::Logger log)
    : client_(client), recorder_(recorder), log_(std::move(log)) {}

void Watched::upsert(model::Resource resource, const boost::json::value& object) {
  const auto meta = model::decode_meta(object);
  if (!meta) {
    return;
  }
  auto& last = last_[meta->uid];
  sandbox::Event event;
  event.change = last == nullptr ? sandbox::Change::Added : sandbox::Change::Modified;
  event.previous = last;
  event.object = last = std::make_shared<const boost::json::value>(object);
  event.time = client_.loop().now();
  recorder_.take_in(resource, event);
}

void Watched::remove(model::Resource resource, const std::string& uid) {
  const auto found = last_.find(uid);
  if (found == last_.end()) {
    return;
  }
  sandbox::Event event;
  event.change = sandbox::Change::Deleted;
  event.previous = event.object = found->second;
  event.time = client_.loop().now();
  last_.erase(found);
  recorder_.take_in(resource, event);
}

base::Task<void> Watched::run(std::stop_token stop) {
  base::TaskGroup group(client_.loop());
  std::uint64_t seed = 1;
  for (const auto& resource :
       {model::kNodeResource, model::kNodeClaimResource, model::kPodResource}) {
    kube::InformerHandlers handlers;
    handlers.upsert = [this, resource](const boost::json::value& object) {
      upsert(resource, object);
    };
    handlers.remove = [this, resource](const model::ObjectKey&, const std::string& uid) {
      remove(resource, uid);
    };
    handlers.synced = [] {};
    kube::InformerOptions options{.resource = resource, .seed = seed++, .log = log_};
    group.spawn(kube::run_informer(client_, std::move(options), std::move(handlers), stop));
  }
  co_await group.join();
}

}  // namespace millwright::plane
