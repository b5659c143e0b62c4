// SPDX-License-Identifier: MIT

// Package codec registers the compressors that grpc-go itself does not bring.
// gzip comes with grpc-go; deflate, zstd and snappy are named as the gRPC
// specification and the other stacks name them.
package codec

import (
	"compress/zlib"
	"io"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
)

// Names are the encodings both programs can send, in the order in which they
// are offered.
var Names = []string{encoding.Identity, gzip.Name, "deflate", "zstd", "snappy"}

// Unknown is the encoding no server knows: it passes the bytes unchanged.
const Unknown = "grpctap-rot0"

type codec struct {
	name       string
	compress   func(io.Writer) (io.WriteCloser, error)
	decompress func(io.Reader) (io.Reader, error)
}

func (c codec) Name() string { return c.name }

func (c codec) Compress(w io.Writer) (io.WriteCloser, error) {
	return c.compress(w)
}

func (c codec) Decompress(r io.Reader) (io.Reader, error) {
	return c.decompress(r)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func init() {
	encoding.RegisterCompressor(codec{"deflate",
		func(w io.Writer) (io.WriteCloser, error) {
			return zlib.NewWriter(w), nil
		},
		func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	})
	encoding.RegisterCompressor(codec{"zstd",
		func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		},
		func(r io.Reader) (io.Reader, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		},
	})
	// The framed format: a block needs the whole message at once, and the
	// stack hands over a stream.
	encoding.RegisterCompressor(codec{"snappy",
		func(w io.Writer) (io.WriteCloser, error) {
			return snappy.NewBufferedWriter(w), nil
		},
		func(r io.Reader) (io.Reader, error) { return snappy.NewReader(r), nil },
	})
}

// RegisterUnknown makes this process able to send Unknown. Only a client
// calls it, and only for the one scenario: a registered encoding is offered
// in grpc-accept-encoding from then on.
func RegisterUnknown() {
	encoding.RegisterCompressor(codec{Unknown,
		func(w io.Writer) (io.WriteCloser, error) { return nopCloser{w}, nil },
		func(r io.Reader) (io.Reader, error) { return r, nil },
	})
}
