// Launches one instance per NodeClaim: an auto provisioning group with the cheapest candidates in
// one call, or RunInstances one candidate after another where a group is not permitted or cannot
// carry what the class asks. Loop thread only.
//
// A claim never gets two instances. What was launched for it carries its UID as a tag, and is found
// again after a crash, by a process that waits until ECS's lists must show it. A call whose effect
// is unknown is made again exactly as it was, with its ClientToken, and Alibaba Cloud answers with
// the same instance.
#pragma once

#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/catalog/catalog.hpp"
#include "cloud/alibaba/launch/join_scripts.hpp"
#include "cloud/alibaba/launch/launch_request.hpp"
#include "cloud/alibaba/node_class/resolver.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "cloud/common/inherited_claims.hpp"
#include "millwright/base/log.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace millwright::cloud::alibaba {

struct Launched {
  std::string instance_id;
  std::string type;
  std::string zone;
  std::string capacity_type;
  std::string image_id;
};

class Launcher {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    Restock& restock;
    Resolver& resolver;
    std::string cluster_id;
    // CLUSTER_TYPE=Custom: the class's user data joins the cluster, ACK gives no script.
    bool custom_cluster = false;
    base::Logger log;
  };
  explicit Launcher(Parts parts);

  // What was launched for the claim before; NotFound when nothing was. Unavailable while something
  // that another process launched may still show. Asks ECS only when there is a doubt.
  base::Task<base::Result<Launched>> adopt(ClaimPtr claim);
  // NotFound when no living instance has the claim's UID.
  base::Task<base::Result<Launched>> find_by_claim(ClaimPtr claim);
  // As InheritedClaims::take_over().
  void inherit(base::TimePoint now, base::TimePoint newest) { inherited_.take_over(now, newest); }
  // NoCapacity marks the offerings that were sold out.
  base::Task<base::Result<Launched>> launch(ClaimPtr claim, NodeClassPtr node_class);
  // The claim goes: nothing is launched for it any more.
  void forget(const std::string& claim_uid);

 private:
  struct Order {
    ClaimPtr claim;
    NodeClassSpec spec;
    NodeClassFindings findings;
    LaunchPlan plan;
    std::string user_data;
  };
  void remember(const model::NodeClaim& claim, const Launched& launched);
  base::Task<base::Result<Launched>> launch_or_repeat(ClaimPtr claim, NodeClassPtr node_class);
  base::Task<base::Result<Order>> prepare(ClaimPtr claim, NodeClassPtr node_class);
  base::Task<base::Result<std::string>> user_data(ClaimPtr claim, NodeClassSpec spec,
                                                  std::string arch);
  base::Task<base::Result<Launched>> by_group(Order order);
  // Candidates from the `first` on, which gets this disk category; empty: the one to try first.
  base::Task<base::Result<Launched>> one_by_one(Order order, std::size_t first,
                                                std::string disk_category);
  // One candidate, with one category of the class after the other until one is taken.
  base::Task<ApiResult<std::string>> run(Order order, std::size_t number,
                                         std::string disk_category);
  // With this category. In doubt afterwards if its effect is unknown.
  base::Task<ApiResult<std::string>> run_once(Order order, std::size_t number,
                                              std::string disk_category);
  // The first category of the class that was not refused lately; empty when all were.
  std::string disk_category_for(const NodeClassSpec& spec, const Candidate& candidate) const;
  base::TimePoint in_doubt_since(const std::string& claim_uid) const;
  bool is_in_doubt(const model::NodeClaim& claim, const ApiError& error) const;
  bool is_group_refused(const NodeClassSpec& spec) const;
  base::Result<Launched> judge(const Order& order, const std::vector<GroupLaunch>& launches);
  void mark(const Order& order, const Candidate& candidate, std::string_view code);

  Parts parts_;
  Ecs ecs_;
  JoinScripts scripts_;
  // Until when groups are not asked for, by Catalog::scope_name(): RAM does not allow the call, or
  // not with what a class names.
  std::map<std::string, base::TimePoint> group_refused_;
  // Until when a disk category is not asked for, by type, zone and category.
  std::map<std::tuple<std::string, std::string, std::string>, base::TimePoint> disk_refused_;
  // A call whose effect is unknown: making it again from the same order gives the same request.
  struct Unsure {
    Order order;
    base::TimePoint since;  // the first call
    bool by_group = true;
    // Of a call for one.
    std::size_t candidate = 0;
    std::string disk_category;
  };
  std::map<std::string, Unsure, std::less<>> unsure_;  // by claim UID
  // Likewise, what was launched or found lately: a claim's status may not have been written yet.
  struct Made {
    Launched launched;
    base::TimePoint when;
  };
  std::map<std::string, Made, std::less<>> made_;
  InheritedClaims inherited_;
};

}  // namespace millwright::cloud::alibaba
