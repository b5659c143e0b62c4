#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""First bytes of protocols that are not HTTP, sent through a relay.

Usage: first_bytes.py PORT_FILE
Writes the port of the server to PORT_FILE, reads the relay's HOST:PORT from
standard input, and prints for each protocol its name and how many bytes client
and server sent; each has to get what the other sent, and nothing else.
"""
import socket
import sys
import threading

# name: who begins, what the client says, what the server says.  RTSP, SIP,
# ICAP and NATS begin like HTTP: it is the version, or its place, that differs.
TALKS = {
    "ssh": ("server", b"SSH-2.0-OpenSSH_9.2\r\n", b"SSH-2.0-OpenSSH_9.2p1\r\n"),
    "smtp": ("server", b"EHLO a.test\r\n", b"220 b.test ESMTP\r\n"),
    "ftp": ("server", b"USER anonymous\r\n", b"220 FTP ready\r\n"),
    "pop3": ("server", b"CAPA\r\n", b"+OK POP3 ready\r\n"),
    "imap": ("server", b"a1 CAPABILITY\r\n", b"* OK IMAP4rev1 ready\r\n"),
    "mysql": ("server", b"\x20\0\0\x01\x85\xa6\xff\x01\0\0\0\x01\x21" +
              bytes(23), b"\x4a\0\0\0\x0a8.0.36\0" + bytes(67)),
    "vnc": ("server", b"RFB 003.008\n", b"RFB 003.008\n"),
    "telnet": ("server", b"\xff\xfc\x25", b"\xff\xfd\x25\xff\xfb\x01"),
    "redis": ("client", b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n"),
    "redis_inline": ("client", b"PING\r\n", b"+PONG\r\n"),
    "memcached": ("client", b"get key\r\n", b"END\r\n"),
    "memcached_binary": ("client", b"\x80\x0b" + bytes(22),
                         b"\x81\x0b" + bytes(22)),
    "postgresql": ("client", b"\0\0\0\x21\0\x03\0\0user\0a\0database\0b\0\0",
                   b"R\0\0\0\x08\0\0\0\0"),
    "postgresql_ssl": ("client", b"\0\0\0\x08\x04\xd2\x16\x2f", b"N"),
    "mqtt": ("client", b"\x10\x0f\0\x04MQTT\x04\x02\0\x3c\0\x03abc",
             b"\x20\x02\0\0"),
    "amqp": ("client", b"AMQP\0\0\x09\x01", b"\x01\0\0\0\0\x01\xd4" +
             bytes(20)),
    "socks4": ("client", b"\x04\x01\0\x50\x7f\0\0\x01user\0",
               b"\0\x5a\0\x50\x7f\0\0\x01"),
    "socks5": ("client", b"\x05\x01\0", b"\x05\0"),
    "proxy_v1": ("client", b"PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n",
                 b"ok\n"),
    "proxy_v2": ("client", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes(12),
                 b"ok\n"),
    "dns": ("client", b"\0\x1d\x12\x34\x01\0\0\x01\0\0\0\0\0\0"
            b"\x07example\x03com\0\0\x01\0\x01",
            b"\0\x1d\x12\x34\x81\x80\0\x01\0\0\0\0\0\0"
            b"\x07example\x03com\0\0\x01\0\x01"),
    "rtsp": ("client", b"OPTIONS rtsp://a/b RTSP/1.0\r\nCSeq: 1\r\n\r\n",
             b"RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n"),
    "sip": ("client", b"OPTIONS sip:a@b.test SIP/2.0\r\n\r\n",
            b"SIP/2.0 200 OK\r\n\r\n"),
    "mongodb": ("client", b"\x3a\0\0\0\x01\0\0\0\0\0\0\0\xd4\x07\0\0" +
                bytes(42), b"\x24\0\0\0" + bytes(32)),
    "kafka": ("client", b"\0\0\0\x14\0\x12\0\0\0\0\0\x01\0\x0aconsumer-1",
              b"\0\0\0\x0a\0\0\0\x01\0\0\0\0\0\0"),
    "cassandra": ("client", b"\x04\0\0\0\x05\0\0\0\0",
                  b"\x84\0\0\0\x06\0\0\0\0"),
    "zookeeper": ("client", b"\0\0\0\x2d" + bytes(45), b"\0\0\0\x25" +
                  bytes(37)),
    "ldap": ("client", b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\0\x80\0",
             b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\0\x04\0\x04\0"),
    "smb": ("client", b"\0\0\0\x2d\xfeSMB" + bytes(41), b"\0\0\0\x2d\xfeSMB" +
            bytes(41)),
    "rdp": ("client", b"\x03\0\0\x13\x0e\xe0\0\0\0\0\0\x01\0\x08\0\x03\0\0\0",
            b"\x03\0\0\x13\x0e\xd0\0\0\x124\0\x02\x0f\x08\0\x02\0\0\0"),
    "bgp": ("client", b"\xff" * 16 + b"\0\x1d\x01\x04" + bytes(9),
            b"\xff" * 16 + b"\0\x13\x04"),
    "bittorrent": ("client", b"\x13BitTorrent protocol" + bytes(48),
                   b"\x13BitTorrent protocol" + bytes(48)),
    "git": ("client", b"0032git-upload-pack /project.git\0host=myserver.com\0",
            b"0000"),
    "nats": ("server", b"CONNECT {\"verbose\":false}\r\nPING\r\n",
             b"INFO {\"server_id\":\"a\"}\r\n"),
    "stomp": ("client", b"CONNECT\naccept-version:1.2\n\n\0",
              b"CONNECTED\nversion:1.2\n\n\0"),
    "ajp": ("client", b"\x12\x34\0\x01\x0a", b"AB\0\x01\x09"),
    "fastcgi": ("client", b"\x01\x01\0\x01\0\x08\0\0\0\x01\0\0\0\0\0\0",
                b"\x01\x03\0\x01\0\x08\0\0" + bytes(8)),
    "gopher": ("client", b"/page\r\n", b"iText\tfake\t(NULL)\t0\r\n.\r\n"),
    "irc": ("client", b"NICK a\r\nUSER a 0 * :A\r\n",
            b":irc.test 001 a :Welcome\r\n"),
    "xmpp": ("client", b"<?xml version='1.0'?><stream:stream to='a.test'>",
             b"<?xml version='1.0'?><stream:stream from='a.test'>"),
    "rsync": ("server", b"@RSYNCD: 31.0\n", b"@RSYNCD: 31.0\n"),
    "nntp": ("server", b"CAPABILITIES\r\n", b"200 news.test ready\r\n"),
    "whois": ("client", b"example.com\r\n", b"% no match\r\n"),
    "mssql": ("client", b"\x12\x01\0\x2f\0\0\x01\0" + bytes(39),
              b"\x04\x01\0\x2b\0\0\x01\0" + bytes(35)),
    "oracle": ("client", b"\0\x3a\0\0\x01\0\0\0\x01\x39\x01\x2c" +
               bytes(46), b"\0\x08\0\0\x0b\0\0\0"),
    "x11": ("client", b"l\0\x0b\0\0\0\0\0\0\0\0\0", b"\x01\0\x0b\0" +
            bytes(28)),
    "thrift": ("client", b"\x80\x01\0\x01\0\0\0\x04ping\0\0\0\x01\0",
               b"\x80\x01\0\x02\0\0\0\x04ping\0\0\0\x01\0"),
    "java_rmi": ("client", b"JRMI\0\x02K", b"N\0\x09127.0.0.1\0\0\xc3\x50"),
    "rtmp": ("client", b"\x03" + bytes(1536), b"\x03" + bytes(1536)),
    "icap": ("client", b"OPTIONS icap://a.test/b ICAP/1.0\r\n\r\n",
             b"ICAP/1.0 200 OK\r\n\r\n"),
    "bitcoin": ("client", b"\xf9\xbe\xb4\xd9version\0" + bytes(12),
                b"\xf9\xbe\xb4\xd9verack\0\0" + bytes(12)),
    "modbus": ("client", b"\0\x01\0\0\0\x06\x11\x03\0\x6b\0\x03",
               b"\0\x01\0\0\0\x09\x11\x03\x06\0\0\0\0\0\0"),
    "zeros": ("client", bytes(4096), bytes(4096)),
    "nothing": ("server", b"", b""),
}


def read(sock, size):
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            break
        data += part
    return data


def serve(listener, says, server_begins, client_says, got):
    sock = listener.accept()[0]
    if server_begins:
        sock.sendall(says)
    got.append(read(sock, len(client_says)))
    if not server_begins:
        sock.sendall(says)
    got[0] += read(sock, 1)
    sock.close()


def talk(name, relay, listener):
    begins, client_says, server_says = TALKS[name]
    got = []
    server = threading.Thread(target=serve, args=(
        listener, server_says, begins == "server", client_says, got))
    server.start()
    sock = socket.create_connection(relay, 10)
    if begins == "client":
        sock.sendall(client_says)
    back = read(sock, len(server_says))
    if begins == "server":
        sock.sendall(client_says)
    sock.shutdown(socket.SHUT_WR)
    back += read(sock, 1)
    server.join()
    sock.close()
    if back != server_says or got != [client_says]:
        sys.exit(f"{name}: {got} and {back}")
    print(name, len(client_says), len(server_says))


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    with open(sys.argv[1], "w", encoding="ascii") as file:
        print(listener.getsockname()[1], file=file)
    host, port = sys.stdin.readline().rsplit(":", 1)
    for name in TALKS:
        talk(name, (host, int(port)), listener)


if __name__ == "__main__":
    main()
