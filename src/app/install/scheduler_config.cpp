#include "app/install/scheduler_config.hpp"

#include "app/settings/setting_file.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

namespace millwright::app {
namespace {

namespace json = boost::json;
using scheduling::DefaultSpread;

constexpr std::size_t kMaxConstraints = 64;

// A problem is a sentence that begins with the field.
using Problem = std::string;

Problem wrong(const std::string& field, const std::string& what) {
  return field + " " + what;
}

Problem unknown_field(const json::object& object, const std::string& path,
                      std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object) {
    if (std::find(known.begin(), known.end(), std::string_view(key)) == known.end()) {
      return wrong(path + (path.empty() ? "" : ".") + std::string(key), "is not a known field");
    }
  }
  return {};
}

class ConstraintReader {
 public:
  ConstraintReader(const json::value& value, std::string path)
      : value_(value), path_(std::move(path)) {}

  Problem read(model::TopologySpreadConstraint& out) {
    const json::object* const object = value_.if_object();
    if (object == nullptr) {
      return wrong(path_, "must be an object");
    }
    for (const std::string_view ours : {"labelSelector", "matchLabelKeys"}) {
      if (object->contains(ours)) {
        return wrong(field(ours),
                     "must not be set: whom a pod is spread with follows from its "
                     "Services and its controller");
      }
    }
    Problem problem = unknown_field(*object, path_,
                                    {"maxSkew", "topologyKey", "whenUnsatisfiable", "minDomains",
                                     "nodeAffinityPolicy", "nodeTaintsPolicy"});
    const auto then = [&problem](Problem next) {
      if (problem.empty()) {
        problem = std::move(next);
      }
    };
    std::optional<std::int32_t> skew;
    then(read_count(*object, "maxSkew", skew));
    then(skew ? Problem() : wrong(field("maxSkew"), "must be set"));
    out.max_skew = skew.value_or(1);
    then(read_text(*object, "topologyKey", {}, out.topology_key));
    then(key_problem(out.topology_key));
    then(read_text(*object, "whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"},
                   out.when_unsatisfiable));
    then(out.when_unsatisfiable.empty() ? wrong(field("whenUnsatisfiable"), "must be set")
                                        : Problem());
    then(read_count(*object, "minDomains", out.min_domains));
    then(out.min_domains && out.when_unsatisfiable != "DoNotSchedule"
             ? wrong(field("minDomains"), "goes with whenUnsatisfiable DoNotSchedule only")
             : Problem());
    then(read_text(*object, "nodeAffinityPolicy", {"Honor", "Ignore"}, out.node_affinity_policy));
    then(read_text(*object, "nodeTaintsPolicy", {"Honor", "Ignore"}, out.node_taints_policy));
    return problem;
  }

 private:
  std::string field(std::string_view name) const { return path_ + "." + std::string(name); }

  Problem key_problem(const std::string& key) const {
    if (key.empty()) {
      return wrong(field("topologyKey"), "must be set");
    }
    const std::string problem = model::qualified_name_problem(key);
    return problem.empty() ? Problem() : wrong(field("topologyKey"), "is no label key: " + problem);
  }

  Problem read_count(const json::object& object, std::string_view name,
                     std::optional<std::int32_t>& out) const {
    const json::value* const value = object.if_contains(name);
    if (value == nullptr || value->is_null()) {
      return {};
    }
    if (!value->is_int64() || value->as_int64() < 1 ||
        value->as_int64() > std::numeric_limits<std::int32_t>::max()) {
      return wrong(field(name), "must be a whole number above 0");
    }
    out = static_cast<std::int32_t>(value->as_int64());
    return {};
  }

  Problem read_text(const json::object& object, std::string_view name,
                    std::initializer_list<std::string_view> choices, std::string& out) const {
    const json::value* const value = object.if_contains(name);
    if (value == nullptr || value->is_null()) {
      return {};
    }
    const json::string* const text = value->if_string();
    const bool chosen = text != nullptr && (choices.size() == 0 ||
                                            std::find(choices.begin(), choices.end(),
                                                      std::string_view(*text)) != choices.end());
    if (!chosen) {
      std::string list;
      for (const std::string_view choice : choices) {
        list.append(list.empty() ? "" : " or ").append(choice);
      }
      return wrong(field(name), "must be " + (list.empty() ? std::string("a text") : list));
    }
    out = *text;
    return {};
  }

  const json::value& value_;
  std::string path_;
};

Problem read_constraints(const json::value& list, const std::string& path, DefaultSpread& out) {
  const json::array* const items = list.if_array();
  if (items == nullptr || items->size() > kMaxConstraints) {
    return wrong(path, "must be a list of at most " + std::to_string(kMaxConstraints));
  }
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string item_path = path + "[" + std::to_string(i) + "]";
    model::TopologySpreadConstraint constraint;
    if (Problem problem = ConstraintReader((*items)[i], item_path).read(constraint);
        !problem.empty()) {
      return problem;
    }
    const bool twice =
        std::any_of(out.constraints.begin(), out.constraints.end(), [&](const auto& other) {
          return other.topology_key == constraint.topology_key &&
                 other.when_unsatisfiable == constraint.when_unsatisfiable;
        });
    if (twice) {
      return wrong(item_path, "repeats topologyKey " + constraint.topology_key +
                                  " with whenUnsatisfiable " + constraint.when_unsatisfiable);
    }
    out.constraints.push_back(std::move(constraint));
  }
  return {};
}

// PodTopologySpreadArgs. kube-scheduler takes System when it is not told; Karpenter knows no type.
Problem read_args(const json::value& value, const std::string& path, std::string_view default_type,
                  DefaultSpread& out) {
  const json::object* const args = value.if_object();
  if (args == nullptr) {
    return wrong(path, "must be an object");
  }
  if (Problem problem = unknown_field(
          *args, path, {"apiVersion", "kind", "defaultConstraints", "defaultingType"});
      !problem.empty()) {
    return problem;
  }
  std::string type(default_type);
  if (const auto* given = args->if_contains("defaultingType"); given != nullptr) {
    if (!given->is_string() || (given->as_string() != "List" && given->as_string() != "System")) {
      return wrong(path + ".defaultingType", "must be List or System");
    }
    type = given->as_string();
  }
  if (const auto* list = args->if_contains("defaultConstraints");
      list != nullptr && !list->is_null()) {
    if (Problem problem = read_constraints(*list, path + ".defaultConstraints", out);
        !problem.empty()) {
      return problem;
    }
  }
  return type == "List" || out.constraints.empty()
             ? Problem()
             : wrong(path + ".defaultingType", "must be List where there are defaultConstraints");
}

Problem read_profile(const json::value& value, const std::string& path,
                     std::vector<DefaultSpread>& out) {
  const json::object* const profile = value.if_object();
  if (profile == nullptr) {
    return wrong(path, "must be an object");
  }
  const auto* name = profile->if_contains("schedulerName");
  DefaultSpread defaults{.scheduler_name = name != nullptr && name->is_string()
                                               ? std::string(name->as_string())
                                               : std::string("default-scheduler"),
                         .constraints = {}};
  const auto* plugins = profile->if_contains("pluginConfig");
  if (plugins != nullptr && plugins->is_array()) {
    for (std::size_t i = 0; i < plugins->as_array().size(); ++i) {
      const auto* plugin = plugins->as_array()[i].if_object();
      const auto* args = plugin == nullptr ? nullptr : plugin->if_contains("args");
      const auto* of = plugin == nullptr ? nullptr : plugin->if_contains("name");
      if (args == nullptr || of == nullptr || *of != "PodTopologySpread") {
        continue;
      }
      if (Problem problem = read_args(*args, path + ".pluginConfig[" + std::to_string(i) + "].args",
                                      "System", defaults);
          !problem.empty()) {
        return problem;
      }
    }
  }
  if (!defaults.constraints.empty()) {
    out.push_back(std::move(defaults));
  }
  return {};
}

Problem read_document(const json::object& document, std::vector<DefaultSpread>& out) {
  const auto* kind = document.if_contains("kind");
  if (kind == nullptr) {
    if (Problem problem = unknown_field(document, "", {"podTopologySpread"}); !problem.empty()) {
      return problem +
             "; give podTopologySpread.defaultConstraints, or a KubeSchedulerConfiguration";
    }
    const auto* spread = document.if_contains("podTopologySpread");
    DefaultSpread defaults;
    Problem problem =
        spread == nullptr ? Problem() : read_args(*spread, "podTopologySpread", "List", defaults);
    if (problem.empty() && !defaults.constraints.empty()) {
      out.push_back(std::move(defaults));
    }
    return problem;
  }
  if (*kind != "KubeSchedulerConfiguration") {
    return wrong("kind", "must be KubeSchedulerConfiguration");
  }
  const auto* profiles = document.if_contains("profiles");
  if (profiles == nullptr || !profiles->is_array()) {
    return {};
  }
  for (std::size_t i = 0; i < profiles->as_array().size(); ++i) {
    if (Problem problem =
            read_profile(profiles->as_array()[i], "profiles[" + std::to_string(i) + "]", out);
        !problem.empty()) {
      return problem;
    }
  }
  return {};
}

}  // namespace

base::Result<std::vector<DefaultSpread>> parse_scheduler_config(std::string_view yaml) {
  MW_TRY(documents, model::parse_yaml(yaml));
  std::vector<DefaultSpread> defaults;
  for (const auto& document : documents) {
    const json::object* const object = document.if_object();
    Problem problem = object == nullptr      ? wrong("it", "must be an object")
                      : documents.size() > 1 ? wrong("it", "must be one document")
                                             : read_document(*object, defaults);
    if (!problem.empty()) {
      return base::fail(base::ErrorKind::Invalid, std::move(problem));
    }
  }
  return defaults;
}

base::Result<std::vector<DefaultSpread>> load_scheduler_config(std::string_view value) {
  if (!value.starts_with('/')) {
    return parse_scheduler_config(value);
  }
  const std::string path(value);
  MW_TRY(text, read_setting_file(path));
  auto defaults = parse_scheduler_config(text);
  if (!defaults) {
    return base::fail(base::ErrorKind::Invalid,
                      "names " + path + ", in which " + defaults.error().message);
  }
  return defaults;
}

}  // namespace millwright::app
