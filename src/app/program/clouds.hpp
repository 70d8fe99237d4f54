// The clouds that the settings name, each behind a Provider: real ones, which share one HTTP
// client, and simulated ones in this process or in another. Loop thread only.
#pragma once

#include "millwright/app/settings.hpp"
#include "millwright/base/leadership.hpp"
#include "millwright/cloud/provider.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/net/client.hpp"

#include <memory>
#include <vector>

namespace millwright::app {

class Clouds {
 public:
  // Only while `leadership` holds do the clouds change anything. All references outlive the object.
  Clouds(base::Loop& loop, const base::Leadership& leadership, base::Metrics& metrics,
         base::Logger log)
      : loop_(loop), leadership_(leadership), metrics_(metrics), log_(std::move(log)) {}
  ~Clouds();
  Clouds(const Clouds&) = delete;
  Clouds& operator=(const Clouds&) = delete;

  // `nodes` learns of the instances of simulated clouds in this process and outlives them.
  base::Result<> open(const Settings& settings, const Environment& environment,
                      cloud::InstanceListener& nodes);
  cloud::ProviderSet& providers() { return providers_; }

 private:
  void add(std::unique_ptr<cloud::Provider> provider);
  base::Result<> open_real(const Settings& settings, const Environment& environment,
                           cloud::Profile cloud);
  base::Result<> open_simulated(const Settings& settings, cloud::Profile profile,
                                cloud::InstanceListener& nodes);

  base::Loop& loop_;
  const base::Leadership& leadership_;
  base::Metrics& metrics_;
  base::Logger log_;
  std::unique_ptr<net::Client> client_;  // of the real clouds
  cloud::ProviderSet providers_;
  std::vector<cloud::SimulatedCloud*> simulated_;  // of providers_
};

}  // namespace millwright::app
