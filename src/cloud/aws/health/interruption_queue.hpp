// The SQS queue that EventBridge fills with events of the account's instances (Karpenter's
// controller interruption). Loop thread only.
#pragma once

#include "cloud/aws/calls/pace/instance_batches.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "cloud/aws/health/interruption.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"

#include <boost/json/value.hpp>

#include <stop_token>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

class InterruptionQueue {
 public:
  struct Parts {
    Api& api;
    InstanceBatches& instances;
    Catalog& catalog;
    Restock& restock;
    std::string queue;  // name or URL
    std::string cluster_name;
    base::Metrics& metrics;
    base::Logger log;
    TellInterruption tell;
  };
  explicit InterruptionQueue(Parts parts) : parts_(std::move(parts)) {}

  // Polls until `stop`. A message is deleted once what it tells was acted on; one that could not be
  // comes again.
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<ApiResult<std::string>> find_url();
  base::Task<ApiResult<>> poll(std::string url, std::stop_token stop);
  struct Message {
    std::string body;
    std::string receipt;
  };
  static std::vector<Message> read_messages(const boost::json::value& answer);
  base::Task<void> handle(std::string url, Message message);
  // True when the message was dealt with and can be deleted.
  base::Task<bool> act_on(std::string body);
  // True when somebody acted on it.
  base::Task<bool> act_on_instance(InterruptionKind kind, Ec2Instance instance);

  Parts parts_;
};

}  // namespace millwright::cloud::aws
