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
  // Why an expression could not be evaluated, and for which device; empty when all could.
  const std::string& trouble(std::size_t query) const { return queries_[query].trouble; }

 private:
  struct Query {
    std::vector<model::DeviceSelector> selectors;
    std::string trouble;
  };
  enum class Answer : std::uint8_t { Yes, No, Broken };
  static Answer ask(Query& query, std::string_view driver, const model::Device& device);

  std::vector<Query> queries_;
  std::map<std::string, std::size_t> by_text_;
  std::vector<std::string> names_;
};

}  // namespace millwright::scheduling
