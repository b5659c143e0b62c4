// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serve is the study's server. The path is /KIND/BODY.json: KIND is one of
// `kinds`, or a coding like gzip-6 that is always applied, or `plain`.
func serve([]string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("listening", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: http.HandlerFunc(answer)}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	return server.Serve(listener)
}

// modified is when all bodies were last modified.
var modified = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// kinds are the ways to answer, right ones first.
var kinds = map[string]func(http.ResponseWriter, *http.Request, []byte) error{
	"auto":         auto,
	"etag":         etagPerCoding,
	"no-vary":      noVary,
	"unasked":      unasked,
	"twice":        twice,
	"mislabelled":  mislabelled,
	"plain-length": plainLength,
	"same-etag":    sameEtag,
}

func answer(w http.ResponseWriter, r *http.Request) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := bodyNamed(strings.TrimSuffix(name, ".json"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if reply := kinds[kind]; reply != nil {
		err = reply(w, r, body)
	} else if kind == "plain" {
		_, err = w.Write(body)
	} else {
		var c coding
		if c, err = parseCoding(kind); err == nil {
			w.Header().Set("Vary", "Accept-Encoding")
			err = send(w, c, body)
		}
	}
	if err != nil {
		// The client has to notice, whatever was sent already.
		panic(http.ErrAbortHandler)
	}
}

// send compresses while it sends, as middleware does: the length is not known
// when the header is written.
func send(w http.ResponseWriter, c coding, body []byte) error {
	w.Header().Set("Content-Encoding", c.name)
	z, err := c.writer(w)
	if err != nil {
		return err
	}
	if _, err = z.Write(body); err != nil {
		return err
	}
	return z.Close()
}

// negotiate picks br, gzip or nothing: what is listed and not refused; the
// server's preference decides between equals (RFC 9110, section 12.5.3).
func negotiate(r *http.Request) (coding, bool) {
	best, bestWeight := coding{}, 0.0
	for _, c := range []coding{{"br", 4}, {"gzip", 6}} {
		if q := weight(r.Header["Accept-Encoding"], c.name); q > bestWeight {
			best, bestWeight = c, q
		}
	}
	return best, bestWeight > 0
}

// weight is what Accept-Encoding gives a coding: 0 is no.
func weight(fields []string, name string) float64 {
	star := 0.0
	for _, member := range strings.Split(strings.Join(fields, ","), ",") {
		listed, parameter, _ := strings.Cut(member, ";")
		listed = strings.ToLower(strings.TrimSpace(listed))
		q := 1.0
		key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(key, "q") {
			q, _ = strconv.ParseFloat(value, 64)
		}
		switch {
		case listed == name || (name == "gzip" && listed == "x-gzip"):
			return q
		case listed == "*":
			star = q
		}
	}
	return star
}

// auto is how it should be done.
func auto(w http.ResponseWriter, r *http.Request, body []byte) error {
	w.Header().Set("Vary", "Accept-Encoding")
	return negotiated(w, r, body)
}

func negotiated(w http.ResponseWriter, r *http.Request, body []byte) error {
	if c, ok := negotiate(r); ok {
		return send(w, c, body)
	}
	_, err := w.Write(body)
	return err
}

// etagPerCoding gives each representation a strong entity tag of its own.
func etagPerCoding(w http.ResponseWriter, r *http.Request, b []byte) error {
	c, _ := negotiate(r)
	return ranged(w, r, b, `"v1`+c.name+`"`)
}

// ---- Faults ----------------------------------------------------------------

func noVary(w http.ResponseWriter, r *http.Request, body []byte) error {
	return negotiated(w, r, body)
}

// unasked sends br to everybody.
func unasked(w http.ResponseWriter, _ *http.Request, body []byte) error {
	w.Header().Set("Vary", "Accept-Encoding")
	return send(w, coding{"br", 4}, body)
}

// twice is two middlewares, of which the outer one wins the label.
func twice(w http.ResponseWriter, _ *http.Request, body []byte) error {
	w.Header().Set("Vary", "Accept-Encoding")
	once, err := coding{"gzip", 6}.encode(body)
	if err != nil {
		return err
	}
	return send(w, coding{"gzip", 6}, once)
}

// mislabelled says gzip and sends the body as it is.
func mislabelled(w http.ResponseWriter, _ *http.Request, body []byte) error {
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Encoding", "gzip")
	_, err := w.Write(body)
	return err
}

// plainLength lets the handler announce the length of what it wrote, below a
// middleware that compresses it and looks at no error.
func plainLength(w http.ResponseWriter, r *http.Request, body []byte) error {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_ = auto(w, r, body)
	return nil
}

// sameEtag gives all representations one strong entity tag: they are said to
// be equal byte by byte (RFC 9110, section 8.8.1).
func sameEtag(w http.ResponseWriter, r *http.Request, body []byte) error {
	return ranged(w, r, body, `"v1"`)
}

// ranged sends what was negotiated by net/http's own means, which know
// If-Range, If-None-Match and 206.
func ranged(w http.ResponseWriter, r *http.Request, body []byte,
	etag string) error {
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("ETag", etag)
	content := io.ReadSeeker(bytes.NewReader(body))
	if c, ok := negotiate(r); ok {
		coded, err := c.encode(body)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Encoding", c.name)
		content = bytes.NewReader(coded)
	}
	http.ServeContent(w, r, "", modified, content)
	return nil
}
