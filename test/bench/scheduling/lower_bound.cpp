#include "lower_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

using Vector = std::array<double, 3>;  // CPU, memory, pods; or the dual price of each
// A plane of the dual: the price of a type's room may not exceed its cost.
struct Plane {
  Vector normal;
  double limit;
};

Vector amounts(const model::ResourceList& list) {
  return {model::get(list, "cpu").as_double(), model::get(list, "memory").as_double() / 1e9,
          model::get(list, "pods").as_double()};
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Where three planes meet.
std::optional<Vector> vertex(const Plane& a, const Plane& b, const Plane& c) {
  const Vector bc = cross(b.normal, c.normal);
  const double volume = dot(a.normal, bc);
  if (std::abs(volume) < 1e-12) {
    return std::nullopt;
  }
  const Vector ca = cross(c.normal, a.normal);
  const Vector ab = cross(a.normal, b.normal);
  Vector point{};
  for (std::size_t i = 0; i < 3; ++i) {
    point[i] = (a.limit * bc[i] + b.limit * ca[i] + c.limit * ab[i]) / volume;
  }
  return point;
}

// `on_demand` leaves spot offerings out.
std::vector<Plane> planes_of(const InstanceTypes& types, bool on_demand) {
  std::vector<Plane> planes = {{{1, 0, 0}, 0}, {{0, 1, 0}, 0}, {{0, 0, 1}, 0}};
  for (const InstanceType& type : *types) {
    double price = INFINITY;
    for (const Offering& offering : type.offerings) {
      if (offering.available && !(on_demand && offering.capacity_type() == model::kSpot)) {
        price = std::min(price, offering.price);
      }
    }
    const Vector room = amounts(type.allocatable());
    const bool known = std::any_of(planes.begin(), planes.end(), [&](const Plane& plane) {
      return plane.normal == room && plane.limit <= price;
    });
    if (!known && std::isfinite(price)) {
      planes.push_back({room, price});
    }
  }
  return planes;
}

double bound_of(const Vector& demand, const std::vector<Plane>& planes) {
  const auto feasible = [&](const Vector& point) {
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const double value = dot(planes[i].normal, point);
      if (i < 3 ? value < -1e-9 : value > planes[i].limit + 1e-9) {
        return false;
      }
    }
    return true;
  };
  // By duality the best vertex of { y >= 0, y . room(type) <= price(type) } is the bound.
  double best = 0;
  for (std::size_t a = 0; a < planes.size(); ++a) {
    for (std::size_t b = a + 1; b < planes.size(); ++b) {
      for (std::size_t c = b + 1; c < planes.size(); ++c) {
        const auto point = vertex(planes[a], planes[b], planes[c]);
        if (point && dot(*point, demand) > best && feasible(*point)) {
          best = dot(*point, demand);
        }
      }
    }
  }
  return best;
}

}  // namespace

double lower_bound(const Problem& problem) {
  double bound = 0;
  for (const bool on_demand : {false, true}) {
    model::ResourceList total;
    for (const auto& pod : problem.pods) {
      const auto selected = pod->spec.node_selector.find(model::kCapacityTypeLabel);
      if (on_demand ==
          (selected != pod->spec.node_selector.end() && selected->second == model::kOnDemand)) {
        model::add_to(total, effective_requests(*pod));
      }
    }
    bound += bound_of(amounts(total), planes_of(problem.pools.front().types, on_demand));
  }
  return bound;
}

}  // namespace millwright::scheduling::bench
