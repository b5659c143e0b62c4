// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"io"
	"sync"

	"google.golang.org/grpc/encoding"
)

// A memo is a compressor that remembers the last message it has packed and the
// last one it has unpacked. All messages of a load are the same one: client and
// server would spend the whole core on compressing it again and again, and next
// to nothing would be left to see of what lies between them.
type memo struct {
	encoding.Compressor
	lock             sync.Mutex
	plain, packed    []byte
	arrived, content []byte
}

func rememberCompressor(name string) {
	encoding.RegisterCompressor(&memo{Compressor: encoding.GetCompressor(name)})
}

// A packing collects a message up to its end.
type packing struct {
	memo *memo
	to   io.Writer
	bytes.Buffer
}

func (m *memo) Compress(w io.Writer) (io.WriteCloser, error) {
	return &packing{memo: m, to: w}, nil
}

func (p *packing) Close() error {
	packed, err := p.memo.pack(p.Bytes())
	if err == nil {
		_, err = p.to.Write(packed)
	}
	return err
}

func (m *memo) pack(plain []byte) ([]byte, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.packed != nil && bytes.Equal(plain, m.plain) {
		return m.packed, nil
	}
	var packed bytes.Buffer
	w, err := m.Compressor.Compress(&packed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	m.plain, m.packed = bytes.Clone(plain), packed.Bytes()
	return m.packed, nil
}

func (m *memo) Decompress(r io.Reader) (io.Reader, error) {
	packed, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.content == nil || !bytes.Equal(packed, m.arrived) {
		plain, err := m.Compressor.Decompress(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		if m.content, err = io.ReadAll(plain); err != nil {
			return nil, err
		}
		m.arrived = packed
	}
	return bytes.NewReader(m.content), nil
}
