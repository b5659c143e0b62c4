// SPDX-License-Identifier: MIT

// Command client sends large messages and prints a JSON line.
//
//	client -mode echo|put|upload [-size N] [-chunk N] [-count N] [-gzip] TARGET
//	client -mode invalid TARGET    a string that is no UTF-8
//	client -mode bench             what unmarshalling takes
package main

import (
	"bytes"
	"context"
	"flag"
	"log"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"grpctap/studies/b-large-messages/blob"
	"grpctap/studies/payload"
	"grpctap/studies/peer"
)

type line struct {
	Status    uint32  `json:"status"`
	Message   string  `json:"message"`
	Us        float64 `json:"us"`
	Allocated uint64  `json:"allocated"`
	PeakKiB   int     `json:"peak_kib"`
}

// peak is the most memory this process ever had resident, in KiB.
func peak() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		log.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		log.Fatal(err)
	}
	return n
}

func echo(stub blob.BlobsClient, data []byte) error {
	out, err := stub.Echo(context.Background(), &blob.Blob{Data: data})
	if err == nil && !bytes.Equal(out.Data, data) {
		log.Fatal("the response is no echo")
	}
	return err
}

func put(stub blob.BlobsClient, data []byte) error {
	size, err := stub.Put(context.Background(), &blob.Blob{Data: data})
	if err == nil && size.Bytes != uint64(len(data)) {
		log.Fatalf("%d bytes came, of %d", size.Bytes, len(data))
	}
	return err
}

// upload sends one chunk, which is all the memory it needs, until size bytes
// are sent.
func upload(stub blob.BlobsClient, chunk []byte, size int) error {
	stream, err := stub.Upload(context.Background())
	if err != nil {
		return err
	}
	for sent := 0; sent < size; sent += len(chunk) {
		n := min(len(chunk), size-sent)
		if stream.Send(&blob.Blob{Data: chunk[:n]}) != nil {
			break // CloseAndRecv has the status
		}
	}
	got, err := stream.CloseAndRecv()
	if err == nil && got.Bytes != uint64(size) {
		log.Fatalf("%d bytes came, of %d", got.Bytes, size)
	}
	return err
}

// bench prints how long it takes to unmarshal 1 MiB, microseconds.
func bench() {
	const size = 1 << 20
	us := func(in, out proto.Message) float64 {
		data, err := proto.Marshal(in)
		if err != nil {
			log.Fatal(err)
		}
		return peer.Fastest(1, func() {
			if err := proto.Unmarshal(data, out); err != nil {
				log.Fatal(err)
			}
		})
	}
	peer.Print(map[string]float64{
		"ascii":   us(&blob.Text{Text: strings.Repeat("a", size)}, &blob.Text{}),
		"chinese": us(&blob.Text{Text: strings.Repeat("中", size/3)}, &blob.Text{}),
		"bytes":   us(&blob.Blob{Data: payload.Random(size)}, &blob.Blob{}),
	})
}

func main() {
	mode := flag.String("mode", "echo", "echo, put, upload, invalid or bench")
	size := flag.Int("size", 1024, "bytes in all")
	chunk := flag.Int("chunk", 64<<10, "bytes of a message of an upload")
	count := flag.Int("count", 1, "calls")
	zip := flag.Bool("gzip", false, "compress; then the data is JSON-like, not random")
	flag.Parse()
	if *mode == "bench" {
		bench()
		return
	}
	options := []grpc.CallOption{grpc.MaxCallRecvMsgSize(math.MaxInt32),
		grpc.MaxCallSendMsgSize(math.MaxInt32)}
	length, kind := *size, "random"
	if *mode == "upload" {
		length = *chunk
	}
	if *zip {
		kind, options = "json", append(options, grpc.UseCompressor(gzip.Name))
	}
	data, err := payload.Make(kind, length)
	if err != nil {
		log.Fatal(err)
	}
	conn := peer.Dial(flag.Arg(0), grpc.WithDefaultCallOptions(options...))
	stub := blob.NewBlobsClient(conn)
	before := peer.Allocated()
	us := peer.Time(func() {
		for i := 0; err == nil && i < *count; i++ {
			switch *mode {
			case "echo":
				err = echo(stub, data)
			case "put":
				err = put(stub, data)
			case "upload":
				err = upload(stub, data, *size)
			case "invalid":
				_, err = stub.EchoText(context.Background(), &blob.Text{Text: "a\xff"})
			}
		}
	})
	s := status.Convert(err)
	peer.Print(line{uint32(s.Code()), s.Message(), us / float64(*count),
		(peer.Allocated() - before) / uint64(*count), peak()})
	time.Sleep(peer.Settle)
	_ = conn.Close()
}
