#include "app/program/clouds.hpp"

#include "millwright/base/random.hpp"
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
  for (const auto cloud : settings.clouds) {
    if (auto opened = open_real(settings, environment, cloud); !opened) {
      return opened;
    }
  }
  return {};
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

base::Result<> Clouds::open_real(const Settings& settings, const Environment& environment,
                                 cloud::Profile cloud) {
  if (client_ == nullptr) {
    client_ = net::make_client(loop_);
  }
  const base::Logger log = log_.named(std::string(cloud::to_string(cloud)));
  const auto open = [&](auto make, auto own_settings) -> base::Result<> {
    own_settings.seed = base::entropy_seed();
    MW_TRY(provider, make(loop_, *client_, std::move(own_settings), environment, metrics_, log));
    add(std::move(provider));
    return {};
  };
  switch (cloud) {
    case cloud::Profile::Aws:
      return open(cloud::make_aws_cloud, settings.aws_settings);
    case cloud::Profile::Alibaba:
      return open(cloud::make_alibaba_cloud, settings.alibaba_settings);
    case cloud::Profile::Huawei:
      return open(cloud::make_huawei_cloud, settings.huawei_settings);
    case cloud::Profile::Kwok:
      break;
  }
  return base::fail(base::ErrorKind::Internal, "kwok exists only in memory");
}

}  // namespace millwright::app
