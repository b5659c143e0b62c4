// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The service answers with what it was sent. It is written out by hand, with a
// message that protobuf has, so that nothing has to be generated.
const (
	unaryMethod  = "/grpctap.bench.v1.Bench/Unary"
	streamMethod = "/grpctap.bench.v1.Bench/Stream"
)

const windowSize = 16 << 20

type server struct{}

func handleUnary(_ any, _ context.Context, decode func(any) error,
	_ grpc.UnaryServerInterceptor) (any, error) {
	in := &wrapperspb.BytesValue{}
	if err := decode(in); err != nil {
		return nil, err
	}
	return in, nil
}

func handleStream(_ any, stream grpc.ServerStream) error {
	in := &wrapperspb.BytesValue{}
	for {
		err := stream.RecvMsg(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.SendMsg(in); err != nil {
			return err
		}
	}
}

var service = grpc.ServiceDesc{
	ServiceName: "grpctap.bench.v1.Bench",
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: handleUnary}},
	Streams: []grpc.StreamDesc{{StreamName: "Stream", Handler: handleStream,
		ServerStreams: true, ClientStreams: true}},
}

// serve prints `listening PORT` and answers until it is killed.
func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer(grpc.InitialWindowSize(windowSize),
		grpc.InitialConnWindowSize(windowSize))
	s.RegisterService(&service, server{})
	fmt.Printf("listening %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(s.Serve(listener))
}
