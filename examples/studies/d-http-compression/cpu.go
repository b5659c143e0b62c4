// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// A cost is a line of `cpu`: microseconds of CPU for one body.
type cost struct {
	Body     string  `json:"body"`
	Coding   string  `json:"coding"`
	Compress float64 `json:"compress_us"` // with an encoder made for it
	Reused   float64 `json:"reused_us"`   // with one that is reset
	Inflate  float64 `json:"inflate_us"`
}

// measure prints what each BODY:CODING of its arguments costs; the first
// argument is the milliseconds that each of the three figures gets.
func measure(arguments []string) error {
	if len(arguments) < 2 {
		return errors.New("usage: cpu MILLISECONDS BODY:CODING...")
	}
	ms, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, argument := range arguments[1:] {
		c, err := costOf(argument, time.Duration(ms)*time.Millisecond)
		if err != nil {
			return err
		}
		if err = out.Encode(c); err != nil {
			return err
		}
	}
	return nil
}

func costOf(argument string, budget time.Duration) (cost, error) {
	name, text, _ := bytes.Cut([]byte(argument), []byte(":"))
	body, err := bodyNamed(string(name))
	if err != nil {
		return cost{}, err
	}
	c, err := parseCoding(string(text))
	if err != nil {
		return cost{}, err
	}
	coded, err := c.encode(body)
	if err != nil {
		return cost{}, err
	}
	reused, err := c.writer(io.Discard)
	if err != nil {
		return cost{}, err
	}
	return cost{
		Body: string(name), Coding: string(text),
		Compress: perRun(budget, func() { _, err = c.encode(body) }),
		Reused: perRun(budget, func() {
			reused.Reset(io.Discard)
			_, err = reused.Write(body)
			err = errors.Join(err, reused.Close())
		}),
		Inflate: perRun(budget, func() {
			_, err = decode(c.name, bytes.NewReader(coded))
		}),
	}, err
}

// perRun is the median of seven batches, each of as many runs as fill a
// seventh of the budget: microseconds of the process's CPU, so that other
// processes and waiting do not count and the garbage collector does.
func perRun(budget time.Duration, run func()) float64 {
	const batches = 7
	run()
	start := time.Now()
	run()
	n := max(1, int(budget/batches/max(1, time.Since(start))))
	var figures []float64
	for range batches {
		before := cpuTime()
		for range n {
			run()
		}
		used := cpuTime() - before
		figures = append(figures, float64(used.Nanoseconds())/1000/float64(n))
	}
	slices.Sort(figures)
	return figures[batches/2]
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
