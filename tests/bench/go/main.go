// SPDX-License-Identifier: MIT

// Command bench is a gRPC load: a server that echoes, a client that measures,
// and one message as that client sends it.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc/encoding/gzip"
)

func usage() {
	fmt.Fprintln(os.Stderr, `usage: bench serve | bench load OPTIONS | bench dump OPTIONS`)
	os.Exit(2)
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	var o options
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.StringVar(&o.target, "target", "", "HOST:PORT of the server")
	flags.BoolVar(&o.stream, "stream", false, "one stream for each in flight")
	flags.BoolVar(&o.gzip, "gzip", false, "compress the messages")
	flags.IntVar(&o.inFlight, "in-flight", 1, "how many at a time")
	flags.IntVar(&o.size, "size", 100, "bytes of payload in a message")
	flags.DurationVar(&o.duration, "duration", time.Second, "for how long")
	flags.Parse(os.Args[2:])
	rememberCompressor(gzip.Name)
	var err error
	switch os.Args[1] {
	case "serve":
		serve()
	case "load":
		err = load(o)
	case "dump":
		err = dump(o)
	default:
		usage()
	}
	if err != nil {
		log.Fatal(err)
	}
}
