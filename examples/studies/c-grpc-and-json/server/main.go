// SPDX-License-Identifier: MIT

// Command server answers with the item it was sent: as a gRPC service, or as
// JSON over HTTP/1.1 and HTTP/2 without TLS.
//
//	server -as grpc|http
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"strconv"

	"google.golang.org/grpc"

	"grpctap/studies/c-grpc-and-json/item"
	"grpctap/studies/peer"
)

// An Item is item.Item as a Go service would write it in JSON.
type Item struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Count   int32    `json:"count"`
	Tags    []string `json:"tags"`
	Payload []byte   `json:"payload"`
}

type server struct {
	item.UnimplementedItemsServer
}

func (server) Echo(_ context.Context, in *item.Item) (*item.Item, error) {
	return &item.Item{Id: in.Id, Name: in.Name, Count: in.Count, Tags: in.Tags,
		Payload: in.Payload}, nil
}

func echo(w http.ResponseWriter, r *http.Request) {
	var in Item
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := json.Marshal(in)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Without it net/http sends what is larger than 2 KiB in chunks.
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	// The client sees a short write; there is nobody else to tell.
	_, _ = w.Write(out)
}

func main() {
	as := flag.String("as", "grpc", "grpc or http")
	flag.Parse()
	if *as == "grpc" {
		s := grpc.NewServer()
		item.RegisterItemsServer(s, server{})
		log.Fatal(s.Serve(peer.Listen()))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /items", echo)
	s := http.Server{Handler: mux, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	log.Fatal(s.Serve(peer.Listen()))
}
