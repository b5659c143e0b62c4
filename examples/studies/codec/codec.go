// SPDX-License-Identifier: MIT

// Package codec registers the compressors that grpc-go does not bring: deflate,
// zstd and snappy, named as the gRPC documents name them. Like grpc-go's own
// gzip they keep their state in pools, so that CPU figures can be compared.
package codec

import (
	"compress/zlib"
	"io"
	"sync"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // registers itself
)

// A writer that can be used again for another message.
type writer interface {
	io.WriteCloser
	Reset(io.Writer)
}

// A reader that can be used again for another message.
type reader interface {
	io.Reader
	reset(io.Reader) error
}

type codec struct {
	name    string
	writers sync.Pool
	readers sync.Pool
}

func (c *codec) Name() string { return c.name }

// pooledWriter goes back to its pool when it is closed.
type pooledWriter struct {
	writer
	pool *sync.Pool
}

func (w *pooledWriter) Close() error {
	defer w.pool.Put(w)
	return w.writer.Close()
}

func (c *codec) Compress(out io.Writer) (io.WriteCloser, error) {
	w := c.writers.Get().(*pooledWriter)
	w.Reset(out)
	return w, nil
}

// pooledReader goes back to its pool at the end of the message.
type pooledReader struct {
	reader
	pool *sync.Pool
}

func (r *pooledReader) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p)
	if err == io.EOF {
		r.pool.Put(r)
	}
	return n, err
}

func (c *codec) Decompress(in io.Reader) (io.Reader, error) {
	r := c.readers.Get().(*pooledReader)
	if err := r.reset(in); err != nil {
		c.readers.Put(r)
		return nil, err
	}
	return r, nil
}

// zlibReader begins with the first message: zlib has no reader without input.
type zlibReader struct{ io.Reader }

func (r *zlibReader) reset(in io.Reader) error {
	if r.Reader != nil {
		return r.Reader.(zlib.Resetter).Reset(in, nil)
	}
	fresh, err := zlib.NewReader(in)
	r.Reader = fresh
	return err
}

type zstdReader struct{ *zstd.Decoder }

func (r zstdReader) reset(in io.Reader) error { return r.Reset(in) }

type snappyReader struct{ *snappy.Reader }

func (r snappyReader) reset(in io.Reader) error {
	r.Reset(in)
	return nil
}

func register(name string, newWriter func() writer, newReader func() reader) {
	c := &codec{name: name}
	c.writers.New = func() any { return &pooledWriter{newWriter(), &c.writers} }
	c.readers.New = func() any { return &pooledReader{newReader(), &c.readers} }
	encoding.RegisterCompressor(c)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// RegisterAll is for a server.
func RegisterAll() {
	for _, name := range []string{"deflate", "zstd", "snappy"} {
		Register(name)
	}
}

// Register makes a codec known. A client that knows only the one it uses
// offers no more than that and gzip.
func Register(name string) {
	if f := registers[name]; f != nil {
		f()
	}
}

var registers = map[string]func(){
	"deflate": func() {
		register("deflate",
			func() writer { return zlib.NewWriter(nil) },
			func() reader { return &zlibReader{} })
	},
	"zstd": func() {
		register("zstd",
			func() writer {
				return must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))
			},
			func() reader {
				return zstdReader{must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))}
			})
	},
	// The framed format: a block needs the whole message at once, and grpc-go
	// hands over a stream.
	"snappy": func() {
		register("snappy",
			func() writer { return snappy.NewBufferedWriter(nil) },
			func() reader { return snappyReader{snappy.NewReader(nil)} })
	},
	"fake": func() { encoding.RegisterCompressor(fake{}) },
}

// fake sends the bytes unchanged, under a name that no server knows.
type fake struct{}

func (fake) Name() string { return "fake" }

func (fake) Compress(w io.Writer) (io.WriteCloser, error) { return nopCloser{w}, nil }

func (fake) Decompress(r io.Reader) (io.Reader, error) { return r, nil }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
