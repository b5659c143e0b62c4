// SPDX-License-Identifier: MIT

// Package payload makes the data that the studies send: the same bytes in
// each run.
package payload

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Make returns size bytes of a kind: repeated, json or random.
func Make(kind string, size int) ([]byte, error) {
	switch kind {
	case "repeated":
		return Repeated(size), nil
	case "json":
		return JSON(size), nil
	case "random":
		return Random(size), nil
	}
	return nil, fmt.Errorf("no payload %q", kind)
}

// Repeated is one short JSON object over and over.
func Repeated(size int) []byte {
	const text = `{"id":12345,"name":"example","tags":["a","b","c"],"ok":true},`
	return bytes.Repeat([]byte(text), size/len(text)+1)[:size]
}

// Random cannot be compressed.
func Random(size int) []byte {
	var seed [32]byte
	out := make([]byte, size)
	// Read of ChaCha8 never fails.
	_, _ = rand.NewChaCha8(seed).Read(out)
	return out
}

// JSON is a list of records as a service would answer with: the same members
// in each, some constant, some words of a small vocabulary, and numbers that
// are noise. How much is constant was chosen so that gzip leaves about as much
// of it as of the data of the published study.
func JSON(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	for out.Len() < size {
		fmt.Fprintf(&out, `{"id":%d,"user":"user_%d","score":%d.%02d,"active":%t,`+
			`"tags":["alpha","beta","gamma"],"city":"%s","currency":"EUR","unit":"h"},`,
			random.IntN(1000000), random.IntN(1000), random.IntN(100), random.IntN(100),
			random.IntN(2) == 0, cities[random.IntN(len(cities))])
	}
	return out.Bytes()[:size]
}

var cities = []string{"Berlin", "Hamburg", "Paris", "Lyon", "London", "Leeds", "Rome", "Milan"}
