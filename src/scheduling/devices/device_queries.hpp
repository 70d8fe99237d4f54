// The different kinds of device that pods ask for: each is a list of CEL expressions, those of a
// DeviceClass and of a request, all of which a device must match.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/device_selector.hpp"
#include "millwright/model/devices.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// Of a device: the queries that it answers, a bit each.
using QueryMask = std::uint64_t;

class DeviceQueries {
 public:
  static constexpr std::size_t kMost = 64;  // bits of a mask

  // The query's number, the same for the same expressions. Invalid: an expression that cannot be
  // read, or too many different queries.
  base::Result<std::size_t> add(const model::DeviceClass& device_class,
                                const std::vector<std::string>& selectors);

  std::size_t size() const { return queries_.size(); }
  // By query: "gpu.example.com", with the request's selectors where it has any.
  const std::vector<std::string>& names() const { return names_; }

  // What of each query the devices of one place answer. A query whose expression cannot be
  // evaluated for one of them is answered by none: kube-scheduler does not take such a node.
  std::vector<QueryMask> masks(
      const std::vector<std::pair<std::string_view, const model::Device*>>& drivers_and_devices);
  // By query: why an expression could not be evaluated, and for which device; empty when all could.
  const std::vector<std::string>& troubles() const { return troubles_; }
  // Those of masks that were made earlier, for the same queries.
  void note(const std::vector<std::string>& troubles);
  // Equal where the same queries have the same numbers.
  const std::string& text() const { return text_; }

 private:
  enum class Answer : std::uint8_t { Yes, No, Broken };
  Answer ask(std::size_t query, std::string_view driver, const model::Device& device);

  std::vector<std::vector<model::DeviceSelector>> queries_;
  std::vector<std::string> troubles_;
  std::string text_;
  std::map<std::string, std::size_t> by_text_;
  std::vector<std::string> names_;
};

}  // namespace millwright::scheduling
