"""Receives the messages of an HTTP feed, with nothing but Python:

    FEED_SECRET=... PORT=8080 DATABASE=store.sqlite python3 examples/http-receiver.py

In stores.yml, with the secret that `npx relay stores secret demo-shop` creates:

    - source: demo-shop
      feed: { http: http://127.0.0.1:8080/webhook }
"""

import hashlib
import hmac
import json
import os
import re
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from once import Once

# There are two secrets during a rotation; without any, every request is refused.
SECRETS = [secret for secret in os.environ["FEED_SECRET"].split(",") if secret]
PORT = int(os.environ.get("PORT", "8080"))
TOLERANCE_SECONDS = 300
MAX_BYTES = 1024 * 1024
# If the connection were closed with unread bytes, the sender could lose the response (RFC 9112, section 9.6).
MAX_DISCARDED_BYTES = 16 * MAX_BYTES
# The relay gives up after ten seconds.
REQUEST_SECONDS = 15

once = Once(os.environ.get("DATABASE", "store.sqlite"))


def is_authentic(header, body):
    """Whether the relay signed exactly these bytes within the last five minutes."""
    match = re.fullmatch(r"t=(\d{1,15})((?:,v1=[0-9a-f]{64})+)", header or "", re.ASCII)
    if match is None or abs(time.time() - int(match[1])) > TOLERANCE_SECONDS:
        return False
    signed = match[1].encode() + b"." + body
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in SECRETS]
    return any(hmac.compare_digest(each, given) for each in expected for given in match[2].split(",v1=")[1:])


def handle(message):
    """The store's own handling of a message; its writes belong in the same transaction."""
    data = message["data"]
    version, status = f"v{message['version']}", data.get("status", "")
    print("applied:", data["external_id"], version, message["event"], status, message["delivery"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        # int() also accepts a sign, and read(-1) waits for the end of the connection.
        if not re.fullmatch(r"\d{1,12}", length, re.ASCII):
            return self.answer(411)
        if int(length) > MAX_BYTES:
            self.answer(413)
            return self.discard(min(int(length), MAX_DISCARDED_BYTES))
        body = self.rfile.read(int(length))
        if not is_authentic(self.headers.get("X-Service-Signature"), body):
            return self.answer(401)
        # An exception closes the connection without a response, and the relay sends the message again.
        message = json.loads(body)
        if message["event"] != "relay.test":
            once.handle(message, handle)
        self.answer(200)

    def discard(self, length):
        while length > 0 and (chunk := self.rfile.read1(min(length, 65536))):
            length -= len(chunk)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def setup(self):
        super().setup()
        # A timeout of the socket would restart with each byte.
        self.deadline = threading.Timer(REQUEST_SECONDS, self.connection.shutdown, [socket.SHUT_RD])
        self.deadline.daemon = True
        self.deadline.start()

    def finish(self):
        self.deadline.cancel()
        super().finish()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    # Orders arrive in parallel; a connection that finds the backlog full is retried after a second or more.
    request_queue_size = 128


if __name__ == "__main__":
    try:
        server = Server(("127.0.0.1", PORT), Receiver)
    except OSError as error:
        raise SystemExit(f"Cannot listen on port {PORT}: {error.strerror}; set PORT to a free port") from None
    print(f"http://127.0.0.1:{PORT}/", flush=True)
    server.serve_forever()
