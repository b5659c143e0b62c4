// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
)

// A result is a line of `get`.
type result struct {
	Status  int    `json:"status"`
	Coding  string `json:"coding"`
	Etag    string `json:"etag"`
	Decoded string `json:"sha256"` // of the decoded body, "" with an error
	Error   string `json:"error"`
}

// get makes the requests that its arguments are, one after the other:
// "PATH", or "PATH ACCEPT-ENCODING", or with more header lines behind "|":
// "PATH ACCEPT-ENCODING|Name: value|...". ACCEPT-ENCODING "-" is none.
func get(arguments []string) error {
	flags := flag.NewFlagSet("get", flag.ContinueOnError)
	h2c := flags.Bool("h2c", false, "HTTP/2 with prior knowledge")
	times := flags.Int("n", 1, "make each request `N` times")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() < 1 {
		return errors.New("usage: get [-h2c] [-n N] HOST:PORT REQUEST...")
	}
	transport := &http.Transport{DisableCompression: true}
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(!*h2c)
	transport.Protocols.SetUnencryptedHTTP2(*h2c)
	client := &http.Client{Transport: transport}
	out := json.NewEncoder(os.Stdout)
	for _, line := range flags.Args()[1:] {
		for range *times {
			request, err := parseRequest(flags.Arg(0), line)
			if err != nil {
				return err
			}
			if err = out.Encode(fetch(client, request)); err != nil {
				return err
			}
		}
	}
	transport.CloseIdleConnections()
	return nil
}

func parseRequest(target, line string) (*http.Request, error) {
	fields := strings.Split(line, "|")
	path, accept, _ := strings.Cut(fields[0], " ")
	request, err := http.NewRequest("GET", "http://"+target+path, nil)
	if err != nil {
		return nil, err
	}
	if accept != "-" && accept != "" {
		request.Header.Set("Accept-Encoding", accept)
	}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	return request, nil
}

func fetch(client *http.Client, request *http.Request) result {
	response, err := client.Do(request)
	if err != nil {
		return result{Error: err.Error()}
	}
	defer response.Body.Close()
	r := result{Status: response.StatusCode,
		Coding: response.Header.Get("Content-Encoding"),
		Etag:   response.Header.Get("ETag")}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	if r.Status != http.StatusOK {
		return r
	}
	body, err := decode(r.Coding, bytes.NewReader(raw))
	if err != nil {
		r.Error = err.Error()
		return r
	}
	sum := sha256.Sum256(body)
	r.Decoded = hex.EncodeToString(sum[:])
	return r
}
