// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
)

// A coding is a content coding at a level.
type coding struct {
	name  string // as in Content-Encoding: gzip or br
	level int
}

// parseCoding reads "gzip-6".
func parseCoding(text string) (coding, error) {
	name, level, _ := strings.Cut(text, "-")
	n, err := strconv.Atoi(level)
	if err != nil || (name != "gzip" && name != "br") {
		return coding{}, fmt.Errorf("%q is no coding like gzip-6", text)
	}
	return coding{name, n}, nil
}

// A resetter is an encoder that can be used again.
type resetter interface {
	io.WriteCloser
	Reset(io.Writer)
}

func (c coding) writer(w io.Writer) (resetter, error) {
	if c.name == "br" {
		return brotli.NewWriterLevel(w, c.level), nil
	}
	return gzip.NewWriterLevel(w, c.level)
}

func (c coding) encode(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := c.writer(&out)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(body); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// decode undoes one content coding, "" being none.
func decode(name string, body io.Reader) ([]byte, error) {
	switch name {
	case "":
	case "br":
		body = brotli.NewReader(body)
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = z
	default:
		return nil, fmt.Errorf("content coding %q", name)
	}
	return io.ReadAll(body)
}
