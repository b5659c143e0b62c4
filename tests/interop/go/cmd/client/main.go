// SPDX-License-Identifier: MIT

// Command client runs one scenario of ../../../README.md on one connection
// and prints what it sent and received, a JSON line a call.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"grpctap/codec"
	"grpctap/echo"
)

const (
	maxMessage    = 64 << 20
	statusMessage = "größer als 100 %: 値"
	inFlight      = 64
)

// A call is what the README says a line holds.
type call struct {
	Method        string `json:"method"`
	Status        uint32 `json:"status"`
	Message       string `json:"message"`
	Encoding      string `json:"encoding"`
	RequestSizes  []int  `json:"request_sizes"`
	ResponseSizes []int  `json:"response_sizes"`
}

type client struct {
	conn     *grpc.ClientConn
	stub     echo.EchoClient
	encoding string
	size     int
	count    int
	lines    [][]byte
	sequence atomic.Uint64
	output   sync.Mutex
}

func (c *client) request() *echo.EchoRequest {
	in := &echo.EchoRequest{}
	if n := c.sequence.Add(1); len(c.lines) > 0 {
		in.Payload = c.lines[(n-1)%uint64(len(c.lines))]
	} else {
		in.Payload = payload(c.size, n)
	}
	if c.encoding != encoding.Identity && c.encoding != codec.Unknown {
		in.ResponseEncoding = c.encoding
	}
	return in
}

func (c *client) read(name string) error {
	content, err := os.ReadFile(name)
	if err == nil {
		c.lines = bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	}
	return err
}

func payload(size int, sequence uint64) []byte {
	const text = `{"id":1234,"name":"grpctap","tags":["a","b"],"ok":true},`
	out := bytes.Repeat([]byte(text), size/len(text)+1)[:size]
	copy(out, fmt.Sprintf("%08d", sequence%100000000))
	return out
}

func (c *client) begin(method string) *call {
	return &call{Method: "/grpctap.echo.v1.Echo/" + method, Encoding: c.encoding,
		RequestSizes: []int{}, ResponseSizes: []int{}}
}

func (k *call) sent(in *echo.EchoRequest) {
	k.RequestSizes = append(k.RequestSizes, proto.Size(in))
}

func (k *call) received(in *echo.EchoRequest, out *echo.EchoResponse) error {
	k.ResponseSizes = append(k.ResponseSizes, proto.Size(out))
	if !bytes.Equal(in.Payload, out.Payload) {
		return fmt.Errorf("%s: the response does not echo the payload", k.Method)
	}
	return nil
}

func (c *client) print(k *call, err error) error {
	s := status.Convert(err)
	k.Status, k.Message = uint32(s.Code()), s.Message()
	c.output.Lock()
	defer c.output.Unlock()
	return json.NewEncoder(os.Stdout).Encode(k)
}

func (c *client) unary(ctx context.Context, method string, in *echo.EchoRequest) error {
	k := c.begin(method)
	out := &echo.EchoResponse{}
	k.sent(in)
	err := c.conn.Invoke(ctx, k.Method, in, out)
	if err == nil {
		if wrong := k.received(in, out); wrong != nil {
			return wrong
		}
	}
	return c.print(k, err)
}

func (c *client) unaries(ctx context.Context) error {
	for range c.count {
		if err := c.unary(ctx, "Unary", c.request()); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) clientStream(ctx context.Context) error {
	k := c.begin("ClientStream")
	stream, err := c.stub.ClientStream(ctx)
	if err != nil {
		return c.print(k, err)
	}
	in, total := &echo.EchoRequest{}, uint64(0)
	for range c.count {
		in = c.request()
		if stream.Send(in) != nil {
			break // CloseAndRecv has the status
		}
		k.sent(in)
		total += uint64(len(in.Payload))
	}
	out, err := stream.CloseAndRecv()
	if err == nil {
		if wrong := k.received(in, out); wrong != nil {
			return wrong
		}
		if out.Total != total {
			return fmt.Errorf("total is %d, not %d", out.Total, total)
		}
	}
	return c.print(k, err)
}

func (c *client) serverStream(ctx context.Context) error {
	k := c.begin("ServerStream")
	in := c.request()
	in.Count = uint32(c.count)
	stream, err := c.stub.ServerStream(ctx, in)
	if err != nil {
		return c.print(k, err)
	}
	k.sent(in)
	for {
		out, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return c.print(k, nil)
		}
		if err != nil {
			return c.print(k, err)
		}
		if wrong := k.received(in, out); wrong != nil {
			return wrong
		}
	}
}

// bidi sends count requests, each after the response to the one before; then
// it half-closes, or cancels the call where that is the scenario.
func (c *client) bidi(ctx context.Context, count int, cancelled bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := c.begin("BidiStream")
	stream, err := c.stub.BidiStream(ctx)
	if err != nil {
		return c.print(k, err)
	}
	for range count {
		in := c.request()
		if err := stream.Send(in); err != nil {
			break // Recv has the status
		}
		k.sent(in)
		out, err := stream.Recv()
		if err != nil {
			return c.print(k, err)
		}
		if wrong := k.received(in, out); wrong != nil {
			return wrong
		}
	}
	if cancelled {
		cancel()
	} else if err := stream.CloseSend(); err != nil {
		return err
	}
	_, err = stream.Recv()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c.print(k, err)
}

func (c *client) many(ctx context.Context) error {
	errs := make(chan error)
	var next atomic.Int64
	for range inFlight {
		go func() {
			var err error
			for err == nil && next.Add(1) <= int64(c.count) {
				err = c.unary(ctx, "Unary", c.request())
			}
			errs <- err
		}()
	}
	var first error
	for range inFlight {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

func (c *client) run(ctx context.Context, scenario string) error {
	in := c.request()
	switch scenario {
	case "unary":
		return c.unaries(ctx)
	case "client_stream":
		return c.clientStream(ctx)
	case "server_stream":
		return c.serverStream(ctx)
	case "bidi":
		return c.bidi(ctx, c.count, false)
	case "status":
		in.StatusCode, in.StatusMessage = 9, statusMessage
		return c.unary(ctx, "Unary", in)
	case "trailers_only":
		return c.unary(ctx, "NoSuchMethod", in)
	case "deadline":
		in.DelayMs = 2000
		ctx, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		defer cancel()
		return c.unary(ctx, "Unary", in)
	case "cancel":
		return c.bidi(ctx, 1, true)
	case "unknown_encoding", "large":
		return c.unary(ctx, "Unary", in)
	case "many":
		return c.many(ctx)
	}
	return fmt.Errorf("no scenario %q", scenario)
}

// connect waits until the connection stands: a deadline is meant for the call,
// not for the set-up.
func connect(target string, c *client) error {
	conn, err := grpc.NewClient(target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(
			grpc.UseCompressor(c.encoding),
			grpc.MaxCallRecvMsgSize(maxMessage),
			grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return err
	}
	c.conn, c.stub = conn, echo.NewEchoClient(conn)
	conn.Connect()
	for s := conn.GetState(); s.String() != "READY"; s = conn.GetState() {
		if s.String() == "TRANSIENT_FAILURE" {
			return fmt.Errorf("cannot connect to %s", target)
		}
		conn.WaitForStateChange(context.Background(), s)
	}
	return nil
}

func main() {
	c := &client{}
	if len(os.Args) == 2 && os.Args[1] == "--list" {
		fmt.Println(strings.Join(codec.Names, "\n"))
		return
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: client TARGET SCENARIO"+
			" [--encoding NAME] [--size N] [--count N] [--lines FILE]")
		os.Exit(2)
	}
	target, scenario := os.Args[1], os.Args[2]
	size, count := 1000, 1
	switch scenario {
	case "many":
		count = 1000
	case "large":
		size = 20 << 20
	}
	flags := flag.NewFlagSet("client", flag.ExitOnError)
	flags.StringVar(&c.encoding, "encoding", encoding.Identity, "codec of the requests")
	flags.IntVar(&c.size, "size", size, "bytes of payload")
	flags.IntVar(&c.count, "count", count, "calls or messages")
	flags.Func("lines", "FILE whose lines are the payloads, in turn", c.read)
	_ = flags.Parse(os.Args[3:])
	if scenario == "unknown_encoding" {
		codec.RegisterUnknown()
		c.encoding = codec.Unknown
	}
	err := connect(target, c)
	if err == nil {
		err = c.run(context.Background(), scenario)
		// Close writes what is queued, the reset of a call among it, and a
		// GOAWAY after it.
		_ = c.conn.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}
