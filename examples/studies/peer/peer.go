// SPDX-License-Identifier: MIT

// Package peer is what the studies' clients and servers have in common: how
// they listen, connect, wait and print.
package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
)

// Settle is how long a client waits for what follows a call on the connection
// (acknowledgements of PING, WINDOW_UPDATE), so that it is counted with it.
const Settle = 30 * time.Millisecond

// Listen takes a free port of loopback and says which; SIGTERM ends the
// process, SIGUSR1 prints what it has allocated so far.
func Listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	go func() {
		for s := range signals {
			if s != syscall.SIGUSR1 {
				os.Exit(0)
			}
			Print(map[string]uint64{"allocated": Allocated()})
		}
	}()
	fmt.Printf("listening %d\n", listener.Addr().(*net.TCPAddr).Port)
	return listener
}

// Allocated is all that was ever allocated on the heap, in bytes.
func Allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Print writes a JSON line.
func Print(value any) {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		log.Fatal(err)
	}
}

// Dial connects and waits until the connection stands.
func Dial(target string, options ...grpc.DialOption) *grpc.ClientConn {
	options = append(options, grpc.WithNoProxy(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		log.Fatal(err)
	}
	conn.Connect()
	for s := conn.GetState(); s != connectivity.Ready; s = conn.GetState() {
		if s == connectivity.TransientFailure {
			log.Fatalf("cannot connect to %s", target)
		}
		conn.WaitForStateChange(context.Background(), s)
	}
	return conn
}

// Time runs f and returns how long it took, in microseconds.
func Time(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start).Nanoseconds()) / 1000
}

// Fastest is how long f takes when nothing else gets in its way: the best of
// 40 rounds of batch calls, in microseconds a call.
func Fastest(batch int, f func()) float64 {
	best := math.Inf(1)
	for range 40 {
		best = min(best, Time(func() {
			for range batch {
				f()
			}
		}))
	}
	return best / float64(batch)
}
