// SPDX-License-Identifier: MIT

// Command client sends an item again and again, one way of three, and prints a
// JSON line: how long each call took, and how many there were a second.
//
//	client -as grpc|http1|h2c [-item small|medium|large] [-heavy]
//	       [-warm N] [-count N] [-pause D] [-callers N] [-conns N] TARGET
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"grpctap/studies/c-grpc-and-json/item"
	"grpctap/studies/payload"
	"grpctap/studies/peer"
)

// A caller makes one call with the headers given.
type caller func(headers [][2]string) error

// The items of the published study: id, name and count; with ten tags and
// 1 KiB; and with 64 KiB.
func newItem(size string) (*item.Item, error) {
	it := &item.Item{Id: "1042", Name: "usb keypad", Count: 42}
	bytes := 0
	switch size {
	case "small":
		return it, nil
	case "medium":
		bytes = 1 << 10
	case "large":
		bytes = 64 << 10
	default:
		return nil, fmt.Errorf("no item %q", size)
	}
	for i := range 10 {
		it.Tags = append(it.Tags, fmt.Sprintf("tag-%d", i))
	}
	it.Payload = payload.Random(bytes)
	return it, nil
}

func grpcCaller(target string, it *item.Item) (caller, func()) {
	conn := peer.Dial(target)
	stub := item.NewItemsClient(conn)
	return func(headers [][2]string) error {
		ctx := context.Background()
		for _, h := range headers {
			ctx = metadata.AppendToOutgoingContext(ctx, strings.ToLower(h[0]), h[1])
		}
		out, err := stub.Echo(ctx, it, grpc.WaitForReady(true))
		if err == nil && !proto.Equal(it, out) {
			log.Fatal("the response is no echo")
		}
		return err
	}, func() { _ = conn.Close() }
}

// A jsonItem is the item as the server writes it.
type jsonItem struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Count   int32    `json:"count"`
	Tags    []string `json:"tags"`
	Payload []byte   `json:"payload"`
}

func body(it *item.Item) []byte {
	out, err := json.Marshal(jsonItem{it.Id, it.Name, it.Count, it.Tags, it.Payload})
	if err != nil {
		log.Fatal(err)
	}
	return out
}

func httpCaller(as, target string, it *item.Item, conns int) (caller, func()) {
	transport := &http.Transport{Protocols: new(http.Protocols),
		MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns}
	transport.Protocols.SetHTTP1(as == "http1")
	transport.Protocols.SetUnencryptedHTTP2(as == "h2c")
	if as == "h2c" {
		// One connection carries all calls; a limit would count calls.
		transport.MaxConnsPerHost = 0
	}
	client := &http.Client{Transport: transport}
	return func(headers [][2]string) error {
		// Marshalling is part of a call, as it is in gRPC.
		data := body(it)
		r, err := http.NewRequest("POST", "http://"+target+"/items", bytes.NewReader(data))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		for _, h := range headers {
			r.Header.Set(h[0], h[1])
		}
		response, err := client.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		out, err := io.ReadAll(response.Body)
		if err == nil && (response.StatusCode != 200 || !bytes.Equal(out, data)) {
			log.Fatal("the response is no echo")
		}
		var decoded jsonItem
		return json.Unmarshal(out, &decoded)
	}, client.CloseIdleConnections
}

// heavy is what a browser's session brings along: a token and cookies that
// stay, and two identifiers that are new in each call.
func heavy(call int64) [][2]string {
	token := strings.Repeat("eyJhbGciOiJSUzI1NiIsImtpZCI6IjIwMjYifQ", 24)[:900]
	cookie := "session=" + strings.Repeat("0123456789abcdef", 16) +
		"; theme=dark; consent=" + strings.Repeat("10", 64) +
		"; _ga=GA1.2.123456789.1767225600; csrf=" + strings.Repeat("9f86d081", 16)
	return [][2]string{
		{"Authorization", "Bearer " + token},
		{"Cookie", cookie},
		{"Traceparent", fmt.Sprintf("00-%032x-%016x-01", call*7919+1, call*104729+1)},
		{"X-Request-Id", fmt.Sprintf("%08x-0000-4000-8000-%012x", call*2654435761, call)},
	}
}

type settings struct {
	heavy          bool
	count, callers int
	pause          time.Duration
}

// run makes the calls, `callers` at a time, and returns their times.
func run(call caller, s settings) []float64 {
	var next atomic.Int64
	var all []float64
	var lock sync.Mutex
	var group sync.WaitGroup
	for range s.callers {
		group.Go(func() {
			var times []float64
			for {
				n := next.Add(1)
				if n > int64(s.count) {
					break
				}
				var headers [][2]string
				if s.heavy {
					headers = heavy(n)
				}
				times = append(times, peer.Time(func() {
					if err := call(headers); err != nil {
						log.Fatal(err)
					}
				}))
				time.Sleep(s.pause)
			}
			lock.Lock()
			defer lock.Unlock()
			all = append(all, times...)
		})
	}
	group.Wait()
	return all
}

func main() {
	as := flag.String("as", "grpc", "grpc, http1 or h2c")
	size := flag.String("item", "small", "small, medium or large")
	isHeavy := flag.Bool("heavy", false, "with a token, cookies and identifiers")
	warm := flag.Int("warm", 0, "calls before, without a time; one there is always")
	count := flag.Int("count", 1, "calls")
	pause := flag.Duration("pause", 0, "after each call")
	callers := flag.Int("callers", 1, "at the same time")
	conns := flag.Int("conns", 1, "connections of HTTP/1.1")
	flag.Parse()
	it, err := newItem(*size)
	if err != nil {
		log.Fatal(err)
	}
	start := time.Now()
	var call caller
	var done func()
	if *as == "grpc" {
		call, done = grpcCaller(flag.Arg(0), it)
	} else {
		call, done = httpCaller(*as, flag.Arg(0), it, *conns)
	}
	s := settings{heavy: *isHeavy, callers: 1, count: 1}
	run(call, s)
	first := float64(time.Since(start).Microseconds())
	if *warm > 1 {
		s.pause = peer.Settle
		s.count = *warm - 1
		run(call, s)
	}
	s.count, s.callers, s.pause = *count, *callers, *pause
	start = time.Now()
	times := run(call, s)
	took := time.Since(start)
	peer.Print(map[string]any{"first_us": first, "us": times,
		"calls_per_s": float64(*count) / took.Seconds()})
	time.Sleep(peer.Settle)
	done()
}
