// SPDX-License-Identifier: MIT

// Command server echoes on grpc-go: unary calls, and streams message by
// message.
//
//	server [-send CODEC] [-level N]
package main

import (
	"context"
	"flag"
	"io"
	"log"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"

	"grpctap/studies/codec"
	"grpctap/studies/echo"
	"grpctap/studies/peer"
)

type server struct {
	echo.UnimplementedEchoServer
	send string
}

func (s server) Unary(ctx context.Context, in *echo.EchoRequest) (*echo.EchoResponse, error) {
	if s.send != "" {
		if err := grpc.SetSendCompressor(ctx, s.send); err != nil {
			return nil, err
		}
	}
	return &echo.EchoResponse{Payload: in.Payload}, nil
}

func (server) BidiStream(stream grpc.BidiStreamingServer[echo.EchoRequest, echo.EchoResponse]) error {
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(&echo.EchoResponse{Payload: in.Payload}); err != nil {
			return err
		}
	}
}

func main() {
	send := flag.String("send", "", "codec of the responses; empty: that of the request")
	level := flag.Int("level", -1, "of gzip")
	flag.Parse()
	if err := gzip.SetLevel(*level); err != nil {
		log.Fatal(err)
	}
	codec.RegisterAll()
	s := grpc.NewServer()
	echo.RegisterEchoServer(s, server{send: *send})
	log.Fatal(s.Serve(peer.Listen()))
}
