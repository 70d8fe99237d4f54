#include "millwright/controllers/legacy/legacy.hpp"

#include "millwright/kube/informer.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <charconv>
#include <map>
#include <utility>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kMigrationRetry = std::chrono::seconds(5);
constexpr auto kLookForDeleted = std::chrono::seconds(10);
constexpr auto kVersionPeriod = std::chrono::minutes(5);

// The 33 of "33" and "33+"; 0 when it cannot be read.
int minor_of(const json::value& version) {
  const auto text = model::text_at(version, "minor");
  int minor = 0;
  std::from_chars(text.data(), text.data() + text.size(), minor);
  return minor;
}

class Translator {
 public:
  // Of one kind, as the API server has them.
  struct Objects {
    std::map<std::string, json::value> by_name;
    bool is_listed = false;  // or is not installed
  };

  Translator(Services& services, LegacySettings settings)
      : services_(services), settings_(std::move(settings)), changed_(services.loop) {}

  kube::InformerHandlers handlers(Objects& objects) {
    const auto listed = [this, &objects] {
      objects.is_listed = true;
      changed_.notify();
    };
    return {.upsert =
                [this, &objects](const json::value& object) {
                  const auto* name = model::find_path(object, "metadata.name");
                  objects.by_name[std::string(name->as_string())] = object;
                  changed_.notify();
                },
            .remove =
                [this, &objects](const model::ObjectKey& key, const std::string& uid) {
                  objects.by_name.erase(key.name);  // what it owned is collected with it
                  forget_invalid(uid);
                  changed_.notify();
                },
            .synced = listed,
            // A kind that may not be listed, perhaps for a while, is not one without objects.
            .not_listable =
                [listed](const base::Error& why) {
                  if (why.kind == base::ErrorKind::NotFound) {
                    listed();
                  }
                }};
  }

  base::Task<void> run(std::stop_token stop) {
    base::TaskGroup group(services_.loop);
    const auto log = services_.log.named("legacy");
    kube::InformerOptions of_provisioners{
        .resource = model::kProvisionerResource, .seed = services_.seed + 101, .log = log};
    group.spawn(kube::run_informer(services_.client, std::move(of_provisioners),
                                   handlers(provisioners_), stop));
    kube::InformerOptions of_templates{
        .resource = model::kAwsNodeTemplateResource, .seed = services_.seed + 102, .log = log};
    group.spawn(
        kube::run_informer(services_.client, std::move(of_templates), handlers(templates_), stop));
    std::optional<base::Duration> retry;
    while (!stop.stop_requested()) {
      const bool changed = co_await changed_.wait(stop, retry.value_or(kLookForDeleted));
      if (stop.stop_requested()) {
        break;
      }
      // A Provisioner without its template would be translated into something else.
      if (!provisioners_.is_listed || !templates_.is_listed) {
        continue;
      }
      const bool any_deleted = forget_deleted();
      const bool upgraded = co_await version_changed(stop);
      if (!changed && !any_deleted && !upgraded && !retry) {
        continue;
      }
      bool complete = is_idle();
      if (!complete && version_known_) {
        complete = co_await translate_all();
      }
      retry = complete ? std::nullopt : std::optional<base::Duration>(kMigrationRetry);
    }
    co_await group.join();
  }

 private:
  bool is_idle() const { return templates_.by_name.empty() && provisioners_.by_name.empty(); }

  // The version decides which images a template stands for that names none.
  base::Task<bool> version_changed(std::stop_token stop) {
    if (is_idle() || (version_known_ && services_.loop.now() < version_until_)) {
      co_return false;
    }
    kube::ApiRequest request;
    request.path = "/version";
    const auto answer = co_await services_.client.transport().call(std::move(request), stop);
    const auto version = model::parse_json(answer && answer->status == 200 ? answer->body : "");
    if (!version) {
      services_.log.warn("the version of Kubernetes could not be read, will try again", {});
      co_return false;
    }
    const int before = std::exchange(settings_.kubernetes_minor, minor_of(*version));
    version_until_ = services_.loop.now() + kVersionPeriod;
    version_known_ = true;
    co_return before != settings_.kubernetes_minor;
  }

  base::Task<bool> translate_all() {
    bool complete = true;
    // Copies: the maps may change while a write is under way.
    const auto templates = templates_.by_name;
    const auto provisioners = provisioners_.by_name;
    for (const auto& [name, node_template] : templates) {
      auto translated = translate_node_template(node_template, settings_);
      if (!translated) {
        refuse(model::kAwsNodeTemplateResource, node_template, translated.error());
        continue;
      }
      note(model::kAwsNodeTemplateResource, node_template, translated->notes, false);
      note(model::kAwsNodeTemplateResource, node_template, translated->warnings, true);
      const bool applied = co_await apply(model::kEc2NodeClassResource, translated->node_class,
                                          model::kAwsNodeTemplateResource, node_template);
      complete = complete && applied;
    }
    for (const auto& [name, provisioner] : provisioners) {
      auto translated = translate_provisioner(provisioner, template_for(provisioner), settings_);
      if (!translated) {
        refuse(model::kProvisionerResource, provisioner, translated.error());
        continue;
      }
      note(model::kProvisionerResource, provisioner, translated->notes, false);
      note(model::kProvisionerResource, provisioner, translated->warnings, true);
      if (translated->node_class) {
        const bool applied = co_await apply(model::kEc2NodeClassResource, *translated->node_class,
                                            model::kProvisionerResource, provisioner);
        complete = complete && applied;
      }
      const bool applied = co_await apply(model::kNodePoolResource, translated->node_pool,
                                          model::kProvisionerResource, provisioner);
      complete = complete && applied;
    }
    co_return complete;
  }

  // What was deleted by hand has to be written again, though its text has not changed. An object
  // that was written but not seen yet is only written once more.
  bool forget_deleted() {
    const auto snapshot = services_.state.snapshot();
    const auto& ec2 = model::kEc2NodeClassResource;
    const auto forgotten = std::erase_if(applied_, [&](const auto& item) {
      const auto slash = item.first.find('/');
      const std::string name = item.first.substr(slash + 1);
      const model::NodeClassReference ref{
          .group = std::string(ec2.group), .kind = std::string(ec2.kind), .name = name};
      return item.first.substr(0, slash) == ec2.kind ? find_node_class(*snapshot, ref) == nullptr
                                                     : find_pool(*snapshot, name) == nullptr;
    });
    return snapshot->synced && forgotten > 0;
  }

  const json::value* template_for(const json::value& provisioner) const {
    const auto& templates = templates_.by_name;
    const auto found =
        templates.find(std::string(model::text_at(provisioner, "spec.providerRef.name")));
    return found == templates.end() ? nullptr : &found->second;
  }

  static kube::ObjectReference reference(const model::Resource& resource,
                                         const json::value& object) {
    const auto meta = model::decode_meta(object);
    return kube::reference_to(resource, meta.value_or(model::ObjectMeta{}));
  }

  void refuse(const model::Resource& resource, const json::value& object,
              const base::Error& error) {
    services_.log.error("cannot translate a legacy object", {{"error", error.message}});
    services_.events.record({.object = reference(resource, object),
                             .warning = true,
                             .reason = "TranslationFailed",
                             .message = error.message,
                             .dedupe_values = {}});
  }

  // What cannot be written as it is will be tried for as long as it stays so, and is told once.
  void tell_invalid(const std::string& id, const model::Resource& resource,
                    const json::value& owner, const base::Error& error) {
    std::string& told = invalid_[{std::string(model::text_at(owner, "metadata.uid")), id}];
    if (told != error.message) {
      told = error.message;
      refuse(resource, owner, error);
    }
  }

  void forget_invalid(const std::string& owner) {
    std::erase_if(invalid_, [&owner](const auto& item) { return item.first.first == owner; });
  }

  void note(const model::Resource& resource, const json::value& object,
            const std::vector<std::string>& notes, bool warning) {
    for (const auto& text : notes) {
      services_.events.record({.object = reference(resource, object),
                               .warning = warning,
                               .reason = "Translated",
                               .message = text,
                               .dedupe_values = {}});
    }
  }

  // Unchanged objects are not written again.
  base::Task<bool> apply(model::Resource resource, json::value object,
                         model::Resource owner_resource, json::value owner) {
    const auto meta = model::decode_meta(owner);
    if (!meta || meta->is_deleting()) {
      co_return true;
    }
    auto& metadata = object.at("metadata").as_object();
    metadata["ownerReferences"] =
        json::array{model::encode(model::OwnerReference{.api_version = owner_resource.api_version(),
                                                        .kind = std::string(owner_resource.kind),
                                                        .name = meta->name,
                                                        .uid = meta->uid,
                                                        .controller = true,
                                                        .block_owner_deletion = true})};
    metadata["labels"] = json::object{{model::kLegacyOwnerLabel, meta->name}};
    const std::string id =
        std::string(resource.kind) + "/" + json::value_to<std::string>(metadata.at("name"));
    const std::string text = json::serialize(object);
    if (const auto known = applied_.find(id); known != applied_.end() && known->second == text) {
      co_return true;
    }
    auto reply = co_await services_.client.apply(resource, std::move(object));
    if (!reply) {
      services_.log.warn("writing a translated object failed, will try again",
                         {{"object", id}, {"error", reply.error().message}});
      if (reply.error().kind == base::ErrorKind::Invalid) {
        tell_invalid(id, owner_resource, owner, reply.error());
      }
      co_return false;
    }
    invalid_.erase({meta->uid, id});
    applied_[id] = text;
    co_return true;
  }

  Services& services_;
  LegacySettings settings_;
  bool version_known_ = false;
  base::TimePoint version_until_{};
  base::Signal changed_;
  Objects provisioners_;
  Objects templates_;
  std::map<std::string, std::string> applied_;  // kind/name to the text last written
  // Of an owner's uid and kind/name of what it stands for: what the API server said is wrong. Two
  // owners may stand for one object, and are told each of its own.
  std::map<std::pair<std::string, std::string>, std::string> invalid_;
};

}  // namespace

base::Task<void> run_legacy_translation(Services& services, LegacySettings settings,
                                        std::stop_token stop) {
  const auto& ec2 = model::kEc2NodeClassResource;
  if (services.providers.find(ec2.group, ec2.kind) == nullptr) {
    co_return;
  }
  Translator translator(services, std::move(settings));
  co_await translator.run(std::move(stop));
}

}  // namespace millwright::controllers
