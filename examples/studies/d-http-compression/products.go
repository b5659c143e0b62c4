// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// bodies are what the study sends; README.md says why they look like that.
var bodies = map[string]func() []byte{
	"308":   func() []byte { return products(3) },
	"2.1K":  func() []byte { return products(21) },
	"21.2K": func() []byte { return products(209) },
	"213K":  func() []byte { return products(2080) },
	"2.09M": func() []byte { return products(20690) },
	"ok":    func() []byte { return []byte(`{"ok":true}`) },
	"user": func() []byte {
		return []byte(`{"id":48213,"name":"Zoé Roy","city":"Köln","plan":"x"}`)
	},
	"image": image,
}

func bodyNamed(name string) ([]byte, error) {
	if made := bodies[name]; made != nil {
		return made(), nil
	}
	return nil, fmt.Errorf("there is no body %q", name)
}

// How the products came to be alike to the published ones: see README.md.
const (
	seed       = 9867
	digits     = "0123456789abcde"
	codeShort  = 11 // digits of a code: so many, or one more
	far        = 420
	farPercent = 24
	name       = "sale sale sale sale sale sale sale sale sale sale sale" +
		" sale sal"
)

// products is a list of n products, the same for all time: a number that
// counts, a name that is always the same, and a code that cannot be guessed.
// Of those that have more than `far` products before them, farPercent in a
// hundred have the code of an earlier one that is at least as far away.
func products(n int) []byte {
	random := rand.New(rand.NewPCG(seed, 2))
	var list bytes.Buffer
	var codes [][]byte
	for i := range n {
		code := make([]byte, codeShort+random.IntN(2))
		for j := range code {
			code[j] = digits[random.IntN(len(digits))]
		}
		if i >= far && random.IntN(100) < farPercent {
			code = codes[random.IntN(i+1-far)]
		}
		codes = append(codes, code)
		fmt.Fprintf(&list, `,{"nr":%d,"name":"%s","sku":"%s"}`, i+1, name,
			code)
	}
	list.WriteString("]")
	list.Bytes()[0] = '['
	return list.Bytes()
}

// image is 150,000 bytes that no codec can shorten, in base64.
func image() []byte {
	pixels := make([]byte, 150000)
	rand.NewChaCha8([32]byte{1}).Read(pixels)
	return []byte(`{"id":1,"image":"` +
		base64.StdEncoding.EncodeToString(pixels) + `"}`)
}

// writeFiles makes NAME.json of every body in a folder.
func writeFiles(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: files DIR")
	}
	for name, made := range bodies {
		path := filepath.Join(arguments[0], name+".json")
		if err := os.WriteFile(path, made(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
