#include "app/whatif/forecast.hpp"

#include "app/whatif/forecast_run.hpp"

namespace millwright::app {
namespace {

constexpr double kHoursPerMonth = 730;

base::Result<std::vector<boost::json::value>> objects_of(const std::string& file,
                                                         const ReadFile& read) {
  auto text = read(file);
  if (!text) {
    return tl::unexpected(std::move(text).error());
  }
  return read_objects(*text, file == "-" ? "standard input" : file);
}

base::Result<ClusterFiles> read_cluster(const WhatIfRequest& request, const ReadFile& read) {
  std::vector<boost::json::value> objects;
  for (const auto& file : request.files) {
    MW_TRY(some, objects_of(file, read));
    std::move(some.begin(), some.end(), std::back_inserter(objects));
  }
  return take_stock(std::move(objects));
}

base::Result<AppliedObjects> read_applied(const WhatIfRequest& request, const ReadFile& read) {
  AppliedObjects applied;
  for (const auto& change : request.changes) {
    if (const auto* apply = std::get_if<ApplyFile>(&change)) {
      MW_TRY(objects, objects_of(apply->file, read));
      applied[apply->file] = std::move(objects);
    }
  }
  return applied;
}

}  // namespace

std::vector<cloud::Profile> clouds_of(const std::vector<std::string>& named,
                                      const ClusterFiles& files, const AppliedObjects& applied) {
  std::set<cloud::Profile> clouds;
  for (const auto& name : named) {
    clouds.insert(*cloud::parse_profile(name));
  }
  if (clouds.empty()) {
    clouds = files.clouds;
    for (const auto& [file, objects] : applied) {
      for (const auto& object : objects) {
        const auto* resource = model::find_by_kind(model::text_at(object, "apiVersion"),
                                                   model::text_at(object, "kind"));
        const auto cloud = resource == nullptr ? std::nullopt : cloud_of(*resource);
        if (cloud) {
          clouds.insert(*cloud);
        }
      }
    }
  }
  return {clouds.begin(), clouds.end()};
}

double more_per_month(const Forecast& forecast) {
  return (forecast.after.price - forecast.before.price) * kHoursPerMonth;
}

base::Result<Forecast> make_forecast(const WhatIfRequest& request, const ReadFile& read) {
  MW_TRY(files, read_cluster(request, read));
  MW_TRY(applied, read_applied(request, read));
  ForecastSetup setup{.files = files,
                      .clouds = clouds_of(request.clouds, files, applied),
                      .applied = applied,
                      .start = request.at.value_or(files.newest),
                      .horizon = request.horizon,
                      .instance_types_file = request.instance_types_file};
  if (setup.clouds.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "there is no NodeClass in the files, so nothing can be bought; add "
                      "nodepools and the NodeClasses that they name to `kubectl get`");
  }
  Forecast forecast;
  forecast.notes = files.notes;
  ForecastRun changed(setup);
  if (auto ran = changed.run(request.changes); !ran) {
    return tl::unexpected(std::move(ran).error());
  }
  changed.tell(forecast);
  if (request.changes.empty()) {
    forecast.unchanged = forecast.after;
    return forecast;
  }
  ForecastRun unchanged(setup);
  if (auto ran = unchanged.run({}); !ran) {
    return tl::unexpected(std::move(ran).error());
  }
  forecast.unchanged = unchanged.size();
  return forecast;
}

}  // namespace millwright::app
