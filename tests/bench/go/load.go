// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A result is what load prints. An exchange is a call, or of a stream a
// request and its response.
type result struct {
	Exchanges int     `json:"exchanges"`
	Seconds   float64 `json:"seconds"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
}

type options struct {
	target   string
	stream   bool
	gzip     bool
	inFlight int
	size     int
	duration time.Duration
}

// payload is a list of records, as JSON has them; always the same one.
func payload(size int) []byte {
	words := []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot",
		"golf", "hotel", "india", "juliett", "kilo", "lima"}
	random := rand.New(rand.NewSource(1))
	var out bytes.Buffer
	for out.Len() < size {
		fmt.Fprintf(&out, `{"id":%d,"name":"%s %s","score":%.4f,"tags":["%s","%s"],"ok":%t},`,
			random.Intn(1000000), words[random.Intn(12)], words[random.Intn(12)],
			random.Float64(), words[random.Intn(12)], words[random.Intn(12)],
			random.Intn(2) == 0)
	}
	return out.Bytes()[:size]
}

// dump writes one gRPC message of the load as it is on the wire.
func dump(o options) error {
	message, err := proto.Marshal(wrapperspb.Bytes(payload(o.size)))
	if err != nil {
		return err
	}
	flag := byte(0)
	if o.gzip {
		var packed bytes.Buffer
		w, err := encoding.GetCompressor(gzip.Name).Compress(&packed)
		if err != nil {
			return err
		}
		if _, err := w.Write(message); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		flag, message = 1, packed.Bytes()
	}
	n := len(message)
	prefix := []byte{flag, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	_, err = os.Stdout.Write(append(prefix, message...))
	return err
}

func connect(o options) (*grpc.ClientConn, error) {
	calls := []grpc.CallOption{}
	if o.gzip {
		calls = append(calls, grpc.UseCompressor(gzip.Name))
	}
	conn, err := grpc.NewClient(o.target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithInitialWindowSize(windowSize),
		grpc.WithInitialConnWindowSize(windowSize),
		grpc.WithDefaultCallOptions(calls...))
	if err != nil {
		return nil, err
	}
	// The first call stands outside the measurement, the connecting with it.
	return conn, conn.Invoke(context.Background(), unaryMethod,
		wrapperspb.Bytes(nil), &wrapperspb.BytesValue{})
}

// exchanger returns what does one exchange, and what ends them.
func exchanger(conn *grpc.ClientConn, o options) (func() error, func() error, error) {
	in := wrapperspb.Bytes(payload(o.size))
	out := &wrapperspb.BytesValue{}
	check := func(err error) error {
		if err == nil && len(out.Value) != o.size {
			err = fmt.Errorf("%d bytes came back", len(out.Value))
		}
		return err
	}
	if !o.stream {
		return func() error {
			return check(conn.Invoke(context.Background(), unaryMethod, in, out))
		}, func() error { return nil }, nil
	}
	stream, err := conn.NewStream(context.Background(), &service.Streams[0], streamMethod)
	if err != nil {
		return nil, nil, err
	}
	return func() error {
			if err := stream.SendMsg(in); err != nil {
				return err
			}
			return check(stream.RecvMsg(out))
		}, func() error {
			if err := stream.CloseSend(); err != nil {
				return err
			}
			if err := stream.RecvMsg(out); err != io.EOF {
				return fmt.Errorf("after the end: %v", err)
			}
			return nil
		}, nil
}

// worker exchanges until the time is over and returns how long each took.
func worker(conn *grpc.ClientConn, o options, until time.Time) ([]int64, error) {
	exchange, end, err := exchanger(conn, o)
	if err != nil {
		return nil, err
	}
	times := []int64{}
	for now := time.Now(); now.Before(until); {
		if err := exchange(); err != nil {
			return nil, err
		}
		after := time.Now()
		times = append(times, after.Sub(now).Nanoseconds())
		now = after
	}
	return times, end()
}

func load(o options) error {
	conn, err := connect(o)
	if err != nil {
		return err
	}
	defer conn.Close()
	var all []int64
	var wait sync.WaitGroup
	var lock sync.Mutex
	start := time.Now()
	for range o.inFlight {
		wait.Go(func() {
			times, err := worker(conn, o, start.Add(o.duration))
			if err != nil {
				log.Fatal(err)
			}
			lock.Lock()
			defer lock.Unlock()
			all = append(all, times...)
		})
	}
	wait.Wait()
	seconds := time.Since(start).Seconds()
	slices.Sort(all)
	return json.NewEncoder(os.Stdout).Encode(result{Exchanges: len(all), Seconds: seconds,
		P50: float64(all[len(all)/2]) / 1000, P99: float64(all[len(all)*99/100]) / 1000})
}
