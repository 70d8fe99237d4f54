#include "millwright/controllers/buffers/buffers.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/scheduling/solve.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

using BufferPtr = std::shared_ptr<const model::CapacityBuffer>;

constexpr auto kLookAgain = std::chrono::seconds(30);
constexpr auto kPlanPeriod = std::chrono::seconds(5);
// Renewed every kPlanPeriod while the room is there.
constexpr auto kReserveFor = std::chrono::seconds(90);
// More pods than that are a slip of the pen, and would take every plan's time.
constexpr std::int64_t kMostPods = 10'000;

model::ObjectKey parse_key(std::string_view key) {
  const auto slash = key.find('/');
  return slash == std::string_view::npos
             ? model::ObjectKey{.namespace_ = {}, .name = std::string(key)}
             : model::ObjectKey{.namespace_ = std::string(key.substr(0, slash)),
                                .name = std::string(key.substr(slash + 1))};
}

BufferPtr find_buffer(const scheduling::Snapshot& snapshot, const model::ObjectKey& key) {
  const auto found =
      std::find_if(snapshot.capacity_buffers.begin(), snapshot.capacity_buffers.end(),
                   [&](const auto& buffer) { return model::key_of(buffer->meta) == key; });
  return found == snapshot.capacity_buffers.end() ? nullptr : *found;
}

const model::Resource* workload_resource(const model::CapacityBuffer::Scalable& ref) {
  if (!ref.api_group.empty() && ref.api_group != "apps") {
    return nullptr;
  }
  for (const auto* resource :
       {&model::kDeploymentResource, &model::kStatefulSetResource, &model::kReplicaSetResource}) {
    if (resource->kind == ref.kind) {
      return resource;
    }
  }
  return nullptr;
}

// True when it changed. A buffer has no condition Ready that would sum these up.
bool put_condition(std::vector<model::Condition>& conditions, model::Condition condition) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const auto& each) { return each.type == condition.type; });
  if (found == conditions.end()) {
    conditions.push_back(std::move(condition));
    return true;
  }
  if (found->status == condition.status) {
    condition.last_transition_time = found->last_transition_time;
  }
  if (*found == condition) {
    return false;
  }
  *found = std::move(condition);
  return true;
}

std::int64_t whole_number(const json::value& object, std::string_view path,
                          std::int64_t otherwise) {
  const auto* value = model::find_path(object, path);
  return value != nullptr && value->is_int64() ? value->get_int64() : otherwise;
}

// `count` chooses from what is to be reserved on a node, as far as the plan knows, and what is
// reserved there.
template <class Count>
void set_buffer_room(Services& services, Count count) {
  auto wanted =
      services.buffers->reservations(*services.state.snapshot(), services.loop.now() + kReserveFor);
  const auto view = services.ledger.view();
  const auto is_wanted = [&](const scheduling::Reservation& kept) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const auto& each) {
      return each.target == kept.target && each.group == kept.group;
    });
  };
  for (const auto& [target, list] : view->by_target) {
    for (const auto& kept : list) {
      if (kept.of_buffer && !is_wanted(kept)) {
        services.ledger.lower(kept.group, target, kept.count);
      }
    }
  }
  for (auto& reservation : wanted) {
    const auto* const kept = view->find(reservation.group, reservation.target);
    reservation.count = count(reservation, kept == nullptr ? 0 : kept->count);
    services.ledger.set_reservation(std::move(reservation));
  }
}

// Only what is still there: room that a pod has taken is reserved anew by the next plan, where
// there is some.
void renew_buffer_room(Services& services) {
  set_buffer_room(services, [](const scheduling::Reservation& wanted, std::int32_t kept) {
    return std::min(wanted.count, kept);
  });
}

// What admission gives to pods of the template: the value of their PriorityClass, or of the one
// that is the default for all.
std::int32_t priority_of_pods(const model::PodSpec& spec, const scheduling::Snapshot& snapshot) {
  const auto& classes = snapshot.priority_classes;
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const auto& each) {
    return spec.priority_class_name.empty() ? each->global_default
                                            : each->meta.name == spec.priority_class_name;
  });
  return found == classes.end() ? spec.priority : (*found)->value;
}

}  // namespace

struct Buffers::Resolved {
  std::string reason = "Resolved";  // anything else: it could not be
  std::string message;
  model::PodTemplate pod_template;
  std::int64_t template_generation = 0;
  std::optional<std::int64_t> workload_replicas;
  std::optional<BufferRoom::Owner> owner;
  std::int64_t count = 0;
  bool ok() const { return reason == "Resolved"; }
};

Buffers::Buffers(Services& services, std::function<void()> plan)
    : services_(services),
      plan_(std::move(plan)),
      reconciler_(
          reconciler_context(services, "capacitybuffer", "CapacityBuffer"),
          [this](std::string key, base::Logger, std::stop_token) {
            return reconcile(std::move(key));
          },
          ReconcilerOptions{.max_concurrent = 10}) {}

void Buffers::enqueue_all() {
  for (const auto& buffer : services_.state.snapshot()->capacity_buffers) {
    enqueue(model::key_of(buffer->meta));
  }
}

base::Task<void> Buffers::run(std::stop_token stop) {
  base::TaskGroup group(services_.loop);
  group.spawn(reconciler_.run(stop));
  group.spawn(ask_for_plans(stop));
  co_await group.join();
}

base::Task<void> Buffers::ask_for_plans(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool slept = co_await base::sleep(services_.loop, kPlanPeriod, stop);
    if (!slept) {
      co_return;
    }
    if (std::exchange(changed_, false)) {
      services_.buffers->ask();
    }
    if (services_.buffers->due()) {
      plan_();
    }
    renew_buffer_room(services_);
    enqueue_all();
  }
}

void keep_buffer_room(Services& services) {
  set_buffer_room(services,
                  [](const scheduling::Reservation& wanted, std::int32_t) { return wanted.count; });
}

void keep_buffer_room_on(Services& services, const std::set<std::string, std::less<>>& targets) {
  set_buffer_room(services, [&](const scheduling::Reservation& wanted, std::int32_t kept) {
    return targets.contains(wanted.target) ? wanted.count : std::min(wanted.count, kept);
  });
}

base::Task<base::Result<Requeue>> Buffers::reconcile(std::string text) {
  const auto key = parse_key(text);
  const auto buffer = find_buffer(*services_.state.snapshot(), key);
  if (!buffer || buffer->meta.is_deleting()) {
    services_.buffers->forget(key);
    renew_buffer_room(services_);
    co_return Requeue{};
  }
  MW_CO_TRY(found, co_await resolve(buffer));
  const auto resolved = std::make_shared<const Resolved>(std::move(found));
  BufferRoom::Buffer content;
  content.uid = buffer->meta.uid;
  content.pods = virtual_pods(*buffer, resolved->pod_template, resolved->count);
  content.owner = resolved->owner;
  const bool shrinks =
      static_cast<std::size_t>(resolved->count) < services_.buffers->pod_uids(key).size();
  if (services_.buffers->set(key, std::move(content))) {
    keep_buffer_room(services_);
  }
  if (shrinks) {
    renew_buffer_room(services_);
    services_.buffers->ask();
  }
  if (services_.buffers->due()) {
    plan_();
  }
  MW_CO_CHECK(ignore_not_found(co_await write_status(buffer, resolved)));
  co_return Requeue{kLookAgain};
}

// What is wrong with the reference itself; empty: nothing.
std::string Buffers::reference_problem(const model::CapacityBuffer& buffer) {
  if (!buffer.pod_template.empty()) {
    return {};
  }
  const auto& scalable = buffer.scalable;
  if (!scalable) {
    return "Neither spec.podTemplateRef nor spec.scalableRef is set; set one of them";
  }
  if (workload_resource(*scalable) == nullptr) {
    return "spec.scalableRef names a " + scalable->kind +
           "; only Deployment, StatefulSet and ReplicaSet of group apps have a pod template that "
           "can be read";
  }
  return {};
}

base::Task<base::Result<Buffers::Resolved>> Buffers::resolve(BufferPtr buffer) {
  if (auto problem = reference_problem(*buffer); !problem.empty()) {
    Resolved failed{.reason = "ResolutionFailed", .message = std::move(problem)};
    co_return failed;
  }
  const bool by_template = !buffer->pod_template.empty();
  const model::Resource* resource = &model::kPodTemplateResource;
  std::string name = buffer->pod_template;
  if (const auto& scalable = buffer->scalable; !by_template && scalable) {
    resource = workload_resource(*scalable);
    name = scalable->name;
  }
  model::ObjectKey key{.namespace_ = buffer->meta.namespace_, .name = name};
  auto reply = co_await services_.client.get(*resource, key);
  if (!reply && reply.error().kind == base::ErrorKind::NotFound) {
    Resolved failed{.reason = by_template ? "PodTemplateNotFound" : "ScalableRefNotFound",
                    .message = std::string(resource->kind) + " " + name +
                               " does not exist in namespace " + buffer->meta.namespace_};
    co_return failed;
  }
  MW_CO_TRY(object, std::move(reply));
  auto resolved = read_source(*buffer, object);
  if (resolved.ok() && buffer->meta.annotation(model::kKeepForOwnerAnnotation) == "true") {
    std::string uid = buffer->meta.uid;
    if (!by_template) {
      MW_CO_TRY(found, co_await owner_of_pods(*resource, std::move(object)));
      uid = std::move(found);
    }
    const std::int32_t priority =
        priority_of_pods(resolved.pod_template.spec, *services_.state.snapshot());
    if (!uid.empty()) {
      resolved.owner = {.uid = std::move(uid), .priority = priority, .open = by_template};
    }
  }
  co_return resolved;
}

// From the PodTemplate or workload to the pods and their number.
Buffers::Resolved Buffers::read_source(const model::CapacityBuffer& buffer,
                                       const json::value& object) {
  const bool by_template = !buffer.pod_template.empty();
  const auto* described = model::find_path(object, by_template ? "template" : "spec.template");
  auto pod_template =
      model::decode_pod_template(described == nullptr ? json::value(json::object()) : *described);
  if (!pod_template) {
    return {.reason = "ResolutionFailed", .message = pod_template.error().message};
  }
  Resolved resolved;
  resolved.pod_template = *std::move(pod_template);
  if (by_template) {
    resolved.template_generation = whole_number(object, "metadata.generation", 0);
  } else {
    resolved.workload_replicas = whole_number(object, "spec.replicas", 1);
  }
  model::Pod pod;
  pod.spec = resolved.pod_template.spec;
  resolved.count =
      buffer_replicas(buffer, resolved.workload_replicas, scheduling::effective_requests(pod));
  if (resolved.count > kMostPods) {
    return {.reason = "ResolutionFailed",
            .message = "The buffer comes to " + std::to_string(resolved.count) + " pods; at most " +
                       std::to_string(kMostPods) + " are possible"};
  }
  return resolved;
}

// The uid that the workload's pods name as their controller: its own, or that of a Deployment's
// newest ReplicaSet; empty when there is none yet.
base::Task<base::Result<std::string>> Buffers::owner_of_pods(model::Resource resource,
                                                             json::value workload) {
  auto meta = model::decode_meta(workload);
  MW_CO_TRY(own, std::move(meta));
  if (resource != model::kDeploymentResource) {
    co_return own.uid;
  }
  kube::ListOptions options;
  options.namespace_ = own.namespace_;
  MW_CO_TRY(sets, co_await services_.client.list(model::kReplicaSetResource, std::move(options)));
  std::optional<model::ObjectMeta> newest;
  for (const auto& item : sets.items) {
    auto set = model::decode_meta(item);
    const auto* controller = set ? set->controller() : nullptr;
    if (controller != nullptr && controller->uid == own.uid &&
        (!newest || set->creation_timestamp > newest->creation_timestamp)) {
      newest = *std::move(set);
    }
  }
  co_return newest ? newest->uid : std::string();
}

base::Task<base::Result<>> Buffers::write_status(BufferPtr buffer,
                                                 std::shared_ptr<const Resolved> resolved) {
  using Status = model::ConditionStatus;
  auto conditions = buffer->conditions;
  const auto make = [&](std::string_view type, bool holds, std::string reason,
                        std::string message) {
    return model::Condition{.type = std::string(type),
                            .status = holds ? Status::True : Status::False,
                            .reason = std::move(reason),
                            .message = std::move(message),
                            .last_transition_time = services_.loop.now(),
                            .observed_generation = buffer->meta.generation};
  };
  bool changed = put_condition(conditions, make(model::kReadyForProvisioning, resolved->ok(),
                                                resolved->reason, resolved->message));
  const auto fit = services_.buffers->fit(model::key_of(buffer->meta), *services_.state.snapshot());
  model::Condition provisioning =
      make(model::kProvisioning, false, "RequiresNewCapacity",
           "Not all of the room is on nodes that are up; more is planned or cannot be had");
  if (!resolved->ok()) {
    provisioning = make(model::kProvisioning, false, "NotReadyForProvisioning", resolved->message);
  } else if (resolved->count == 0) {
    provisioning = make(model::kProvisioning, false, "BufferEmpty", "The buffer comes to no pods");
  } else if (fit == BufferRoom::Fit::Existing) {
    provisioning = make(model::kProvisioning, true, "FitsExistingCapacity", "");
  }
  if (!resolved->ok() || resolved->count == 0 || fit != BufferRoom::Fit::Unknown) {
    changed = put_condition(conditions, std::move(provisioning)) || changed;
  }
  json::object status;
  if (changed) {
    status["conditions"] = model::encode(conditions);
  }
  if (buffer->status_replicas != resolved->count) {
    status["replicas"] = resolved->count;
    status["provisioningStrategy"] = buffer->provisioning_strategy;
  }
  if (resolved->ok() && !buffer->pod_template.empty() &&
      (buffer->status_pod_template != buffer->pod_template ||
       buffer->pod_template_generation != resolved->template_generation)) {
    status["podTemplateRef"] = {{"name", buffer->pod_template}};
    status["podTemplateGeneration"] = resolved->template_generation;
  } else if (resolved->ok() && buffer->pod_template.empty() &&
             !buffer->status_pod_template.empty()) {
    status["podTemplateRef"] = nullptr;
    status["podTemplateGeneration"] = nullptr;
  }
  if (status.empty()) {
    co_return base::Result<>{};
  }
  json::object patch{{"status", std::move(status)}};
  MW_CO_TRY(object, co_await services_.client.patch(
                        model::kCapacityBufferResource, model::key_of(buffer->meta),
                        kube::PatchType::Merge, std::move(patch), "status"));
  MW_CO_TRY(updated, model::decode<model::CapacityBuffer>(object));
  services_.state.answered(std::make_shared<const model::CapacityBuffer>(std::move(updated)));
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
