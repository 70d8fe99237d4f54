// The objects that admission's cross-object warnings look at: copied on the loop, read by the
// threads that answer the API server.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/webhooks/admission.hpp"

#include <memory>
#include <mutex>

namespace millwright::app {

class AdmissionView {
 public:
  // nullptr before the first refresh. Any thread.
  std::shared_ptr<const webhooks::ClusterSnapshot> get() const;
  // Copies pools, NodeClasses and their instance types anew. Loop thread only.
  void refresh(const controllers::Services& services);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const webhooks::ClusterSnapshot> cluster_;
};

}  // namespace millwright::app
