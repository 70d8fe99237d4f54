#include "checker/plan/plan_text.hpp"

#include <sstream>

namespace millwright::checker {

std::string text_of(const scheduling::Plan& plan) {
  std::ostringstream out;
  out.precision(17);
  for (const auto& claim : plan.claims) {
    out << "claim " << claim.node_pool << " " << claim.price << " "
        << claim.requirements.to_string();
    for (const auto& type : claim.instance_types) {
      out << " " << type;
    }
    for (const auto& [name, quantity] : claim.requests) {
      out << " " << name << "=" << quantity.to_string();
    }
    for (const auto* map : {&claim.labels, &claim.annotations}) {
      for (const auto& [key, value] : *map) {
        out << " " << key << "=" << value;
      }
    }
    for (const auto& uid : claim.pod_uids) {
      out << " " << uid;
    }
    out << "\n";
  }
  for (const auto& placement : plan.placements) {
    out << placement.pod_uid << " " << placement.step << " ";
    if (const auto* name = std::get_if<std::string>(&placement.target)) {
      out << *name << "\n";
    } else {
      out << std::get<std::size_t>(placement.target) << "\n";
    }
  }
  for (const auto& refusal : plan.refusals) {
    out << refusal.pod_uid << ": " << refusal.reason << " / " << refusal.remedy << "\n";
  }
  return out.str();
}

}  // namespace millwright::checker
