// SPDX-License-Identifier: MIT

// Command server is the echo service of examples/echo.proto on grpc-go.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	_ "grpctap/codec"
	"grpctap/echo"
)

const maxMessage = 64 << 20

type server struct {
	echo.UnimplementedEchoServer
}

// prepare does what a request asks for besides the echo. The delay does not
// end at the call's deadline: it is the client that is meant to give up.
func prepare(ctx context.Context, in *echo.EchoRequest, first bool) error {
	if in.DelayMs > 0 {
		time.Sleep(time.Duration(in.DelayMs) * time.Millisecond)
	}
	if in.StatusCode != 0 {
		return status.Error(codes.Code(in.StatusCode), in.StatusMessage)
	}
	if first && in.ResponseEncoding != "" {
		// A codec the client did not offer must not be used: then the
		// stack's own choice stands.
		if err := grpc.SetSendCompressor(ctx, in.ResponseEncoding); err != nil {
			log.Print(err)
		}
	}
	return nil
}

func (server) Unary(ctx context.Context, in *echo.EchoRequest) (*echo.EchoResponse, error) {
	if err := prepare(ctx, in, true); err != nil {
		return nil, err
	}
	return &echo.EchoResponse{Payload: in.Payload}, nil
}

func (server) ClientStream(stream grpc.ClientStreamingServer[echo.EchoRequest, echo.EchoResponse]) error {
	out := &echo.EchoResponse{}
	for first := true; ; first = false {
		in, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(out)
		}
		if err != nil {
			return err
		}
		if err := prepare(stream.Context(), in, first); err != nil {
			return err
		}
		out.Payload = in.Payload
		out.Total += uint64(len(in.Payload))
	}
}

func (server) ServerStream(in *echo.EchoRequest, stream grpc.ServerStreamingServer[echo.EchoResponse]) error {
	if err := prepare(stream.Context(), in, true); err != nil {
		return err
	}
	for range in.Count {
		if err := stream.Send(&echo.EchoResponse{Payload: in.Payload}); err != nil {
			return err
		}
	}
	return nil
}

func (server) BidiStream(stream grpc.BidiStreamingServer[echo.EchoRequest, echo.EchoResponse]) error {
	for first := true; ; first = false {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := prepare(stream.Context(), in, first); err != nil {
			return err
		}
		if err := stream.Send(&echo.EchoResponse{Payload: in.Payload}); err != nil {
			return err
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	echo.RegisterEchoServer(s, server{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		// Not s.Stop(): it waits for handlers, and one may be in its delay.
		os.Exit(0)
	}()
	fmt.Printf("listening %d\n", listener.Addr().(*net.TCPAddr).Port)
	if err := s.Serve(listener); err != nil {
		log.Fatal(err)
	}
}
