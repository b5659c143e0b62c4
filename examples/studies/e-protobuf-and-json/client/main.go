// SPDX-License-Identifier: MIT

// Command client sends records by gRPC or as JSON over HTTP/1.1, or measures
// what encoding and decoding them takes.
//
//	client -as grpc|http [-encoding NAME] TARGET    the four kinds, and numbers
//	client -as bench
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"

	"grpctap/studies/codec"
	"grpctap/studies/e-protobuf-and-json/user"
	"grpctap/studies/peer"
)

// A User in JSON, as a Go service would write it.
type User struct {
	ID      int32    `json:"id"`
	Name    string   `json:"name"`
	Email   string   `json:"email"`
	Age     int32    `json:"age"`
	Active  bool     `json:"active"`
	Tags    []string `json:"tags"`
	City    string   `json:"city"`
	Country string   `json:"country"`
}

// A Reading in JSON.
type Reading struct {
	ID       int64   `json:"id"`
	Time     int64   `json:"time"`
	Sensor   int32   `json:"sensor"`
	Humidity int32   `json:"humidity"`
	Value    float64 `json:"value"`
	Lat      float64 `json:"lat"`
	Lon      float64 `json:"lon"`
}

// 87 bytes in protobuf, like the record of the published study.
var wide = User{12345, "Maria Lopez", "maria.lopez@example.com", 34, true,
	[]string{"admin", "editor", "author"}, "Monterrey", "Mexico"}

// Short values: the names of the members weigh more.
var narrow = User{1042, "Ana Diaz", "ana@example.com", 34, true,
	[]string{"admin", "staff"}, "Rome", "IT"}

var numbers = Reading{1234567, 1767225600123, 42, 48, 21.534, 52.520008, 13.404954}

func (u User) proto() *user.User {
	return &user.User{Id: u.ID, Name: u.Name, Email: u.Email, Age: u.Age,
		Active: u.Active, Tags: u.Tags, City: u.City, Country: u.Country}
}

func (r Reading) proto() *user.Reading {
	return &user.Reading{Id: r.ID, Time: r.Time, Sensor: r.Sensor,
		Humidity: r.Humidity, Value: r.Value, Lat: r.Lat, Lon: r.Lon}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(sent, got proto.Message, err error) {
	check(err)
	if !proto.Equal(sent, got) {
		log.Fatal("the response is no echo")
	}
}

// grpcCalls makes the four kinds on one connection, then one call each of the
// narrow record and of numbers.
func grpcCalls(target, name string) {
	codec.Register(name)
	var options []grpc.DialOption
	if name != encoding.Identity {
		options = append(options, grpc.WithDefaultCallOptions(grpc.UseCompressor(name)))
	}
	conn := peer.Dial(target, options...)
	stub, ctx, it := user.NewUsersClient(conn), context.Background(), wide.proto()
	out, err := stub.Get(ctx, it)
	expect(it, out, err)
	list, err := stub.List(ctx, it)
	check(err)
	for range it.Tags {
		out, err = list.Recv()
		expect(it, out, err)
	}
	if _, err = list.Recv(); err != io.EOF {
		log.Fatal(err)
	}
	add, err := stub.Add(ctx)
	check(err)
	for range it.Tags {
		check(add.Send(it))
	}
	out, err = add.CloseAndRecv()
	expect(it, out, err)
	chat, err := stub.Chat(ctx)
	check(err)
	for range it.Tags {
		check(chat.Send(it))
		out, err = chat.Recv()
		expect(it, out, err)
	}
	check(chat.CloseSend())
	if _, err = chat.Recv(); err != io.EOF {
		log.Fatal(err)
	}
	out, err = stub.Get(ctx, narrow.proto())
	expect(narrow.proto(), out, err)
	reading, err := stub.Measure(ctx, numbers.proto())
	expect(numbers.proto(), reading, err)
	time.Sleep(peer.Settle)
	check(conn.Close())
}

func httpCalls(target string) {
	for _, value := range []any{wide, narrow, numbers} {
		data, err := json.Marshal(value)
		check(err)
		response, err := http.Post("http://"+target+"/users", "application/json",
			bytes.NewReader(data))
		check(err)
		out, err := io.ReadAll(response.Body)
		check(err)
		check(response.Body.Close())
		if !bytes.Equal(out, data) {
			log.Fatal("the response is no echo")
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// bench prints how long it takes to encode and decode a record, microseconds.
func bench() {
	us := func(f func()) float64 { return peer.Fastest(5000, f) }
	it, number := wide.proto(), numbers.proto()
	peer.Print(map[string]float64{
		"user_protobuf": us(func() {
			data, _ := proto.Marshal(it)
			check(proto.Unmarshal(data, &user.User{}))
		}),
		"user_json": us(func() {
			data, _ := json.Marshal(&wide)
			check(json.Unmarshal(data, &User{}))
		}),
		"numbers_protobuf": us(func() {
			data, _ := proto.Marshal(number)
			check(proto.Unmarshal(data, &user.Reading{}))
		}),
		"numbers_json": us(func() {
			data, _ := json.Marshal(&numbers)
			check(json.Unmarshal(data, &Reading{}))
		}),
	})
}

func main() {
	as := flag.String("as", "grpc", "grpc, http or bench")
	name := flag.String("encoding", encoding.Identity, "codec of the requests")
	flag.Parse()
	switch *as {
	case "grpc":
		grpcCalls(flag.Arg(0), *name)
	case "http":
		httpCalls(flag.Arg(0))
	case "bench":
		bench()
	}
}
