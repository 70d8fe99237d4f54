#include "scheduling/explain/explain_room.hpp"

#include <algorithm>
#include <optional>

namespace millwright::scheduling {
namespace {

constexpr std::int64_t kSuspiciousCpu = 1'000'000'000;  // a million CPUs, in thousandths

std::string with_unit(std::string_view resource, std::int64_t milli) {
  const auto format = resource == model::kMemory || resource == model::kEphemeralStorage
                          ? model::Quantity::Format::BinarySI
                          : model::Quantity::Format::DecimalSI;
  return model::Quantity::from_milli(milli, format).to_string();
}

class Reducer {
 public:
  Reducer(const PoolTemplate& pool, const PodClasses& pods, const PodClass& pod_class,
          const RowSet& rows)
      : pool_(pool),
        pods_(pods),
        pod_class_(pod_class),
        requests_(pod_class.first()),
        rows_(rows & pool.room.usable()) {}

  Reduction find() const {
    if (rows_.empty()) {
      return {
          "lower the requests of the DaemonSets that run in NodePool " + pool_.name(), rows_, {}};
    }
    Reduction result = reduce_one();
    if (result.rows.empty()) {
      result = reduce_several();
    }
    if (model::get(pod_class_.request_list, model::kCpu).milli() >= kSuspiciousCpu) {
      result.change = "check its cpu request: \"m\" is a thousandth, \"M\" a million";
      result.changes.clear();
    }
    return result;
  }

 private:
  // One resource, the others as they are: the one of which it keeps the largest part.
  Reduction reduce_one() const {
    Reduction best{{}, RowSet(pool_.table->size()), {}};
    double best_part = -1;
    for (std::size_t c = 0; c < pods_.columns.size(); ++c) {
      Amounts others = requests_;
      if (others[c] == 0) {
        continue;
      }
      others[c] = 0;
      RowSet rows = rows_;
      if (!pool_.room.keep_fitting(rows, others)) {
        continue;
      }
      std::int64_t most = 0;
      rows.for_each([&](std::size_t row) { most = std::max(most, pool_.room.room(row)[c]); });
      const double part = static_cast<double>(most) / static_cast<double>(requests_[c]);
      if (part > best_part) {
        best_part = part;
        rows.for_each([&](std::size_t row) {
          if (pool_.room.room(row)[c] < most) {
            rows.erase(row);
          }
        });
        best = {text(c, most), rows, change(c, most)};
      }
    }
    return best;
  }

  // Several, to what the type has that comes closest.
  Reduction reduce_several() const {
    std::optional<std::pair<double, std::size_t>> closest;
    rows_.for_each([&](std::size_t row) {
      double excess = 0;
      for (std::size_t c = 0; c < pods_.columns.size(); ++c) {
        const auto room = std::max<std::int64_t>(pool_.room.room(row)[c], 1);
        excess = std::max(excess, static_cast<double>(requests_[c]) / static_cast<double>(room));
      }
      if (!closest || excess < closest->first) {
        closest.emplace(excess, row);
      }
    });
    Reduction result{{}, RowSet(pool_.table->size()), {}};
    bool all_of_the_pod = true;
    result.rows.insert(closest->second);
    for (std::size_t c = 0; c < pods_.columns.size(); ++c) {
      const std::int64_t room = pool_.room.room(closest->second)[c];
      if (requests_[c] > room) {
        std::string more = text(c, room);
        if (!result.change.empty() && more.starts_with("fits if ")) {
          more.erase(0, std::string_view("fits if ").size());
        }
        result.change.append(result.change.empty() ? "" : " and ").append(more);
        const auto one = change(c, room);
        all_of_the_pod = all_of_the_pod && !one.empty();
        result.changes.insert(result.changes.end(), one.begin(), one.end());
      }
    }
    if (!all_of_the_pod) {
      result.changes.clear();
    }
    return result;
  }

  std::string text(std::size_t column, std::int64_t room) const {
    const std::string& name = pods_.columns.name(column);
    if (name == model::kPods) {
      return "allow more pods per node in NodePool " + pool_.name();
    }
    return room <= 0 ? "remove its request for " + name
                     : "fits if " + name + " <= " + with_unit(name, room);
  }

  // None for pods per node and volumes, which are no requests.
  std::vector<Change> change(std::size_t column, std::int64_t room) const {
    const std::string& name = pods_.columns.name(column);
    if (pod_class_.request_list.find(name) == pod_class_.request_list.end() ||
        name == model::kPods) {
      return {};
    }
    return {{.kind = Change::Kind::LowerRequest,
             .key = name,
             .amount = model::Quantity::from_milli(std::max<std::int64_t>(room, 0))}};
  }

  const PoolTemplate& pool_;
  const PodClasses& pods_;
  const PodClass& pod_class_;
  const Amounts& requests_;
  RowSet rows_;
};

}  // namespace

Reduction least_reduction(const PoolTemplate& pool, const PodClasses& pods,
                          const PodClass& pod_class, const RowSet& rows) {
  return Reducer(pool, pods, pod_class, rows).find();
}

}  // namespace millwright::scheduling
