// SPDX-License-Identifier: MIT

// Command d-http-compression is study D's server, client, and CPU
// measurement. Bytes are for the tap in between to count: nothing here does.
//
//	d-http-compression server        net/http on a free port of loopback
//	d-http-compression get ...       requests, one after the other
//	d-http-compression cpu ...       what coding and decoding cost
//	d-http-compression files DIR     the bodies, for another server
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func([]string) error{
		"server": serve, "get": get, "cpu": measure, "files": writeFiles,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr,
			"usage: d-http-compression server|get|cpu|files ...")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "d-http-compression:", err)
		os.Exit(1)
	}
}
