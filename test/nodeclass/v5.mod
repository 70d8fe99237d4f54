// In place of go.mod: the release that brought version v5 of the hash (go test -modfile=v5.mod).
module millwright.io/test/nodeclass

go 1.26.9

require github.com/aws/karpenter-provider-aws v1.12.0
