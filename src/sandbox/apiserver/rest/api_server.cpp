#include "millwright/sandbox/api_server.hpp"

#include "sandbox/apiserver/rest/rest.hpp"
#include "sandbox/apiserver/store/access.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

namespace {

template <class T>
base::Result<T> to_result(ApiResult<T> result) {
  if (!result) {
    return tl::unexpected(to_base(result.error()));
  }
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

}  // namespace

struct ApiServer::Impl {
  Impl(base::Loop& l, const ApiServerOptions& options)
      : loop(l),
        random(options.seed),
        store(l, options.history),
        registry(l, store, random.next()),
        rest(l, registry, options, random.fork()) {
    for (const auto* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      boost::json::object ns{{"metadata", boost::json::object{{"name", name}}}};
      static_cast<void>(registry.create(info_of(model::kNamespaceResource), std::move(ns), {}));
    }
  }

  base::Loop& loop;
  base::Random random;
  Store store;
  Registry registry;
  RestServer rest;
};

Registry& ServerAccess::registry(ApiServer& server) {
  return server.impl_->registry;
}

ApiServer::ApiServer(base::Loop& loop, ApiServerOptions options)
    : impl_(std::make_unique<Impl>(loop, options)) {}

ApiServer::~ApiServer() = default;

base::Loop& ApiServer::loop() const {
  return impl_->loop;
}

void ApiServer::handle(net::Request request, std::shared_ptr<net::Exchange> exchange) {
  impl_->rest.handle(std::move(request), std::move(exchange));
}

void ApiServer::set_admission(std::shared_ptr<AdmissionCaller> caller) {
  impl_->rest.set_admission(std::move(caller));
}

void ApiServer::set_faults(Faults faults) {
  impl_->rest.set_faults(faults);
}

base::Result<Object> ApiServer::get(const model::Resource& resource,
                                    const model::ObjectKey& key) const {
  const auto& info = info_of(resource);
  auto object = impl_->store.find(info, key);
  if (object == nullptr) {
    return tl::unexpected(to_base(not_found(info, key.name).value()));
  }
  return object;
}

std::vector<Object> ApiServer::list(const model::Resource& resource) const {
  std::vector<Object> all;
  for (const auto& [key, object] : impl_->store.objects(info_of(resource))) {
    all.push_back(object);
  }
  return all;
}

base::Result<Object> ApiServer::create(const model::Resource& resource, boost::json::value object) {
  return to_result(impl_->registry.create(info_of(resource), std::move(object), {}));
}

base::Result<Object> ApiServer::restore(const model::Resource& resource,
                                        boost::json::value object) {
  return to_result(impl_->registry.restore(info_of(resource), std::move(object)));
}

struct ApiServer::Backup {
  Store::Backup state;
};

std::shared_ptr<const ApiServer::Backup> ApiServer::back_up() const {
  return std::make_shared<const Backup>(Backup{impl_->store.back_up()});
}

void ApiServer::go_back_to(const Backup& backup) {
  impl_->rest.end_watches();
  impl_->store.go_back_to(backup.state);
}

void ApiServer::skip_versions(std::uint64_t count) {
  impl_->store.skip_versions(count);
}

base::Result<Object> ApiServer::replace(const model::Resource& resource, boost::json::value object,
                                        std::string_view subresource) {
  const auto& info = info_of(resource);
  const auto key = key_of(object);
  const auto current = impl_->store.find(info, key);
  if (current == nullptr) {
    return tl::unexpected(to_base(not_found(info, key.name).value()));
  }
  return to_result(impl_->registry.update(info, current, std::move(object),
                                          subresource == "status" ? Part::Status : Part::Main));
}

base::Result<Object> ApiServer::update(const model::Resource& resource, const model::ObjectKey& key,
                                       const std::function<void(boost::json::value&)>& change,
                                       std::string_view subresource) {
  const auto& info = info_of(resource);
  const auto current = impl_->store.find(info, key);
  if (current == nullptr) {
    return tl::unexpected(to_base(not_found(info, key.name).value()));
  }
  boost::json::value copy = *current;
  change(copy);
  return to_result(impl_->registry.update(info, current, std::move(copy),
                                          subresource == "status" ? Part::Status : Part::Main));
}

base::Result<> ApiServer::remove(const model::Resource& resource, const model::ObjectKey& key,
                                 const RemoveOptions& options) {
  DeleteRequest request;
  request.uid = options.uid;
  request.propagation_policy = options.propagation_policy;
  if (options.grace_period_seconds >= 0) {
    request.grace_period_seconds = options.grace_period_seconds;
  }
  auto removed = impl_->registry.remove(info_of(resource), key, request);
  if (!removed) {
    return tl::unexpected(to_base(removed.error()));
  }
  return {};
}

base::Result<> ApiServer::bind(const model::ObjectKey& pod, std::string_view node) {
  return to_result(impl_->registry.bind(pod, {}, node));
}

ApiServer::Subscription ApiServer::watch(const model::Resource& resource,
                                         std::function<void(const Event&)> on_event) {
  struct Watch {
    std::function<void(const Event&)> on_event;
    std::shared_ptr<void> observer;
  };
  const auto& info = info_of(resource);
  auto watch = std::make_shared<Watch>();
  watch->on_event = std::move(on_event);
  const auto deliver = [loop = &impl_->loop, weak = std::weak_ptr(watch)](const Event& event) {
    loop->post([weak, event] {
      if (const auto alive = weak.lock()) {
        alive->on_event(event);
      }
    });
  };
  for (const auto& [key, object] : impl_->store.objects(info)) {
    deliver(Event{Change::Added, object, nullptr, version_of(*object), impl_->loop.now()});
  }
  watch->observer =
      impl_->store.observe([deliver, wanted = &info](const ResourceInfo& got, const Event& event) {
        if (&got == wanted) {
          deliver(event);
        }
      });
  return watch;
}

std::uint64_t ApiServer::resource_version() const {
  return impl_->store.version();
}

}  // namespace millwright::sandbox
