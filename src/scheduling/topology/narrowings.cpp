#include "scheduling/topology/narrowings.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace millwright::scheduling {

bool Narrowing::admits(KeyId key, std::int32_t domain) const {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    if (part.key != key) {
      return true;
    }
    if (domain < 0) {
      // Absence is no domain that could be closed; what is not known might be.
      return part.excluded && domain == kNoDomain;
    }
    return part.domains.contains(static_cast<std::size_t>(domain)) != part.excluded;
  });
}

const Narrowing& Narrowings::of(std::span<const Narrowing::Part> parts) {
  std::vector<std::uint64_t> signature;
  for (const auto& part : parts) {
    signature.push_back((std::uint64_t{part.key.index()} << 1) | (part.excluded ? 1 : 0));
    for (std::size_t i = 0; i < part.domains.word_count(); ++i) {
      signature.push_back(part.domains.word(i));
    }
  }
  const auto [found, added] = known_.try_emplace(std::move(signature), nullptr);
  if (!added) {
    return *found->second;
  }
  Narrowing& made = all_.emplace_back();
  made.id = next_id_++;
  made.parts.assign(parts.begin(), parts.end());
  for (const auto& part : parts) {
    const TopologyKey& key = topology_.keys()[part.key];
    if (part.excluded && part.domains.count() == key.size()) {
      made.requirements.add(Requirement(key.name(), model::Operator::DoesNotExist));
      continue;
    }
    std::vector<std::string> values;
    part.domains.for_each([&](std::size_t domain) { values.push_back(key.domains()[domain]); });
    made.requirements.add(Requirement(
        key.name(), part.excluded ? model::Operator::NotIn : model::Operator::In, values));
  }
  found->second = &made;
  return made;
}

const Narrowing& Narrowings::one(KeyId key, std::int32_t domain) {
  single_.resize(topology_.keys().size());
  auto& by_domain = single_[key];
  by_domain.resize(topology_.keys()[key].size(), nullptr);
  const Narrowing*& known = by_domain[static_cast<std::size_t>(domain)];
  if (known == nullptr) {
    Narrowing::Part part{key, DomainSet(by_domain.size()), false};
    part.domains.insert(static_cast<std::size_t>(domain));
    known = &of({&part, 1});
  }
  return *known;
}

}  // namespace millwright::scheduling
