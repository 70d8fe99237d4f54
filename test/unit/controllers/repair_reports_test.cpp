// How conditions of nodes are named in metrics.
#include "controllers/nodeclaim/repair/repair_reports.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

TEST(RepairReports, NameConditionsAsKarpenterDoes) {
  EXPECT_EQ(snake_case("Ready"), "ready");
  EXPECT_EQ(snake_case("AcceleratedHardwareReady"), "accelerated_hardware_ready");
  EXPECT_EQ(snake_case("PIDPressure"), "pid_pressure");
  EXPECT_EQ(snake_case("Disk2Good"), "disk2_good");
  EXPECT_EQ(snake_case("already_named"), "already_named");
  EXPECT_EQ(snake_case(""), "");
}

}  // namespace
}  // namespace millwright::controllers
