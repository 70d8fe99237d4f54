// Karpenter's gauges of instance types and offerings.
#include "cloud/common/catalog/type_gauges.hpp"

#include "millwright/model/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cloud {
namespace {

using testing::HasSubstr;
using testing::Not;

scheduling::Offering offering(const std::string& zone, const std::string& capacity_type,
                              double price, bool available) {
  scheduling::Offering result;
  result.requirements.add(scheduling::Requirement::in(model::kZoneLabel, {zone}));
  result.requirements.add(scheduling::Requirement::in(model::kCapacityTypeLabel, {capacity_type}));
  result.price = price;
  result.available = available;
  return result;
}

scheduling::InstanceTypes types(std::vector<scheduling::Offering> offerings) {
  scheduling::InstanceType type;
  type.name = "m5.large";
  type.capacity = {{"cpu", model::Quantity::from_units(2)},
                   {"memory", model::Quantity::from_units(1024)}};
  type.offerings = std::move(offerings);
  return std::make_shared<const std::vector<scheduling::InstanceType>>(1, type);
}

base::MetricLabels of(const std::string& zone, const std::string& capacity_type) {
  return {{"instance_type", "m5.large"}, {"capacity_type", capacity_type}, {"zone", zone}};
}

const model::NodeClassReference kFirst{
    .group = "karpenter.k8s.alibabacloud", .kind = "ECSNodeClass", .name = "web"};
const model::NodeClassReference kOther{
    .group = "karpenter.alibabacloud.com", .kind = "ECSNodeClass", .name = "web"};

constexpr const char* kPrice = "karpenter_cloudprovider_instance_type_offering_price_estimate";
constexpr const char* kAvailable = "karpenter_cloudprovider_instance_type_offering_available";

TEST(TypeGauges, ShowTypesAndOfferings) {
  base::Metrics metrics;
  TypeGauges gauges;
  gauges.publish(metrics, kFirst,
                 types({offering("a", "spot", 0.25, true), offering("a", "on-demand", 0.5, false),
                        offering("b", "reserved", 0, false), offering("b", "reserved", 0, true)}));
  const base::MetricLabels type{{"instance_type", "m5.large"}};
  EXPECT_EQ(metrics.value("karpenter_cloudprovider_instance_type_cpu_cores", type), 2);
  EXPECT_EQ(metrics.value("karpenter_cloudprovider_instance_type_memory_bytes", type), 1024);
  EXPECT_EQ(metrics.value(kPrice, of("a", "spot")), 0.25);
  EXPECT_EQ(metrics.value(kPrice, of("a", "on-demand")), 0.5);
  EXPECT_EQ(metrics.value(kAvailable, of("a", "spot")), 1);
  EXPECT_EQ(metrics.value(kAvailable, of("a", "on-demand")), 0);
  EXPECT_EQ(metrics.value(kAvailable, of("b", "reserved")), 1);  // one of the two has room
}

TEST(TypeGauges, ForgetWhatIsSoldNoMore) {
  base::Metrics metrics;
  TypeGauges gauges;
  gauges.publish(metrics, kFirst, types({offering("a", "spot", 0.25, true)}));
  gauges.publish(metrics, kFirst, types({offering("b", "spot", 0.75, true)}));
  EXPECT_THAT(metrics.render(), Not(HasSubstr("zone=\"a\"")));
  EXPECT_EQ(metrics.value(kPrice, of("b", "spot")), 0.75);
}

TEST(TypeGauges, WhatOneClassCanBuyCanBeBought) {
  base::Metrics metrics;
  TypeGauges gauges;
  gauges.publish(metrics, kFirst,
                 types({offering("a", "spot", 0.25, true), offering("b", "spot", 0.5, true)}));
  gauges.publish(metrics, kOther, types({offering("a", "spot", 0.25, false)}));
  EXPECT_EQ(metrics.value(kAvailable, of("a", "spot")), 1);
  const auto of_class = [&metrics](const std::string& group) {
    return metrics.value("millwright_cloudprovider_nodeclass_offerings_available",
                         {{"group", group}, {"kind", "ECSNodeClass"}, {"nodeclass", "web"}});
  };
  EXPECT_EQ(of_class("karpenter.k8s.alibabacloud"), 2);
  EXPECT_EQ(of_class("karpenter.alibabacloud.com"), 0);
  // One class is sold it no more, and the other is still refused it.
  gauges.publish(metrics, kFirst, types({offering("b", "spot", 0.5, true)}));
  EXPECT_EQ(metrics.value(kAvailable, of("a", "spot")), 0);
  EXPECT_EQ(metrics.value(kPrice, of("a", "spot")), 0.25);
  gauges.forget(metrics, kOther);
  EXPECT_THAT(metrics.render(), Not(HasSubstr("zone=\"a\"")));
  EXPECT_THAT(metrics.render(), Not(HasSubstr("karpenter.alibabacloud.com")));
  EXPECT_EQ(metrics.value(kAvailable, of("b", "spot")), 1);
}

}  // namespace
}  // namespace millwright::cloud
