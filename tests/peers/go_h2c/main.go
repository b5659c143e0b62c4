// SPDX-License-Identifier: MIT

// A server of Go's net/http with HTTP/1.1 and cleartext HTTP/2 on a free port
// of 127.0.0.1, which it prints, and, with an address as argument, its client
// with either.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
)

func answer(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		log.Fatal(err)
	}
	switch r.URL.Path {
	case "/trailers":
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprint(w, "one")
		w.(http.Flusher).Flush()
		fmt.Fprint(w, "two")
		w.Header().Set("X-Sum", "abc")
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Vary", "Accept-Encoding")
		z := gzip.NewWriter(w)
		z.Write(bytes.Repeat([]byte("x"), 5000))
		z.Close()
	default:
		fmt.Fprintf(w, "got %d", n)
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(answer)}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}

func call(client *http.Client, addr, path string, size int) {
	url := "http://" + addr + path
	body := bytes.NewReader(make([]byte, size))
	response, err := client.Post(url, "text/plain", body)
	if err != nil {
		log.Fatal(err)
	}
	n, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		log.Fatal(err)
	}
	response.Body.Close()
	fmt.Println(response.Proto, path, size, n, response.Trailer.Get("X-Sum"))
}

func main() {
	if len(os.Args) == 1 {
		serve()
	}
	for _, h2 := range []bool{false, true} {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(!h2)
		transport.Protocols.SetUnencryptedHTTP2(h2)
		client := &http.Client{Transport: transport}
		var all sync.WaitGroup
		for range 20 {
			all.Add(1)
			go func() {
				defer all.Done()
				call(client, os.Args[1], "/post", 100000)
				call(client, os.Args[1], "/trailers", 0)
				call(client, os.Args[1], "/gzip", 1)
			}()
		}
		all.Wait()
		transport.CloseIdleConnections()
	}
}
