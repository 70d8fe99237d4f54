#include "cloud/aws/catalog/branch_interfaces.hpp"

#include <array>
#include <charconv>

namespace millwright::cloud::aws {
namespace {

// Families of types, and the numbers of their sizes. EC2 has no call that tells them: these are
// what the VPC resource controller (amazon-vpc-resource-controller-k8s, 1.8.2) lets a node have.
struct Row {
  std::string_view families;
  std::string_view sizes;
};
// clang-format off
constexpr std::array<Row, 30> kRows{{
    {" c5n c8a c8i c8id gr6f m8a m8i m8id r8a r8i r8id u-3tb1 u7i-12tb u7i-6tb u7i-8tb x8i ",
     " medium 4 large 9 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 82 9xlarge 54 12xlarge 110 "
     "16xlarge 106 18xlarge 107 24xlarge 106 32xlarge 98 48xlarge 98 56xlarge 6 64xlarge 98 "
     "96xlarge 98 112xlarge 107 224xlarge 107 metal 107 metal-24xl 106 metal-48xl 98 "
     "metal-96xl 98 "},
    {" c8ib c8in c8ine gr6 m8ib m8idb m8idn m8in m8ine mac-m3ultra mac-m4 mac-m4max "
     "mac-m4pro mac1 mac2 mac2-m1ultra mac2-m2 mac2-m2pro r8ib r8idb r8idn r8in u7in-16tb "
     "u7in-24tb u7in-32tb ",
     " large 8 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 84 12xlarge 110 16xlarge 106 "
     "24xlarge 106 32xlarge 106 48xlarge 98 96xlarge 98 224xlarge 106 metal 6 metal-48xl 98 "
     "metal-96xl 98 "},
    {" c6a c6i c6id c7a c7i dl2q f2 g6 inf2 m6a m6i m6id m7a m7i p3dn r6a r6i r6id r7a r7i "
     "r7iz x2idn ",
     " medium 4 large 9 xlarge 18 2xlarge 38 4xlarge 54 6xlarge 84 8xlarge 84 12xlarge 114 "
     "16xlarge 107 24xlarge 107 32xlarge 107 48xlarge 107 metal 107 metal-16xl 107 "
     "metal-24xl 107 metal-32xl 107 metal-48xl 107 "},
    {" c5 c5a c5ad c5d c6g c6gd c6gn c7g c7gd c7gn c8g c8gd g5g i4g i8g im4gn is4gen m5a "
     "m5ad m5d m5dn m5n m6g m6gd m7g m7gd m8g m8gd r5a r5ad r5b r5d r5dn r5n r6g r6gd r7g "
     "r7gd r8g r8gd trn1n vt1 x8g ",
     " medium 4 large 9 xlarge 18 2xlarge 38 3xlarge 38 4xlarge 54 6xlarge 54 8xlarge 54 "
     "9xlarge 54 12xlarge 54 16xlarge 107 18xlarge 107 24xlarge 107 32xlarge 120 48xlarge "
     "107 metal 107 metal-24xl 107 metal-48xl 107 "},
    {" c8gb c8gn c9g c9gd m8gb m8gn m9g m9gd r8gb r8gn r9g r9gd ",
     " medium 4 large 9 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 52 12xlarge 50 16xlarge 106 "
     "24xlarge 98 48xlarge 98 metal-24xl 98 metal-48xl 98 "},
    {" a1 i7i ",
     " medium 10 large 9 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 84 12xlarge 84 16xlarge "
     "107 24xlarge 107 48xlarge 107 metal 54 metal-24xl 107 metal-48xl 107 "},
    {" hpc7g i7ie ",
     " large 19 xlarge 27 2xlarge 27 3xlarge 27 4xlarge 118 6xlarge 54 8xlarge 118 12xlarge "
     "54 16xlarge 118 18xlarge 107 24xlarge 107 48xlarge 107 metal-24xl 107 metal-48xl 107 "},
    {" i8ge ",
     " large 19 xlarge 27 2xlarge 27 3xlarge 25 6xlarge 52 12xlarge 50 18xlarge 106 "
     "24xlarge 106 48xlarge 98 metal-24xl 106 metal-48xl 98 "},
    {" c6in m6idn m6in p5e p5en p6-b200 p6-b300 r6idn r6in ",
     " large 9 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 84 12xlarge 114 16xlarge 107 "
     "24xlarge 107 32xlarge 106 48xlarge 120 metal 106 "},
    {" i4i ",
     " large 9 xlarge 6 2xlarge 26 4xlarge 52 8xlarge 112 12xlarge 112 16xlarge 120 "
     "24xlarge 105 32xlarge 120 metal 120 "},
    {" m5 r5 ",
     " large 9 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 54 12xlarge 54 16xlarge 107 24xlarge "
     "107 metal 120 "},
    {" m8azn p5 trn1 x8aedz ",
     " medium 3 large 8 xlarge 18 2xlarge 17 3xlarge 34 4xlarge 58 6xlarge 54 12xlarge 106 "
     "24xlarge 106 32xlarge 82 48xlarge 120 metal-12xl 106 metal-24xl 106 "},
    {" dl1 p4d p4de x2gd ",
     " medium 10 large 9 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 54 12xlarge 54 16xlarge "
     "107 24xlarge 62 metal 107 "},
    {" c7g-flex c8g-flex m7g-flex m8g-flex ",
     " medium 1 large 3 xlarge 8 2xlarge 18 4xlarge 34 8xlarge 54 12xlarge 54 16xlarge 47 "},
    {" g5 ",
     " xlarge 4 2xlarge 17 4xlarge 34 8xlarge 84 12xlarge 107 16xlarge 114 24xlarge 107 "
     "48xlarge 115 "},
    {" g6e g6f ",
     " large 10 xlarge 18 2xlarge 38 4xlarge 54 8xlarge 84 12xlarge 112 16xlarge 107 "
     "24xlarge 102 48xlarge 82 "},
    {" i3en ",
     " large 5 xlarge 12 2xlarge 28 3xlarge 38 6xlarge 54 12xlarge 54 24xlarge 107 metal "
     "107 "},
    {" x2iedn ",
     " xlarge 11 2xlarge 27 4xlarge 54 8xlarge 114 16xlarge 107 24xlarge 107 32xlarge 107 "
     "metal 107 "},
    {" c7i-flex m7i-flex ",
     " large 3 xlarge 8 2xlarge 18 4xlarge 34 8xlarge 54 12xlarge 114 16xlarge 107 "},
    {" c8i-flex m8i-flex r8i-flex ",
     " large 3 xlarge 8 2xlarge 18 4xlarge 34 8xlarge 52 12xlarge 110 16xlarge 106 "},
    {" g4dn ",
     " xlarge 39 2xlarge 39 4xlarge 59 8xlarge 58 12xlarge 54 16xlarge 118 metal 107 "},
    {" m5zn x2iezn ",
     " large 13 xlarge 29 2xlarge 62 3xlarge 92 4xlarge 114 6xlarge 114 8xlarge 114 "
     "12xlarge 107 metal 107 "},
    {" z1d ",
     " large 13 xlarge 28 2xlarge 58 3xlarge 54 6xlarge 54 12xlarge 107 metal 107 "},
    {" d3en ",
     " xlarge 24 2xlarge 58 4xlarge 118 6xlarge 118 8xlarge 118 12xlarge 119 "},
    {" g7 ",
     " 2xlarge 38 4xlarge 54 8xlarge 82 12xlarge 110 24xlarge 98 48xlarge 98 "},
    {" g7e ",
     " 2xlarge 120 4xlarge 120 8xlarge 120 12xlarge 120 24xlarge 120 48xlarge 120 "},
    {" g4ad ",
     " xlarge 12 2xlarge 12 4xlarge 11 8xlarge 10 16xlarge 6 "},
    {" d3 ",
     " xlarge 42 2xlarge 92 4xlarge 118 8xlarge 119 "},
    {" inf1 ",
     " xlarge 38 2xlarge 38 6xlarge 54 24xlarge 111 "},
    {" i3 ",
     " metal 120 "},
}};
// clang-format on

// Where the word ends, in text that has a blank before and after each; npos when it is not there.
std::size_t end_of(std::string_view text, std::string_view word) {
  const auto found = text.find(std::string(" ").append(word).append(" "));
  return found == std::string_view::npos ? found : found + word.size() + 2;
}

}  // namespace

std::int64_t branch_interfaces(std::string_view type) {
  const auto dot = type.find('.');
  if (dot == std::string_view::npos) {
    return 0;
  }
  for (const auto& row : kRows) {
    if (end_of(row.families, type.substr(0, dot)) == std::string_view::npos) {
      continue;
    }
    std::int64_t count = 0;
    const auto at = end_of(row.sizes, type.substr(dot + 1));
    if (at != std::string_view::npos) {
      std::from_chars(row.sizes.data() + at, row.sizes.data() + row.sizes.size(), count);
    }
    return count;
  }
  return 0;
}

}  // namespace millwright::cloud::aws
