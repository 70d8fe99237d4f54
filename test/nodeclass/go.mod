// Karpenter's AWS provider, for the hash of its EC2NodeClass alone. Here the release whose hash has
// version v6; v5.mod names one whose hash has v5.
module millwright.io/test/nodeclass

go 1.26.9

require github.com/aws/karpenter-provider-aws v1.14.1
