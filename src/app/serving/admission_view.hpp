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
  // Copies pools, NodeClasses and their instance types anew. Loop thread only. What it gave out
  // must not outlive this or the services.
  void refresh(const controllers::Services& services);

 private:
  // Whether an edit's consequences may be worked out now. Any thread.
  bool may_preview(base::TimePoint now);

  mutable std::mutex mutex_;
  base::TimePoint previews_from_;  // one for each pause since
  std::shared_ptr<const webhooks::ClusterSnapshot> cluster_;
};

}  // namespace millwright::app
