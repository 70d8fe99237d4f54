#include "app/serving/cpu_profile.hpp"

#include <gperftools/profiler.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millwright::app {
namespace {

constexpr int kUsualSeconds = 30;
constexpr int kMostSeconds = 300;

// The library has one profile in a process, and writes it to a file by its name: one in memory,
// since the file system of a container may be read only.
class CpuProfile {
 public:
  // Conflict: one is being taken. Internal: the system does not let us.
  static base::Result<std::shared_ptr<CpuProfile>> start() {
    static std::atomic<bool> running{false};
    if (running.exchange(true)) {
      return base::fail(base::ErrorKind::Conflict, "a profile is being taken; ask again later");
    }
    std::shared_ptr<CpuProfile> profile(new CpuProfile(running));
    const std::string name = "/proc/self/fd/" + std::to_string(profile->file_);
    profile->started_ = profile->file_ >= 0 && ProfilerStart(name.c_str()) != 0;
    if (!profile->started_) {
      return base::fail(base::ErrorKind::Internal, "the profiler cannot be started");
    }
    return profile;
  }
  ~CpuProfile() {
    stop();
    if (file_ >= 0) {
      close(file_);
    }
    running_ = false;
  }
  CpuProfile(const CpuProfile&) = delete;
  CpuProfile& operator=(const CpuProfile&) = delete;

  // Ends it.
  std::string take() {
    stop();
    std::string bytes(static_cast<std::size_t>(std::max<off_t>(lseek(file_, 0, SEEK_END), 0)),
                      '\0');
    std::size_t got = 0;
    while (got < bytes.size()) {
      const ssize_t more =
          pread(file_, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
      if (more <= 0) {
        break;
      }
      got += static_cast<std::size_t>(more);
    }
    bytes.resize(got);
    return bytes;
  }

 private:
  explicit CpuProfile(std::atomic<bool>& running)
      : running_(running), file_(memfd_create("profile", MFD_CLOEXEC)) {}
  void stop() {
    if (std::exchange(started_, false)) {
      ProfilerStop();
    }
  }

  std::atomic<bool>& running_;
  const int file_;
  bool started_ = false;
};

std::optional<int> seconds_of(const net::Request& request) {
  const auto text = request.query("seconds");
  if (!text) {
    return kUsualSeconds;
  }
  int seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  const bool whole = error == std::errc() && end == text->data() + text->size();
  return whole && seconds >= 1 && seconds <= kMostSeconds ? std::optional(seconds) : std::nullopt;
}

}  // namespace

void add_profile_route(net::Router& router, base::Loop& loop) {
  router.add("/debug/pprof/profile", [&loop](const net::Request& request,
                                             std::shared_ptr<net::Exchange> exchange) {
    const auto seconds = seconds_of(request);
    if (!seconds) {
      exchange->respond(net::Response::text(
          400, "seconds must be a whole number from 1 to " + std::to_string(kMostSeconds) + "\n"));
      return;
    }
    auto profile = CpuProfile::start();
    if (!profile) {
      const bool is_taken = profile.error().kind == base::ErrorKind::Conflict;
      exchange->respond(net::Response::text(is_taken ? 409 : 500, profile.error().message + "\n"));
      return;
    }
    loop.post([&loop, seconds = *seconds, profile = *std::move(profile),
               exchange = std::move(exchange)]() mutable {
      loop.after(std::chrono::seconds(seconds),
                 [profile = std::move(profile), exchange = std::move(exchange)] {
                   net::Response response = net::Response::text(200, profile->take());
                   response.headers.set("Content-Type", "application/octet-stream");
                   response.headers.set("Content-Disposition", "attachment; filename=\"profile\"");
                   exchange->respond(std::move(response));
                 });
    });
  });
}

}  // namespace millwright::app
