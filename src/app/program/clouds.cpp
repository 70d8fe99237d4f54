#include "app/program/clouds.hpp"

#include "millwright/cloud/leader_only.hpp"
#include "millwright/cloud/measured.hpp"
#include "millwright/cloud/remote.hpp"

#include <utility>

namespace millwright::app {

Clouds::~Clouds() {
  for (auto* cloud : simulated_) {
    cloud->set_listener(nullptr);
  }
}

base::Result<> Clouds::open(const Settings& settings, const Environment& environment,
                            cloud::InstanceListener& nodes) {
  for (const auto profile : settings.simulated_clouds) {
    if (auto opened = open_simulated(settings, profile, nodes); !opened) {
      return opened;
    }
  }
  return settings.aws ? open_aws(settings, environment) : base::Result<>{};
}

void Clouds::add(std::unique_ptr<cloud::Provider> provider) {
  providers_.add(
      cloud::leader_only(cloud::measured(std::move(provider), loop_, metrics_), leadership_));
}

base::Result<> Clouds::open_simulated(const Settings& settings, cloud::Profile profile,
                                      cloud::InstanceListener& nodes) {
  auto cloud_settings = cloud::default_settings(profile);
  if (profile == cloud::Profile::Kwok) {
    cloud_settings.catalog_file = settings.instance_types_file;
  }
  if (!settings.simulated_cloud_url.empty()) {
    MW_TRY(remote, cloud::RemoteCloud::make(loop_, profile, std::move(cloud_settings),
                                            settings.simulated_cloud_url));
    add(std::move(remote));
    return {};
  }
  MW_TRY(local, cloud::SimulatedCloud::make(loop_, profile, std::move(cloud_settings)));
  local->set_listener(&nodes);
  simulated_.push_back(local.get());
  add(std::move(local));
  return {};
}

base::Result<> Clouds::open_aws(const Settings& settings, const Environment& environment) {
  client_ = net::make_client(loop_);
  auto aws_settings = settings.aws_settings;
  aws_settings.seed = base::entropy_seed();
  MW_TRY(aws, cloud::make_aws_cloud(loop_, *client_, std::move(aws_settings), environment, metrics_,
                                    log_.named("aws")));
  add(std::move(aws));
  return {};
}

}  // namespace millwright::app
