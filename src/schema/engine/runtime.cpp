#include "schema/engine/runtime.hpp"

#include "millwright/model/labels.hpp"
#include "millwright/model/selector.hpp"
#include "millwright/schema/shown.hpp"
#include "schema/engine/go_text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace millwright::schema {
namespace {

std::string item(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

// More than are told, since those of the object as it was are left out; but an object of some MiB
// can have hundreds of thousands.
constexpr std::size_t kMostFound = 10'000;

class Checker {
 public:
  explicit Checker(std::vector<Problem>& problems) : problems_(problems) {}

  void labels(const std::string& path, const json::object& labels, std::string_view pool_key) {
    for (const auto& [key, value] : labels) {
      const std::string entry = path + "[" + std::string(key) + "]";
      const std::string_view normalized = model::normalized_label_key(key);
      if (normalized == pool_key) {
        report(entry, value, "set by the controller on every node; leave it out");
      } else if (model::is_restricted_label(normalized)) {
        report(entry, value, restricted(key));
      }
      report_if(entry, value, model::qualified_name_problem(key));
      report_if(entry, value, model::label_value_problem(as_text(&value)));
    }
  }

  // Taints are told apart by key and effect, over both lists together.
  void taints(const std::string& path, const json::array& taints) {
    for (std::size_t i = 0; i < taints.size(); ++i) {
      const std::string_view key = text_at(taints[i], "key");
      const std::string_view effect = text_at(taints[i], "effect");
      report_if(item(path, i) + ".key", json::string(key), model::qualified_name_problem(key));
      report_if(item(path, i) + ".value", json::string(text_at(taints[i], "value")),
                model::label_value_problem(text_at(taints[i], "value")));
      if (!taints_seen_.emplace(key, effect).second) {
        report(item(path, i), taints[i],
               "a taint of this key and effect is listed already; taints and startupTaints "
               "together may hold it once");
      }
    }
  }

  void requirements(const std::string& path, const json::array& requirements,
                    std::string_view pool_key) {
    for (std::size_t i = 0; i < requirements.size(); ++i) {
      requirement(item(path, i), requirements[i], pool_key);
    }
  }

 private:
  void requirement(const std::string& path, const json::value& requirement,
                   std::string_view pool_key) {
    const std::string_view written = text_at(requirement, "key");
    const std::string_view key = model::normalized_label_key(written);
    const json::string key_value(written);
    if (key == pool_key) {
      report(path + ".key", key_value, "the NodePool sets this label itself; leave it out");
    } else if (model::is_restricted_label(key)) {
      report(path + ".key", key_value, restricted(written));
    }
    report_if(path + ".key", key_value, model::qualified_name_problem(key));
    const json::array& values = list_at(requirement, "values");
    for (std::size_t i = 0; i < values.size(); ++i) {
      report_if(item(path + ".values", i), values[i],
                model::label_value_problem(as_text(&values[i])));
    }
    operator_rules(path, requirement, key, values);
  }

  void operator_rules(const std::string& path, const json::value& requirement, std::string_view key,
                      const json::array& values) {
    const auto op = model::parse_operator(text_at(requirement, "operator"));
    if (!op) {
      report(path + ".operator", json::string(text_at(requirement, "operator")),
             "expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte");
      return;
    }
    const auto least = integer_at(requirement, "minValues");
    switch (*op) {
      case model::Operator::In:
        in_rules(path, requirement, key, values, least);
        break;
      case model::Operator::Gt:
      case model::Operator::Lt:
      case model::Operator::Gte:
      case model::Operator::Lte:
        if (values.size() != 1 || parse_go_int(as_text(&values[0])).value_or(-1) < 0) {
          report(path, requirement, "expected exactly one value, a whole number of at least 0");
        }
        break;
      default:
        break;
    }
  }

  void in_rules(const std::string& path, const json::value& requirement, std::string_view key,
                const json::array& values, std::optional<std::int64_t> least) {
    if (values.empty()) {
      report(path, requirement, "operator In needs at least one value");
    }
    if (least && static_cast<std::int64_t>(values.size()) < *least) {
      report(path, requirement, "expected at least minValues values");
    }
    if (key != model::kCapacityTypeLabel || values.empty()) {
      return;
    }
    // Values that are no capacity type are ignored as long as enough known ones are left.
    const auto known = std::count_if(values.begin(), values.end(), [](const json::value& value) {
      const std::string_view type = as_text(&value);
      return type == model::kOnDemand || type == model::kSpot || type == model::kReserved;
    });
    if (known == 0 || (least && known < *least)) {
      report(path + ".values", json::value(values),
             "expected at least " + std::to_string(std::max<std::int64_t>(least.value_or(1), 1)) +
                 " of \"on-demand\", \"spot\", \"reserved\"");
    }
  }

  static std::string restricted(std::string_view key) {
    return "\"" + std::string(key) +
           "\" belongs to the controller or the cloud and is no well-known label; use a key of "
           "your own domain";
  }

  void report(std::string path, const json::value& value, std::string message) {
    if (problems_.size() < kMostFound) {
      problems_.push_back({std::move(path), shown(value), std::move(message)});
    }
  }

  void report_if(const std::string& path, const json::value& value, std::string message) {
    if (!message.empty()) {
      report(path, value, std::move(message));
    }
  }

  std::vector<Problem>& problems_;
  std::set<std::pair<std::string_view, std::string_view>> taints_seen_;
};

const json::value& member_or_null(const json::value& parent, std::string_view name) {
  static const json::value kNull;
  const json::value* found = member(parent, name);
  return found == nullptr ? kNull : *found;
}

}  // namespace

void check_node_pool(const json::value& object, std::vector<Problem>& problems) {
  const json::value& pool = member_or_null(object, "spec");
  const json::value& claim_template = member_or_null(pool, "template");
  const json::value& spec = member_or_null(claim_template, "spec");
  const std::string path = "spec.template.spec.";
  Checker checker(problems);
  checker.labels("spec.template.metadata.labels",
                 object_at(member_or_null(claim_template, "metadata"), "labels"),
                 model::kNodePoolLabel);
  checker.taints(path + "taints", list_at(spec, "taints"));
  checker.taints(path + "startupTaints", list_at(spec, "startupTaints"));
  checker.requirements(path + "requirements", list_at(spec, "requirements"), model::kNodePoolLabel);
}

void check_node_claim(const json::value& object, std::vector<Problem>& problems) {
  const json::value& spec = member_or_null(object, "spec");
  Checker checker(problems);
  checker.taints("spec.taints", list_at(spec, "taints"));
  checker.taints("spec.startupTaints", list_at(spec, "startupTaints"));
  checker.requirements("spec.requirements", list_at(spec, "requirements"), {});
}

void check_node_overlay(const json::value& object, std::vector<Problem>& problems) {
  const json::value& spec = member_or_null(object, "spec");
  Checker(problems).requirements("spec.requirements", list_at(spec, "requirements"), {});
}

void check_provisioner(const json::value& object, std::vector<Problem>& problems) {
  const json::value& spec = member_or_null(object, "spec");
  Checker checker(problems);
  checker.labels("spec.labels", object_at(spec, "labels"), "karpenter.sh/provisioner-name");
  checker.taints("spec.taints", list_at(spec, "taints"));
  checker.taints("spec.startupTaints", list_at(spec, "startupTaints"));
  checker.requirements("spec.requirements", list_at(spec, "requirements"),
                       "karpenter.sh/provisioner-name");
}

}  // namespace millwright::schema
