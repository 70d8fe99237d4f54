#include "kube/config/credentials.hpp"

#include "kube/config/files.hpp"
#include "kube/config/process.hpp"
#include "millwright/base/base64.hpp"

#include <utility>

namespace millwright::kube {
namespace {

using base::ErrorKind;

// As client-go: a mounted token is read again every minute.
constexpr std::chrono::minutes kTokenFileAge{1};
constexpr std::chrono::seconds kRetryPlugin{1};

}  // namespace

Credentials::Credentials(base::Loop& loop, Config config, base::Logger log)
    : loop_(loop), config_(std::move(config)), log_(std::move(log)), group_(loop) {
  if (config_.exec) {
    thread_ = std::make_unique<base::ComputeThreads>();
  }
  // A token in hand makes the plugin unnecessary, as with client-go.
  Credential fixed;
  if (!config_.token.empty()) {
    fixed.authorization = "Bearer " + config_.token;
  } else if (!config_.username.empty()) {
    fixed.authorization = "Basic " + base::encode_base64(config_.username + ":" + config_.password);
  } else if (config_.exec) {
    return;
  }
  credential_ = std::move(fixed);
  if (!config_.token_file.empty()) {
    credential_->refresh_at = loop.now();
  }
}

Credentials::~Credentials() {
  stop_.request_stop();
  thread_.reset();
}

bool Credentials::refuse(std::uint64_t generation) {
  const bool renewable = !config_.token_file.empty() ||
                         (config_.exec && config_.token.empty() && config_.username.empty());
  if (renewable && credential_ && credential_->generation == generation) {
    credential_->refresh_at = loop_.now();
  }
  return renewable;
}

base::Result<Credential> Credentials::read_token_file() {
  MW_TRY(text, read_file(config_.token_file));
  auto token = clean_token(text);
  if (!token) {
    return base::with_context(config_.token_file, std::move(token).error());
  }
  Credential credential;
  credential.authorization = "Bearer " + *std::move(token);
  credential.refresh_at = loop_.now() + kTokenFileAge;
  credential.generation = ++generation_;
  return credential;
}

base::Task<base::Result<Credential>> Credentials::current(std::stop_token stop) {
  const auto now = loop_.now();
  if (credential_ && (!credential_->refresh_at || now < *credential_->refresh_at)) {
    co_return *credential_;
  }
  if (!config_.token_file.empty()) {
    auto fresh = read_token_file();
    if (fresh) {
      credential_ = *std::move(fresh);
    } else if (!credential_ || credential_->authorization.empty()) {
      co_return tl::unexpected(std::move(fresh).error());
    } else {
      // The last token may still be good for a while.
      log_.warn("cannot read the token file again", {{"error", fresh.error().message}});
      credential_->refresh_at = now + kTokenFileAge;
    }
    co_return *credential_;
  }
  if (failure_ && now < retry_at_) {
    co_return tl::unexpected(*failure_);
  }
  if (config_.exec && !std::exchange(fetching_, true)) {
    group_.spawn(fetch(*config_.exec));
  }
  const base::Promise<base::Result<Credential>> done(loop_);
  waiters_.push_back(done);
  const std::stop_callback on_stop(stop, [done] {
    done.set(base::fail(ErrorKind::Cancelled, "stopped while waiting for a credential"));
  });
  co_return co_await done.get();
}

base::Task<void> Credentials::fetch(ExecPlugin plugin) {
  ProcessSpec spec{
      .command = plugin.command, .args = plugin.args, .env = plugin.env, .timeout = plugin.timeout};
  spec.env["KUBERNETES_EXEC_INFO"] = exec_info(plugin, config_);
  auto work = [spec = std::move(spec), stop = stop_.get_token()] {
    return run_process(spec, stop);
  };
  auto output = co_await base::offload(loop_, *thread_, std::move(work));
  base::Result<Credential> fresh;
  if (!output) {
    auto error = std::move(output).error();
    if (error.kind == ErrorKind::NotFound && !plugin.install_hint.empty()) {
      error.message.append("; ").append(plugin.install_hint);
    }
    // The caller must not take a missing plugin for a missing object.
    error.kind = error.kind == ErrorKind::Timeout ? ErrorKind::Timeout : ErrorKind::Unavailable;
    fresh = base::with_context("exec plugin", std::move(error));
  } else {
    fresh = parse_exec_credential(*output, plugin, loop_.now());
  }
  failure_.reset();
  if (fresh) {
    fresh->generation = ++generation_;
    credential_ = *fresh;
  } else {
    failure_ = fresh.error();
    retry_at_ = loop_.now() + kRetryPlugin;
    log_.warn("cannot get a credential", {{"error", fresh.error().message}});
  }
  fetching_ = false;
  for (const auto& waiter : std::exchange(waiters_, {})) {
    waiter.set(fresh);
  }
}

}  // namespace millwright::kube
