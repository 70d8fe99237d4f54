// The cloud of a simulated world: machines that come and go, and for each replica a provider that
// reaches them. Kwok's is one object that all replicas share. Those of AWS, Alibaba Cloud and
// Huawei Cloud are clouds that remember, behind the real providers and a network that has its
// troubles.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/base/random.hpp"
#include "millwright/cloud/provider.hpp"
#include "simulate/world/schedule.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::test {

// Rates are probabilities, of each call; of no_capacity, of each offering.
struct CloudTrouble {
  double errors = 0;
  double throttles = 0;
  double lost_replies = 0;  // done, and nobody hears of it
  double no_capacity = 0;
  base::Duration slow{};  // a call takes up to so long
  base::Duration lag{};   // new machines show up in lists so late; kwok's at once
};

// Plays the machines. It must not call back into the cloud synchronously.
class MachineListener {
 public:
  virtual ~MachineListener() = default;
  // `claim`: kwok's machines know theirs, others come with nullptr.
  virtual void launched(const cloud::Instance& instance,
                        std::shared_ptr<const model::NodeClaim> claim, base::Duration boot) = 0;
  virtual void terminating(const std::string& provider_id) = 0;
  virtual void terminated(const std::string& provider_id) = 0;
};

class WorldCloud {
 public:
  struct ProviderParts {
    base::Loop& loop;  // the replica's
    base::Metrics& metrics;
    // What the replica asks its provider for, told by kwok's; and what the provider sends, told by
    // those of the others.
    std::function<void(std::string)> on_write;
    std::function<void(std::string)> on_change;
    std::uint64_t seed = 1;
  };

  virtual ~WorldCloud() = default;
  virtual std::unique_ptr<cloud::Provider> provider(ProviderParts parts) = 0;
  // A NodeClass named "default".
  virtual std::string node_class() const = 0;
  // Its group and kind as nodeClassRef's fields, and what else a NodePool of it requires.
  virtual std::string node_class_ref() const = 0;
  virtual void set_trouble(const CloudTrouble& trouble) = 0;
  // The machine is taken back: first the notice, then, much later, its end. False: this cloud or
  // this machine knows no such thing.
  virtual bool interrupt(const std::string& provider_id) = 0;
  // It vanishes.
  virtual void lose(const std::string& provider_id) = 0;
  // The UID of the claim that it was launched for; empty: nothing says so yet.
  virtual std::string claim_uid_of(const std::string& provider_id) const = 0;
};

// Longer than a real one, so that a machine that nobody acts on is seen.
inline constexpr base::Duration kInterruptionNotice = std::chrono::minutes(15);
inline constexpr base::Duration kShutdown = std::chrono::seconds(10);

std::unique_ptr<WorldCloud> make_kwok_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                            MachineListener& listener);
std::unique_ptr<WorldCloud> make_aws_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                           MachineListener& listener);
std::unique_ptr<WorldCloud> make_alibaba_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                               MachineListener& listener);
std::unique_ptr<WorldCloud> make_huawei_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                              MachineListener& listener);

}  // namespace millwright::test
