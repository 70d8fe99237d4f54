#include "app/program/open_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

namespace millwright::app {
namespace {

// Puts the process's own limit back.
class OpenFiles : public testing::Test {
 protected:
  OpenFiles() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~OpenFiles() override { setrlimit(RLIMIT_NOFILE, &before_); }
  static void allow(rlim_t soft) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = std::min(soft, limit.rlim_max);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  static rlim_t allowed() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }
  rlim_t most() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

TEST_F(OpenFiles, AreRaisedAsFarAsTheSystemLetsUs) {
  allow(512);
  EXPECT_EQ(allow_open_files(), std::min<rlim_t>(most(), kOpenFiles));
  EXPECT_EQ(allowed(), std::min<rlim_t>(most(), kOpenFiles));
}

TEST_F(OpenFiles, AreNeverLowered) {
  allow(kOpenFiles + 1);
  const auto before = allowed();
  EXPECT_EQ(allow_open_files(), before);
  EXPECT_EQ(allowed(), before);
}

}  // namespace
}  // namespace millwright::app
