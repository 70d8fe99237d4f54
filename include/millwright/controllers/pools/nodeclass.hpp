// Keeps the status and the conditions of every NodeClass, as its cloud resolves it, and its
// finalizer while NodeClaims use it.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <stop_token>
#include <string>

namespace millwright::controllers {

class NodeClasses {
 public:
  explicit NodeClasses(Services& services);
  void enqueue(const model::NodeClassReference& reference) {
    reconciler_.enqueue(reference.text());
  }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string key);
  base::Task<base::Result<>> keep_finalizer(std::shared_ptr<const model::NodeClass> node_class,
                                            std::string finalizer);
  base::Task<base::Result<Requeue>> finalize(std::shared_ptr<const model::NodeClass> node_class,
                                             cloud::Provider* provider);
  Services& services_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
