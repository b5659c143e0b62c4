# SPDX-License-Identifier: MIT
"""The contenders: how each is started in front of a server, and its version.

Each is one process with one thread for the traffic, as its makers configure it
unless said here.
"""
import pathlib
import re
import shutil
import subprocess

from procs import Process, free_port

NGINX_STREAM = "/usr/lib/nginx/modules/ngx_stream_module.so"

HAPROXY = """\
global
 nbthread 1
 maxconn {connections}
defaults
 mode tcp
 timeout connect 5s
 timeout client 1h
 timeout server 1h
listen bench
 bind 127.0.0.1:{port}
 server s 127.0.0.1:{server}
"""

NGINX = """\
load_module {module};
daemon off; master_process off; worker_processes 1;
pid {folder}/nginx.pid; error_log {folder}/nginx_error.log;
worker_rlimit_nofile {descriptors};
events {{ worker_connections {descriptors}; }}
stream {{
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    proxy_pass 127.0.0.1:{server};
    proxy_timeout 1h;
  }}
}}
"""


class Contender:
    """A proxy of one name; `start` returns its process and its port."""

    def __init__(self, name, what, needs, command):
        self.name, self.what, self.needs = name, what, needs
        self.command = command

    def missing(self):
        """What there is not to start it, or None."""
        for program in self.needs:
            if not (shutil.which(program) or pathlib.Path(program).is_file()):
                return program
        return None

    def start(self, folder, cores, server, descriptors):
        port = free_port()
        folder = pathlib.Path(folder)
        values = {"port": port, "server": server, "folder": folder,
                  "descriptors": descriptors, "module": NGINX_STREAM,
                  # Two a connection, and some of its own.
                  "connections": (descriptors - 100) // 2}
        process = Process(self.name, folder, cores, self.command(values))
        process.wait_port(port)
        return process, port


class Direct:
    """No proxy at all: the limit."""
    name, what, needs = "direct", "no proxy", ()

    def missing(self):
        return None

    def start(self, folder, cores, server, descriptors):
        return None, server


def haproxy(values):
    config = values["folder"] / "haproxy.cfg"
    config.write_text(HAPROXY.format(**values))
    return ["haproxy", "-db", "-f", config]


def nginx(values):
    folder = values["folder"]
    (folder / "nginx.conf").write_text(NGINX.format(**values))
    return ["nginx", "-p", folder, "-e", folder / "nginx_error.log",
            "-c", folder / "nginx.conf"]


def socat(values):
    return ["socat", f"TCP-LISTEN:{values['port']},bind=127.0.0.1,fork,"
            "reuseaddr,nodelay,backlog=4096",
            f"TCP:127.0.0.1:{values['server']},nodelay"]


def nghttpx(values):
    # Windows that do not limit bodies; HTTP/2 on both sides.
    windows = [f"--{side}-http2-{window}window-size=16M"
               for side in ("frontend", "backend")
               for window in ("", "connection-")]
    return ["nghttpx", "--conf=/dev/null", "--workers=1", "--no-ocsp",
            f"--frontend=127.0.0.1,{values['port']};no-tls", "--backlog=4096",
            f"--backend=127.0.0.1,{values['server']};;proto=h2",
            "--errorlog-file=/dev/null", *windows]


def grpctap(program, *options):
    return lambda values: [
        program, "proxy", "--listen", f"127.0.0.1:{values['port']}",
        "--upstream", f"127.0.0.1:{values['server']}",
        "--output", "/dev/null", *options]


def contenders(program):
    """All of them, by name; `program` is grpctap."""
    def tap(name, what, *options):
        return Contender(name, what, (str(program),),
                         grpctap(program, *options))
    return {one.name: one for one in (
        Direct(),
        Contender("haproxy", "TCP mode, one thread", ("haproxy",), haproxy),
        Contender("nginx", "stream, one worker", ("nginx", NGINX_STREAM),
                  nginx),
        Contender("socat", "a process a connection", ("socat",), socat),
        Contender("nghttpx", "HTTP/2 on both sides, one worker",
                  ("nghttpx",), nghttpx),
        tap("grpctap", "default events"),
        tap("grpctap_call", "--events call", "--events", "call"),
        tap("grpctap_none", "--events none", "--events", "none"),
        tap("grpctap_2", "default events, --threads 2", "--threads", "2"),
    )}


def version_of(command):
    """The first number with dots in what `command` prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return None
    found = re.search(r"\d+\.\d+(\.\d+)?[\w.+-]*", done.stdout + done.stderr)
    return found[0] if found else None


def versions(program):
    return {name: version_of(command) for name, command in {
        "grpctap": [program, "--version"], "haproxy": ["haproxy", "-v"],
        "nginx": ["nginx", "-v"], "socat": ["socat", "-V"],
        "nghttpx": ["nghttpx", "--version"],
        "h2load": ["h2load", "--version"],
        "nghttpd": ["nghttpd", "--version"]}.items()}
