// A recorder's view of a real cluster: its Pods, Nodes and NodeClaims over watches. Loop thread
// only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/kube/client.hpp"
#include "millwright/sandbox/recorder.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <string>

namespace millwright::plane {

class Watched {
 public:
  Watched(kube::Client& client, sandbox::Recorder& recorder, base::Logger log);

  // Watches until `stop`.
  base::Task<void> run(std::stop_token stop);

 private:
  void upsert(model::Resource resource, const boost::json::value& object);
  void remove(model::Resource resource, const std::string& uid);

  kube::Client& client_;
  sandbox::Recorder& recorder_;
  base::Logger log_;
  std::map<std::string, sandbox::Object> last_;  // by uid: a deletion comes without the object
};

}  // namespace millwright::plane
