// What earlier problems worked out about the devices of instance types, so that the lists of types
// stay the same objects: the planner indexes each list once.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/devices/device_queries.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace millwright::scheduling {

class DeviceMemory {
 public:
  // By instance type: what each of its devices answers.
  struct TypeMasks {
    std::vector<std::vector<QueryMask>> masks;
    std::vector<std::string> troubles;  // by query, see DeviceQueries::trouble()
  };

  // Everything that the masks of a pool's types depend on.
  struct Source {
    std::string queries;
    std::shared_ptr<const PublishedDevices> published;
    std::shared_ptr<const std::vector<model::DeviceTemplate>> templates;
    std::shared_ptr<const model::NodePool> pool;
    InstanceTypes types;

    friend auto operator<=>(const Source&, const Source&) = default;
  };

  // The problem begins: what the last few did not use is forgotten.
  void begin();

  template <class Make>
  const TypeMasks& masks(const Source& source, Make make) {
    auto [found, added] = masks_.try_emplace(source);
    if (added) {
      found->second.value = make();
    }
    found->second.used = problem_;
    return found->second.value;
  }
  // The types with what they offer added to their capacity, type by type.
  InstanceTypes with(const InstanceTypes& types, const std::vector<model::ResourceList>& offered);

 private:
  template <class T>
  struct Kept {
    T value{};
    std::uint64_t used = 0;
  };
  struct Changed {
    InstanceTypes from;
    std::vector<model::ResourceList> offered;
    InstanceTypes to;
    std::uint64_t used = 0;
  };

  std::uint64_t problem_ = 0;
  std::map<Source, Kept<TypeMasks>> masks_;
  std::vector<Changed> changed_;
};

}  // namespace millwright::scheduling
