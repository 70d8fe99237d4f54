// The write rules: what the API server does to an object between the request and the store. A write
// has steps, so that webhooks can run between them:
// begin (decode, default, system fields), [mutating webhooks], finish (default again, validate),
// [validating webhooks], commit. Loop thread only.
#pragma once

#include "millwright/base/random.hpp"
#include "sandbox/apiserver/rest/errors.hpp"
#include "sandbox/apiserver/store/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace millwright::sandbox {

enum class Part : std::uint8_t { Main, Status };

struct DeleteRequest {
  std::string uid;  // precondition
  std::string resource_version;
  std::optional<std::int64_t> grace_period_seconds;
  std::string propagation_policy;
  bool dry_run = false;
};

struct Removal {
  Object object;
  bool gone = false;  // false: it waits for finalizers or its grace period
};

class Registry {
 public:
  Registry(base::Loop& loop, Store& store, std::uint64_t seed);

  Store& store() { return store_; }
  const Store& store() const { return store_; }
  base::TimePoint now() const { return loop_.now(); }
  std::string now_text() const;

  // `unknown` receives the paths of fields that were dropped.
  ApiResult<Json> begin_create(const ResourceInfo& info, Json object, std::string_view ns,
                               std::vector<std::string>* unknown = nullptr);
  ApiResult<Json> begin_update(const ResourceInfo& info, const Json& current, Json object,
                               Part part, std::vector<std::string>* unknown = nullptr);
  // `current` is nullptr on create.
  ApiResult<Json> finish(const ResourceInfo& info, Json object, const Json* current, Part part);
  ApiResult<Object> commit_create(const ResourceInfo& info, Json object, bool dry_run);
  // Conflict when `current` is no longer the stored version. An object that is being deleted and
  // has lost its last finalizer is removed.
  ApiResult<Object> commit_update(const ResourceInfo& info, const Object& current, Json object,
                                  bool dry_run);

  // All steps at once, for writers without webhooks.
  ApiResult<Object> create(const ResourceInfo& info, Json object, std::string_view ns);
  // An object as it was in another cluster, with its system fields and its status.
  ApiResult<Object> restore(const ResourceInfo& info, Json object);
  ApiResult<Object> update(const ResourceInfo& info, const Object& current, Json object, Part part);

  ApiResult<Removal> remove(const ResourceInfo& info, const model::ObjectKey& key,
                            const DeleteRequest& request);
  // pods/binding.
  ApiResult<> bind(const model::ObjectKey& pod, std::string_view uid, std::string_view node);
  // pods/eviction: honours PodDisruptionBudgets.
  ApiResult<Removal> evict(const model::ObjectKey& pod, const DeleteRequest& request);

 private:
  ApiResult<> check_namespace(const ResourceInfo& info, std::string_view ns) const;
  ApiResult<Removal> remove_pod(const Object& pod, const DeleteRequest& request);
  void fill_system_fields(const ResourceInfo& info, Json& object);
  void orphan_dependents(const Json& owner);

  base::Loop& loop_;
  Store& store_;
  base::Random random_;
};

// Absent fields of built-in kinds as the API server and its default admission plugins fill them.
void apply_built_in_defaults(const ResourceInfo& info, Json& object, const Store& store);
// What is wrong with an object, its metadata included; `current` is nullptr on create.
std::vector<Cause> validate_object(const ResourceInfo& info, const Json& object,
                                   const Json* current);
std::vector<Cause> validate_pod_spec(const Json& spec, const std::string& path);
// What an update may not change in a built-in kind.
std::vector<Cause> validate_unchanged(const ResourceInfo& info, const Json& object,
                                      const Json& current);

}  // namespace millwright::sandbox
