// SPDX-License-Identifier: MIT

// Command server answers with the records it was sent: as a gRPC service with
// the four kinds of call, or as JSON over HTTP/1.1.
//
//	server -as grpc|http
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"net/http"

	"google.golang.org/grpc"

	"grpctap/studies/codec"
	"grpctap/studies/e-protobuf-and-json/user"
	"grpctap/studies/peer"
)

type server struct {
	user.UnimplementedUsersServer
}

func (server) Get(_ context.Context, in *user.User) (*user.User, error) { return in, nil }

func (server) Measure(_ context.Context, in *user.Reading) (*user.Reading, error) {
	return in, nil
}

func (server) List(in *user.User, stream grpc.ServerStreamingServer[user.User]) error {
	for range in.Tags {
		if err := stream.Send(in); err != nil {
			return err
		}
	}
	return nil
}

func (server) Add(stream grpc.ClientStreamingServer[user.User, user.User]) error {
	var last *user.User
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(last)
		}
		if err != nil {
			return err
		}
		last = in
	}
}

func (server) Chat(stream grpc.BidiStreamingServer[user.User, user.User]) error {
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(in); err != nil {
			return err
		}
	}
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// The client sees a short body; there is nobody else to tell.
	_, _ = io.Copy(w, r.Body)
}

func main() {
	as := flag.String("as", "grpc", "grpc or http")
	flag.Parse()
	if *as == "http" {
		log.Fatal(http.Serve(peer.Listen(), http.HandlerFunc(echo)))
	}
	codec.RegisterAll()
	s := grpc.NewServer()
	user.RegisterUsersServer(s, server{})
	log.Fatal(s.Serve(peer.Listen()))
}
