#include "schema/kinds/common.hpp"

#include "schema/engine/go_text.hpp"
#include "schema/engine/rules.hpp"

#include <utility>

namespace millwright::schema {
namespace {

const std::vector<std::string> kKarpenterKeys{"karpenter.sh/capacity-type",
                                              "karpenter.sh/nodepool"};
const std::vector<std::string> kKwokKeys{
    "karpenter.kwok.sh/kwoknodeclass", "karpenter.kwok.sh/instance-cpu",
    "karpenter.kwok.sh/instance-memory", "karpenter.kwok.sh/instance-family",
    "karpenter.kwok.sh/instance-size"};

// Gt, Lt, Gte and Lte compare whole numbers.
bool compares(std::string_view op) {
  return op == "Gt" || op == "Lt" || op == "Gte" || op == "Lte";
}

Rule key_domain_rule(std::string domain, const std::vector<std::string>& allowed) {
  Rule rule;
  rule.cel = rules::domain_cel("self", domain, allowed);
  rule.message = "keys of the domain \"" + domain + "\" belong to the controller; of them only " +
                 rules::quoted_list(allowed) + " may be used";
  rule.holds = [domain = std::move(domain), &allowed](const json::value& self) {
    return rules::domain_allows(as_text(&self), domain, allowed);
  };
  return rule;
}

Field requirement_key(RequirementsOf owner) {
  Field key = string("Label key that the requirement is about.")
                  .size_at_most(316)
                  .pattern(patterns::qualified_name())
                  .rule(key_domain_rule("karpenter.sh", kKarpenterKeys))
                  .rule(key_domain_rule("karpenter.kwok.sh", kKwokKeys))
                  .rule(rules::not_one_of({"kubernetes.io/hostname"},
                                          "nodes get their host name when they are made; it "
                                          "cannot be required"));
  if (owner != RequirementsOf::NodeClaim && owner != RequirementsOf::NodeOverlay) {
    key = std::move(key).rule(rules::not_one_of(
        {"karpenter.sh/nodepool"}, "the NodePool sets this label itself; leave it out"));
  }
  return key;
}

bool has_min_values(RequirementsOf owner) {
  return owner == RequirementsOf::NodePool || owner == RequirementsOf::NodeClaim;
}

Field requirement_fields(RequirementsOf owner) {
  std::vector<std::string> operators{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  std::vector<Member> more;
  if (owner != RequirementsOf::Provisioner) {
    operators.insert(operators.end(), {"Gte", "Lte"});
  }
  if (has_min_values(owner)) {
    more.push_back(optional(
        "minValues", int32("Least number of different values of this key that the instance types "
                           "offered to a node must cover (alpha).")
                         .between(1, 50)));
  }
  Field fields = object(
      "One requirement; a node has to meet all of them.",
      {required("key", requirement_key(owner)),
       required("operator", string("How the label is compared with the values.").one_of(operators)),
       optional("values", list_of("Values to compare with. In needs at least one, Gt, Lt, "
                                  "Gte and Lte exactly one whole number, Exists and "
                                  "DoesNotExist none.",
                                  string("A label value.")))});
  fields.members.insert(fields.members.end(), more.begin(), more.end());
  return fields;
}

Rule in_needs_values() {
  return {"self.operator != 'In' || (has(self.values) && size(self.values) > 0)",
          "operator In needs at least one value",
          [](const json::value& self) {
            return text_at(self, "operator") != "In" || !list_at(self, "values").empty();
          },
          {}};
}

Rule not_in_needs_values() {
  return {"self.operator != 'NotIn' || (has(self.values) && size(self.values) > 0)",
          "operator NotIn needs at least one value",
          [](const json::value& self) {
            return text_at(self, "operator") != "NotIn" || !list_at(self, "values").empty();
          },
          {}};
}

Rule comparison_needs_one_number() {
  return {
      "!(self.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(self.values) && "
      "size(self.values) == 1 && int(self.values[0]) >= 0)",
      "operators Gt, Lt, Gte and Lte need exactly one value, a whole number of at least 0",
      [](const json::value& self) {
        const json::array& values = list_at(self, "values");
        return !compares(text_at(self, "operator")) ||
               (values.size() == 1 && parse_go_int(as_text(&values[0])).value_or(-1) >= 0);
      },
      {}};
}

Rule enough_values() {
  return {
      "self.operator != 'In' || !has(self.minValues) || (has(self.values) && "
      "size(self.values) >= self.minValues)",
      "operator In with minValues needs at least that many values",
      [](const json::value& self) {
        const auto least = integer_at(self, "minValues");
        return text_at(self, "operator") != "In" || !least ||
               static_cast<std::int64_t>(list_at(self, "values").size()) >= *least;
      },
      {}};
}

}  // namespace

Field resource_map(std::string description) {
  return map_of(std::move(description), quantity("Amount of the resource."));
}

Field taint_list(std::string description) {
  return list_of(
      std::move(description),
      object("A taint: pods that do not tolerate it stay away.",
             {required(
                  "key",
                  string("Key of the taint.").size_at_least(1).pattern(patterns::qualified_name())),
              optional("value", string("Value of the taint.").pattern(patterns::qualified_name())),
              required("effect", string("What happens to pods that do not tolerate the taint.")
                                     .one_of({"NoSchedule", "PreferNoSchedule", "NoExecute"})),
              optional("timeAdded", date_time("When the taint was added."))}));
}

Field requirement_list(std::string description, RequirementsOf owner) {
  Field requirement =
      requirement_fields(owner).rule(in_needs_values()).rule(comparison_needs_one_number());
  if (has_min_values(owner)) {
    requirement = std::move(requirement).rule(enough_values());
  }
  if (owner == RequirementsOf::NodeOverlay) {
    requirement = std::move(requirement).rule(not_in_needs_values());
  }
  return list_of(std::move(description), std::move(requirement)).size_at_most(100);
}

Field image_requirement_list() {
  return list_of(
      "Requirements of instance types that can run the image.",
      object("One requirement.",
             {required("key", string("Label key.")),
              required("operator", string("In, NotIn, Exists, DoesNotExist, Gt or Lt.")),
              optional("values", list_of("Values to compare with.", string("A label value.")))}));
}

Field node_class_ref(ReferenceChange change) {
  Field reference =
      object("The NodeClass that says how nodes are made in the cloud.",
             {required("group", string("API group of the NodeClass, without a version.")
                                    .size_at_least(1)
                                    .pattern(patterns::group())),
              required("kind", string("Kind of the NodeClass.").size_at_least(1)),
              required("name", string("Name of the NodeClass.").size_at_least(1))});
  if (change == ReferenceChange::NameOnly) {
    reference =
        std::move(reference).rule(rules::unchanging("group")).rule(rules::unchanging("kind"));
  }
  return reference;
}

Field condition_list(ConditionText text) {
  const bool complete = text == ConditionText::Complete;
  Field reason =
      string("Why the condition has its status, as one CamelCase word.")
          .size_at_most(1024)
          .pattern(complete ? patterns::condition_reason() : patterns::condition_reason_or_empty());
  if (complete) {
    reason = std::move(reason).size_at_least(1);
  }
  return list_of(
             "What the controller has found out about the object, one item per condition type.",
             object("One condition.",
                    {required("lastTransitionTime", date_time("When the status last changed.")),
                     {"message", string("Details for people.").size_at_most(32768), complete},
                     optional(
                         "observedGeneration",
                         int64("Generation of the object the condition was found on.").at_least(0)),
                     {"reason", std::move(reason), complete},
                     required("status", string("Whether the condition holds.")
                                            .one_of({"True", "False", "Unknown"})),
                     required("type", string("What the condition is about.")
                                          .size_at_most(316)
                                          .pattern(patterns::qualified_name()))}))
      .keyed_by({"type"});
}

Field label_map(std::string description) {
  return map_of(std::move(description),
                string("Value of the label.").size_at_most(63).pattern(patterns::label_value()))
      .size_at_most(100)
      .as_atomic()
      .entry_rule({rules::domain_cel("k", "karpenter.sh", kKarpenterKeys),
                   "labels of the domain \"karpenter.sh\" belong to the controller; of them only "
                   "\"karpenter.sh/capacity-type\" may be set",
                   [](std::string_view key, const json::value&) {
                     return rules::domain_allows(key, "karpenter.sh", kKarpenterKeys);
                   }})
      .entry_rule(
          {"k != 'karpenter.sh/nodepool'", "the NodePool sets this label itself; leave it out",
           [](std::string_view key, const json::value&) { return key != "karpenter.sh/nodepool"; }})
      .entry_rule({"k != 'kubernetes.io/hostname'",
                   "nodes get their host name when they are made; leave it out",
                   [](std::string_view key, const json::value&) {
                     return key != "kubernetes.io/hostname";
                   }});
}

Field selector_tags(EntryRule rule) {
  return map_of("Tags that the resource has to carry, all of them. The value \"*\" stands for any.",
                string("Value of the tag."))
      .size_at_most(20)
      .entry_rule(std::move(rule));
}

Field security_group_terms(EntryRule tag_rule) {
  static const Pattern kId("sg-[0-9a-z]+", "a security group id such as \"sg-0a1b2c3d\"");
  return list_of(
             "Which security groups instances get: all that meet one term.",
             object("A term.", {optional("tags", selector_tags(std::move(tag_rule))),
                                optional("id", string("Id of the security group.").pattern(kId)),
                                optional("name", string("Name of the security group."))})
                 .rule(rules::at_least_one_of({"tags", "id", "name"}))
                 .rule(rules::excludes("id", {"tags", "name"}))
                 .rule(rules::excludes("name", {"tags"})))
      .size_at_least(1)
      .size_at_most(30);
}

Field resolved_list(std::string description, std::vector<Member> members) {
  return list_of(std::move(description),
                 object("One resource that the selector terms found.", std::move(members)));
}

}  // namespace millwright::schema
