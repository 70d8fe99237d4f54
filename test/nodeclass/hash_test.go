// Package nodeclass checks the vectors of the hash of EC2NodeClasses, test/data/aws, with the own
// library of Karpenter's AWS provider. The unit tests check our hash with the same file.
package nodeclass

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	v1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
)

const vectorFile = "../data/aws/node_class_hashes.json"

type vector struct {
	Name     string          `json:"name"`
	CABundle string          `json:"caBundle"`
	Spec     json.RawMessage `json:"spec"`
	// Absent where the version cannot read the spec.
	V5 string `json:"v5,omitempty"`
	V6 string `json:"v6"`
}

// The field for the version that the required release has.
func (v *vector) expected(t *testing.T) *string {
	switch v1.EC2NodeClassHashVersion {
	case "v5":
		return &v.V5
	case "v6":
		return &v.V6
	}
	t.Fatalf("the vectors have no hash of version %s", v1.EC2NodeClassHashVersion)
	return nil
}

// The class as the provider reads it from the API server, which writes members in order. Fields
// that the release does not have are an error here; its CRD would drop them.
func (v *vector) class(t *testing.T) (*v1.EC2NodeClass, error) {
	var object any
	if err := json.Unmarshal(v.Spec, &object); err != nil {
		t.Fatal(err)
	}
	wire, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	class := &v1.EC2NodeClass{}
	decoder := json.NewDecoder(bytes.NewReader(wire))
	decoder.DisallowUnknownFields()
	return class, decoder.Decode(&class.Spec)
}

func read(t *testing.T) []*vector {
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []*vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// One vector a line.
func write(t *testing.T, vectors []*vector) {
	lines := make([]string, 0, len(vectors))
	for _, v := range vectors {
		line := &bytes.Buffer{}
		encoder := json.NewEncoder(line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(line.String()))
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if err := os.WriteFile(vectorFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVectorsAreWhatTheProviderComputes(t *testing.T) {
	update := os.Getenv("MILLWRIGHT_UPDATE") != ""
	vectors := read(t)
	if len(vectors) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			expected := v.expected(t)
			class, err := v.class(t)
			if err != nil {
				t.Skipf("release %s cannot read it: %v", v1.EC2NodeClassHashVersion, err)
			}
			hash := class.Hash(&v.CABundle)
			if update {
				*expected = hash
			} else if hash != *expected {
				t.Errorf("the provider computes %s, the file says %q", hash, *expected)
			}
		})
	}
	if update {
		write(t, vectors)
	}
}
