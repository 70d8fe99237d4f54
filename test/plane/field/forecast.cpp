#include "plane/field/forecast.hpp"

#include "plane/runner/controller.hpp"

#include <boost/json.hpp>

namespace millwright::field {
namespace {

namespace json = boost::json;

// As docs/asking.md tells its readers to get them.
constexpr const char* kKinds =
    "nodes,nodepools,nodeclaims,kwoknodeclasses,pods,pdb,deployments,replicasets,statefulsets,"
    "daemonsets,jobs,priorityclasses";

double number_at(const json::value& object, std::string_view pointer) {
  boost::system::error_code none;
  const auto* found = object.find_pointer(pointer, none);
  return found != nullptr && found->is_number() ? found->to_number<double>() : 0;
}

}  // namespace

base::Result<Outlook> outlook_of(plane::Plane& plane, const Phase& phase) {
  if (phase.steps.size() != 1) {
    return base::fail(base::ErrorKind::Invalid, "its work is spread over time");
  }
  const auto got = plane.kubectl({"get", "-A", "-o", "json", kKinds});
  if (got.exit_code != 0) {
    return base::fail(base::ErrorKind::Invalid, got.text);
  }
  const std::string cluster = plane.directory() + "/forecast-cluster.json";
  const std::string change = plane.directory() + "/forecast-change.yaml";
  plane::write_text(cluster, got.text);
  plane::write_text(change, phase.steps.front().objects);
  const auto said =
      plane::run_millwright(plane, {"what-if", "-f", cluster, "-o", "json", "apply", "-f", change});
  boost::system::error_code error;
  const auto forecast = json::parse(said.text, error);
  if (said.exit_code != 0 || error) {
    return base::fail(base::ErrorKind::Invalid, said.text);
  }
  return Outlook{.nodes = number_at(forecast, "/after/nodes"),
                 .price_per_hour = number_at(forecast, "/after/pricePerHour")};
}

}  // namespace millwright::field
