#include "millwright/scheduling/overlays.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace millwright::scheduling {
namespace {

using OverlayPtr = std::shared_ptr<const model::NodeOverlay>;

// Who spoke last of a price or resource. A lighter overlay does not change it, but one of its own
// weight that comes after it is in conflict with it.
struct Mark {
  std::int32_t weight = 0;
  std::string_view overlay;
  model::Quantity amount;  // only of a resource
};

struct TypeState {
  const InstanceType* type = nullptr;
  // Labels of the pool and requirements of the type: what an overlay's requirements are held to.
  Requirements labels;
  OverlayChange change;
  std::map<std::size_t, Mark> price_marks;
  std::map<std::string_view, Mark> capacity_marks;
};

struct PoolState {
  std::string_view name;
  InstanceTypes types;
  std::vector<TypeState> states;
};

// A type that the overlay is about, and which of its offerings.
struct Match {
  const PoolState* pool = nullptr;
  TypeState* state = nullptr;
  std::vector<std::size_t> offerings;
};

double number(std::string_view text) {
  double value = 0;
  text.remove_prefix(!text.empty() && text.front() == '+' ? 1 : 0);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool speaks_of_price(const model::NodeOverlay& overlay) {
  return !overlay.price.empty() || !overlay.price_adjustment.empty();
}

class Evaluation {
 public:
  Evaluation(const Catalog& catalog,
             const std::vector<std::shared_ptr<const model::NodePool>>& pools) {
    result_.catalog = catalog;
    for (const auto& pool : pools) {
      const auto types = catalog.find(pool->meta.name);
      if (types != catalog.end() && types->second) {
        pools_.push_back(state_of(*pool, types->second));
      }
    }
  }

  // All of it or, when it is in conflict somewhere, nothing.
  void apply(const model::NodeOverlay& overlay) {
    auto matches = matches_of(overlay);
    for (const Match& match : matches) {
      if (auto conflict = conflict_of(overlay, match); !conflict.empty()) {
        result_.conflicts.push_back({overlay.meta.name, std::move(conflict)});
        return;
      }
    }
    for (const Match& match : matches) {
      record(overlay, match);
    }
  }

  OverlaidCatalog finish() {
    std::vector<std::pair<const PoolState*, InstanceTypes>> made;
    for (const PoolState& pool : pools_) {
      auto& changes = result_.changes[std::string(pool.name)];
      for (const TypeState& state : pool.states) {
        if (state.change != OverlayChange{}) {
          changes.emplace(state.type->name, state.change);
        }
      }
      if (changes.empty()) {
        result_.changes.erase(std::string(pool.name));
        continue;
      }
      // Pools that sell the same go on sharing one list: planners index each list once.
      const auto same = std::find_if(made.begin(), made.end(), [&](const auto& other) {
        return other.first->types == pool.types &&
               result_.changes.at(std::string(other.first->name)) == changes;
      });
      auto types = same != made.end() ? same->second : changed_types(pool);
      result_.catalog.insert_or_assign(std::string(pool.name), types);
      made.emplace_back(&pool, std::move(types));
    }
    return std::move(result_);
  }

 private:
  static PoolState state_of(const model::NodePool& pool, const InstanceTypes& types) {
    auto labels = pool.template_.labels.value_or(model::StringMap{});
    labels[std::string(model::kNodePoolLabel)] = pool.meta.name;
    const auto own = Requirements::from_labels(labels);
    PoolState state{.name = pool.meta.name, .types = types, .states = {}};
    state.states.reserve(types->size());
    for (const InstanceType& type : *types) {
      TypeState& added = state.states.emplace_back();
      added.type = &type;
      added.labels = type.requirements;
      added.labels.add(own);
    }
    return state;
  }

  std::vector<Match> matches_of(const model::NodeOverlay& overlay) {
    const Requirements wanted(overlay.requirements);
    std::vector<Match> matches;
    for (PoolState& pool : pools_) {
      for (TypeState& state : pool.states) {
        if (!state.labels.compatible(wanted, AllowUndefined::None)) {
          continue;
        }
        Match match{.pool = &pool, .state = &state, .offerings = {}};
        const auto& offerings = state.type->offerings;
        for (std::size_t i = 0; i < offerings.size(); ++i) {
          if (wanted.compatible(offerings[i].requirements, AllowUndefined::WellKnown)) {
            match.offerings.push_back(i);
          }
        }
        if (!match.offerings.empty()) {
          matches.push_back(std::move(match));
        }
      }
    }
    return matches;
  }

  static std::string conflict_of(const model::NodeOverlay& overlay, const Match& match) {
    const TypeState& state = *match.state;
    const auto say = [&](std::string_view what, const Mark& mark) {
      return "NodeOverlay " + std::string(mark.overlay) + " of the same weight " +
             std::to_string(overlay.weight) + " sets " + std::string(what) + " of instance type " +
             state.type->name + " in NodePool " + std::string(match.pool->name) +
             " too; give the one that should win a larger spec.weight";
    };
    if (speaks_of_price(overlay)) {
      for (const std::size_t offering : match.offerings) {
        const auto mark = state.price_marks.find(offering);
        if (mark != state.price_marks.end() && mark->second.weight == overlay.weight) {
          return say("the price", mark->second);
        }
      }
    }
    for (const auto& [resource, amount] : overlay.capacity) {
      const auto mark = state.capacity_marks.find(resource);
      if (mark != state.capacity_marks.end() && mark->second.weight == overlay.weight &&
          mark->second.amount != amount) {
        return say(resource, mark->second);
      }
    }
    return {};
  }

  static void record(const model::NodeOverlay& overlay, const Match& match) {
    TypeState& state = *match.state;
    if (speaks_of_price(overlay)) {
      for (const std::size_t offering : match.offerings) {
        const double before = state.type->offerings[offering].price;
        state.change.prices.try_emplace(offering, overlaid_price(overlay, before));
        state.price_marks.insert_or_assign(offering, Mark{overlay.weight, overlay.meta.name, {}});
      }
    }
    for (const auto& [resource, amount] : overlay.capacity) {
      state.change.capacity.try_emplace(resource, amount);
      state.capacity_marks.insert_or_assign(resource,
                                            Mark{overlay.weight, overlay.meta.name, amount});
    }
  }

  // Everything else about the type stays, overrides of its offerings included.
  static InstanceTypes changed_types(const PoolState& pool) {
    auto types = std::make_shared<std::vector<InstanceType>>(*pool.types);
    for (std::size_t i = 0; i < types->size(); ++i) {
      const OverlayChange& change = pool.states[i].change;
      InstanceType& type = (*types)[i];
      for (const auto& [offering, price] : change.prices) {
        type.offerings[offering].price = price;
      }
      for (const auto& [resource, amount] : change.capacity) {
        type.capacity.insert_or_assign(resource, amount);
      }
    }
    return types;
  }

  std::vector<PoolState> pools_;
  OverlaidCatalog result_;
};

}  // namespace

double overlaid_price(const model::NodeOverlay& overlay, double price) {
  if (!overlay.price.empty()) {
    return number(overlay.price);
  }
  std::string_view adjustment = overlay.price_adjustment;
  if (adjustment.empty()) {
    return price;
  }
  if (adjustment.ends_with('%')) {
    adjustment.remove_suffix(1);
    return std::max(0.0, price * (1 + number(adjustment) / 100));
  }
  return std::max(0.0, price + number(adjustment));
}

OverlaidCatalog apply_overlays(
    const Catalog& catalog, const std::vector<std::shared_ptr<const model::NodePool>>& pools,
    const std::vector<std::shared_ptr<const model::NodeOverlay>>& overlays) {
  std::vector<OverlayPtr> order;
  std::copy_if(overlays.begin(), overlays.end(), std::back_inserter(order),
               [](const OverlayPtr& overlay) { return !overlay->meta.is_deleting(); });
  if (order.empty()) {
    return {.catalog = catalog, .changes = {}, .conflicts = {}};
  }
  std::sort(order.begin(), order.end(), [](const OverlayPtr& a, const OverlayPtr& b) {
    return a->weight != b->weight ? a->weight > b->weight : a->meta.name > b->meta.name;
  });
  Evaluation evaluation(catalog, pools);
  for (const OverlayPtr& overlay : order) {
    evaluation.apply(*overlay);
  }
  return evaluation.finish();
}

}  // namespace millwright::scheduling
