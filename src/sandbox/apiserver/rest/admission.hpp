// Admission webhooks as MutatingWebhookConfiguration and ValidatingWebhookConfiguration objects
// name them: matched by rules, called in the order of the configurations' names, failurePolicy
// honoured. Object and namespace selectors and match conditions are not evaluated: every rule match
// is called.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"
#include "millwright/sandbox/callers.hpp"
#include "sandbox/apiserver/rest/errors.hpp"
#include "sandbox/apiserver/store/store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::sandbox {

struct AdmissionInput {
  const ResourceInfo* info = nullptr;
  std::string operation;  // CREATE, UPDATE, DELETE
  std::string subresource;
  Json object;  // null for DELETE
  Object old;   // nullptr for CREATE
  bool dry_run = false;
};

struct Admitted {
  Json object;
  std::vector<std::string> warnings;
};

class AdmissionChain {
 public:
  AdmissionChain(const Store& store, std::uint64_t seed, base::Logger log);

  void set_caller(std::shared_ptr<AdmissionCaller> caller) { caller_ = std::move(caller); }
  // False when no webhook would be called, so that the write needs no waiting.
  bool applies(const ResourceInfo& info, std::string_view operation,
               std::string_view subresource) const;
  base::Task<ApiResult<Admitted>> mutate(AdmissionInput input);
  base::Task<ApiResult<Admitted>> validate(AdmissionInput input);

 private:
  struct Webhook {
    std::string name;
    WebhookTarget target;
    bool fail_closed = true;
  };
  std::vector<Webhook> matching(const model::Resource& configurations, const ResourceInfo& info,
                                std::string_view operation, std::string_view subresource) const;
  Json review_of(const AdmissionInput& input, const std::string& uid) const;
  // Null: the webhook failed and its failure is ignored; else the response object.
  base::Task<ApiResult<Json>> ask(Webhook webhook, AdmissionInput input);

  const Store& store_;
  base::Random random_;
  base::Logger log_;
  std::shared_ptr<AdmissionCaller> caller_;
};

}  // namespace millwright::sandbox
