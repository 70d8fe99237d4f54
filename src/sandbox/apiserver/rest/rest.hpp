// Serves REST requests: passes them to the write rules, admission and watches, and answers in the
// form that the client asked for. Loop thread only.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/net/server.hpp"
#include "sandbox/apiserver/rest/admission.hpp"
#include "sandbox/apiserver/rest/request.hpp"
#include "sandbox/apiserver/rest/watch.hpp"
#include "sandbox/apiserver/store/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::sandbox {

class RestServer {
 public:
  RestServer(base::Loop& loop, Registry& registry, const ApiServerOptions& options,
             base::Random random);

  void handle(net::Request request, std::shared_ptr<net::Exchange> exchange);
  void set_admission(std::shared_ptr<AdmissionCaller> caller);
  void set_faults(const Faults& faults);
  void end_watches() { watches_.close_all(); }

 private:
  // What a write did: the object, or a Status.
  struct Written {
    int status = 200;
    Json object;
    bool is_status = false;
    std::vector<std::string> warnings;
  };
  using Writing = base::Task<ApiResult<Written>>;

  net::Response read(const RestRequest& request) const;
  net::Response list(const RestRequest& request, const ObjectFilter& filter) const;
  // How late a list is answered.
  base::Duration lateness_of(const RestRequest& request);
  base::Task<void> read_later(RestRequest request, std::shared_ptr<net::Exchange> exchange,
                              base::Duration late);
  void open_watch(const RestRequest& request, std::shared_ptr<net::Exchange> exchange);

  base::Task<void> serve_write(RestRequest request, std::shared_ptr<net::Exchange> exchange);
  Writing write(RestRequest request);
  Writing create(RestRequest request, Json body);
  Writing update(RestRequest request, Json body);
  Writing update_once(RestRequest request, Json body, Object current);
  Writing remove(RestRequest request, Json body);
  ApiResult<Written> remove_collection(const RestRequest& request, const DeleteRequest& how);
  ApiResult<Written> evict(const RestRequest& request, const Json& body);
  ApiResult<Written> bind(const RestRequest& request, const Json& body);
  ApiResult<Written> scale(const RestRequest& request, const Json& body);
  ApiResult<Written> finalize_namespace(const RestRequest& request, const Json& body);

  net::Response respond(const RestRequest& request, const ApiResult<Written>& written) const;
  // True when an injected fault has answered.
  bool inject_fault(const RestRequest& request, net::Exchange& exchange);

  base::Loop& loop_;
  Registry& registry_;
  std::string git_version_;
  base::Random random_;
  Faults faults_;
  WatchHub watches_;
  AdmissionChain admission_;
  base::TaskGroup tasks_;
};

// Status success, with what it was about.
Json success_status(const ResourceInfo& info, const Json& object);
Json scale_of(const ResourceInfo& info, const Json& object);
DeleteRequest delete_request_of(const RestRequest& request, const Json& options);
net::Response error_response(const ApiError& error);

}  // namespace millwright::sandbox
