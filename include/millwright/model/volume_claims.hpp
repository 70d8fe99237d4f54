// Which PersistentVolumeClaim is behind a pod's volume.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/pod.hpp"

namespace millwright::model {

// Its name is empty when the volume has none. That of a generic ephemeral volume is made for the
// pod, and named after both.
inline ObjectKey volume_claim(const Pod& pod, const PodVolume& volume) {
  return {pod.meta.namespace_,
          volume.ephemeral ? pod.meta.name + "-" + volume.name : volume.claim_name};
}

}  // namespace millwright::model
