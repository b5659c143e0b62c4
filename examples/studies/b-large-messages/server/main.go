// SPDX-License-Identifier: MIT

// Command server takes large messages, whole or in chunks; SIGUSR1 makes it
// print what it has allocated so far.
//
//	server [-limit BYTES]
package main

import (
	"context"
	"flag"
	"io"
	"log"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // registers itself

	"grpctap/studies/b-large-messages/blob"
	"grpctap/studies/peer"
)

type server struct {
	blob.UnimplementedBlobsServer
}

func (server) Echo(_ context.Context, in *blob.Blob) (*blob.Blob, error) {
	return &blob.Blob{Data: in.Data}, nil
}

func (server) EchoText(_ context.Context, in *blob.Text) (*blob.Text, error) {
	return &blob.Text{Text: in.Text}, nil
}

func (server) Put(_ context.Context, in *blob.Blob) (*blob.Size, error) {
	return &blob.Size{Bytes: uint64(len(in.Data))}, nil
}

func (server) Upload(stream grpc.ClientStreamingServer[blob.Blob, blob.Size]) error {
	size := &blob.Size{}
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(size)
		}
		if err != nil {
			return err
		}
		size.Bytes += uint64(len(in.Data))
	}
}

func main() {
	limit := flag.Int("limit", 4<<20, "the largest message taken; grpc-go's own is 4 MiB")
	flag.Parse()
	s := grpc.NewServer(grpc.MaxRecvMsgSize(*limit))
	blob.RegisterBlobsServer(s, server{})
	log.Fatal(s.Serve(peer.Listen()))
}
