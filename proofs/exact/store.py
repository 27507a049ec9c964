"""A store that was written from the interface document alone, and knows nothing of the relay.

It registers its own webhook URL, runs lifecycles of orders, keeps a record of each order from the answers to its requests
and from webhooks, and prints it as JSON. It is strict: a webhook of another event or shape fails, and is answered 500.

    python3 store.py --base-url http://127.0.0.1:4000 --key sandbox-key --panel http://127.0.0.1:4000 --source shop
"""

import argparse
import hashlib
import hmac
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIELDS = ["status", "total", "invoice_status", "error"]
NUMBERS = ["invoice_number", "receipt_number", "return_number"]
RESULT = {"source", "external_id", "status_display", *FIELDS, *NUMBERS}
ANSWERS = (200, 201, 204, 400, 404)

parser = argparse.ArgumentParser()
for name in ("--base-url", "--key", "--panel", "--source"):
    parser.add_argument(name, required=True)
options = parser.parse_args()


def call(url, method, body=None, key=None):
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = "Bearer " + key
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return status, json.loads(text) if text else None


def service(method, path, body=None):
    """Repeats a request, which is safe, until it gets a documented response."""
    for _ in range(120):
        status, answer = call(options.base_url + "/api/v1/" + path, method, body, options.key)
        if status in ANSWERS:
            return status, answer
        time.sleep(0.25)
    raise SystemExit(f"{method} {path} returned a response that is not documented: {status} {answer}")


def panel(method, path, body=None):
    status, answer = call(options.panel + "/panel/" + path, method, body)
    if status >= 300:
        raise SystemExit(f"panel: {method} {path} was answered {status} {answer}")
    return answer


class Record:
    """What the store knows of its orders."""

    def __init__(self):
        self.changed = threading.Condition()
        self.orders, self.webhooks, self.failures, self.deliveries = {}, {}, [], set()

    def answered(self, result):
        with self.changed:
            self.orders[result["external_id"]] = self.view(result)

    def webhook(self, body):
        if set(body) != {"event", "data", "delivery"} or body["event"] != "order.updated":
            raise ValueError(f"not an order.updated: {sorted(body)} {body.get('event')}")
        result = body["data"]
        if result["source"] != options.source:
            return
        if set(result) != RESULT:
            raise ValueError(f"not an order result: {sorted(result)}")
        with self.changed:
            if body["delivery"] in self.deliveries:
                return
            self.deliveries.add(body["delivery"])
            number = result["external_id"]
            self.orders[number] = self.view(result)
            self.webhooks.setdefault(number, []).append(result["status"])
            self.changed.notify_all()

    def wait(self, number, status):
        with self.changed:
            if not self.changed.wait_for(lambda: self.orders[number]["status"] == status, 60):
                self.failures.append(f"no webhook: {number} is {self.orders[number]['status']}, not {status}")

    @staticmethod
    def view(result):
        numbers = {name: result[name] is not None for name in NUMBERS}
        return {**{name: result[name] for name in FIELDS}, **numbers}


record = Record()
secret = b""


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.handle_webhook(body)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def handle_webhook(self, body):
        try:
            pairs = [part.split("=") for part in self.headers["X-Service-Signature"].split(",")]
            (t_name, t), (v1_name, v1) = pairs
            expected = hmac.new(secret, t.encode() + b"." + body, hashlib.sha256).hexdigest()
            genuine = (t_name, v1_name) == ("t", "v1") and hmac.compare_digest(v1, expected)
            if not genuine or abs(time.time() - int(t)) > 300:
                return 401
        except ValueError:
            return 401
        try:
            message = json.loads(body)
            for header, field in (("X-Service-Event", "event"), ("X-Service-Delivery", "delivery")):
                if self.headers[header] != message[field]:
                    raise ValueError(f"{header} differs from the body")
            if self.headers["Content-Type"] != "application/json; charset=utf-8":
                raise ValueError(f"Content-Type {self.headers['Content-Type']}")
            record.webhook(message)
            return 200
        except (ValueError, KeyError) as error:
            record.failures.append(f"webhook: {error!r}")
            return 500

    def log_message(self, *_):
        pass


def expect(actual, wanted, what):
    if actual != wanted:
        record.failures.append(f"{what}: {actual}, not {wanted}")


def create(number, wanted=201, status=None, **fields):
    items = fields.pop("items", [{"sku": "EXACT", "quantity": 1, "unit_price": 250000}])
    body = {"external_id": number, "source": options.source, "items": items, **fields}
    answered, result = service("POST", "orders/", body)
    expect(answered, wanted, f"create {number}")
    if answered < 300:
        expect(result["status"], status, f"status of {number}")
        expect(result["duplicate"], answered == 200, f"duplicate of {number}")
        record.answered({name: result[name] for name in RESULT})


def later(number, kind, wanted=200, status=None, **body):
    answered, result = service("POST", f"orders/{number}/{kind}/", {"source": options.source, **body})
    expect(answered, wanted, f"{kind} {number}")
    if answered == 200:
        expect(result["status"], status, f"status of {number} after {kind}")
        record.answered(result)


def pay(number, **wanted):
    later(number, "payment", method="card", reference="R-" + number, **wanted)


def fix(number, status):
    source = urllib.parse.quote(options.source)
    panel("PUT", "products/SHORT", {"name": "Short", "stock": 10})
    panel("POST", f"orders/{number}/retry?source={source}")
    record.wait(number, status)
    panel("PUT", "products/SHORT", {"name": "Short", "stock": 0})


SHORT = [{"sku": "SHORT", "quantity": 1, "unit_price": 100000}]
PAYMENT = {"method": "online", "reference": ""}


def paid_at_once(number):
    create(number, status="paid", payment=PAYMENT)


def paid_later(number):
    create(number, status="invoiced")
    pay(number, status="paid")
    pay(number, status="paid")


def refunded(number):
    create(number, status="invoiced")
    pay(number, status="paid")
    later(number, "refund", status="refunded", reason="returned")
    later(number, "refund", status="refunded")
    pay(number, status="refunded")


def repeated(number):
    create(number, status="invoiced")
    create(number, wanted=200, status="invoiced")


def reviewed_and_paid(number):
    create(number, status="needs_review", items=SHORT)
    pay(number, wanted=400)
    pay(number, wanted=400)
    fix(number, "paid")


def held_with_the_order(number):
    create(number, status="needs_review", items=SHORT, payment=PAYMENT)
    fix(number, "paid")


def reviewed_and_refunded(number):
    create(number, status="needs_review", items=SHORT)
    later(number, "refund", wanted=400)
    fix(number, "invoiced")
    pay(number, status="paid")
    later(number, "refund", status="refunded")


def corrected(number):
    create(number, wanted=400, items=[{"sku": "UNKNOWN", "quantity": 1, "unit_price": 1000}])
    answered, _ = service("GET", f"orders/{number}/?source={urllib.parse.quote(options.source)}")
    expect(answered, 404, f"read of {number}")
    create(number, status="invoiced")


LIFECYCLES = [
    *(paid_at_once, paid_later, refunded, repeated),
    *(reviewed_and_paid, held_with_the_order, reviewed_and_refunded, corrected),
]


def main():
    global secret
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/webhook"
    status, registration = service("PUT", "webhook/", {"url": url})
    expect((status, registration.get("url")), (200, url), "registration")
    secret = registration["secret"].encode()

    panel("PUT", "products/EXACT", {"name": "Exact", "stock": 1000000})
    panel("PUT", "products/SHORT", {"name": "Short", "stock": 0})
    numbers = []
    for life in LIFECYCLES:
        number = life.__name__.replace("_", "-")
        numbers.append(number)
        life(number)

    for number in numbers:
        _, result = service("GET", f"orders/{number}/?source={urllib.parse.quote(options.source)}")
        expect(record.orders[number], Record.view(result), f"record of {number}")
    status, _ = service("DELETE", "webhook/?url=" + urllib.parse.quote(url, safe=""))
    expect(status, 204, "removal")
    server.shutdown()
    print(json.dumps({"orders": record.orders, "webhooks": record.webhooks, "failures": record.failures}))


main()
