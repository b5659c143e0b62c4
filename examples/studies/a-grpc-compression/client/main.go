// SPDX-License-Identifier: MIT

// Command client makes calls on one connection and prints a JSON line for
// each: its status, its message, and how long it took.
//
//	client [-encoding NAME] [-payload KIND] [-size N] [-level N]
//	       [-warm N] [-count N] [-pause D] [-stream N] [-then identity] TARGET
package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"grpctap/studies/codec"
	"grpctap/studies/echo"
	"grpctap/studies/payload"
	"grpctap/studies/peer"
)

type call struct {
	Status  uint32  `json:"status"`
	Message string  `json:"message"`
	Us      float64 `json:"us"`
}

// options leaves an identity client as it is by default: asked for by name,
// grpc-go would declare identity.
func options(codec string) []grpc.CallOption {
	if codec == encoding.Identity {
		return nil
	}
	return []grpc.CallOption{grpc.UseCompressor(codec)}
}

func unary(stub echo.EchoClient, data []byte, codec string) {
	var err error
	us := peer.Time(func() {
		var out *echo.EchoResponse
		out, err = stub.Unary(context.Background(), &echo.EchoRequest{Payload: data},
			options(codec)...)
		if err == nil && !bytes.Equal(out.Payload, data) {
			log.Fatal("the response is no echo")
		}
	})
	s := status.Convert(err)
	peer.Print(call{uint32(s.Code()), s.Message(), us})
}

// stream sends messages one after the other, of the sizes in turn, each after
// the echo of the one before.
func stream(stub echo.EchoClient, kind, codec string, sizes []int, count int) {
	us := peer.Time(func() {
		s, err := stub.BidiStream(context.Background(), options(codec)...)
		for i := 0; err == nil && i < count; i++ {
			data, _ := payload.Make(kind, sizes[i%len(sizes)])
			if err = s.Send(&echo.EchoRequest{Payload: data}); err != nil {
				break
			}
			var out *echo.EchoResponse
			out, err = s.Recv()
			if err == nil && !bytes.Equal(out.Payload, data) {
				log.Fatal("the response is no echo")
			}
		}
		if err == nil {
			err = s.CloseSend()
		}
		if err == nil {
			_, err = s.Recv()
		}
		if err != io.EOF {
			log.Fatal(err)
		}
	})
	peer.Print(call{Us: us})
}

func numbers(list string) (out []int) {
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func main() {
	codecName := flag.String("encoding", encoding.Identity, "of the requests")
	kind := flag.String("payload", "json", "repeated, json or random")
	size := flag.String("size", "102400", "of the payload; a stream takes a list, in turn")
	level := flag.Int("level", -1, "of gzip")
	warm := flag.Int("warm", 0, "calls before, without a line")
	count := flag.Int("count", 1, "calls")
	pause := flag.Duration("pause", 0, "before each call")
	messages := flag.Int("stream", 0, "one bidi call with so many messages instead")
	then := flag.String("then", "", "one more call, with this encoding")
	flag.Parse()
	if err := gzip.SetLevel(*level); err != nil {
		log.Fatal(err)
	}
	codec.Register(*codecName)
	sizes := numbers(*size)
	data, err := payload.Make(*kind, sizes[0])
	if err != nil {
		log.Fatal(err)
	}
	conn := peer.Dial(flag.Arg(0))
	stub := echo.NewEchoClient(conn)
	for range *warm {
		if _, err := stub.Unary(context.Background(), &echo.EchoRequest{Payload: data},
			options(*codecName)...); err != nil {
			log.Fatal(err)
		}
		time.Sleep(peer.Settle)
	}
	for range *count {
		time.Sleep(*pause)
		if *messages > 0 {
			stream(stub, *kind, *codecName, sizes, *messages)
		} else {
			unary(stub, data, *codecName)
		}
	}
	if *then != "" {
		unary(stub, data, *then)
	}
	time.Sleep(peer.Settle)
	_ = conn.Close()
}
