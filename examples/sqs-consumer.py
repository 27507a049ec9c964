"""Receives the messages of an SQS feed, with boto3 (pip install boto3). With the local stack running:

    export $(cat .order-relay/aws.env)
    python3 examples/sqs-consumer.py http://127.0.0.1:9324/000000000000/feed-demo-shop.fifo
"""

import json
import os
import sys
import traceback

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from once import Once

QUEUE_URL = sys.argv[1]
# Maximum time to handle the messages of one call of ReceiveMessage.
VISIBILITY_SECONDS = 60
# Maximum delay of a message that fails repeatedly.
MAX_DELAY = 900

sqs = boto3.client("sqs")
once = Once(os.environ.get("DATABASE", "store.sqlite"))


def handle(message):
    """The store's own handling of a message; its writes belong in the same transaction."""
    data = message["data"]
    version, status = f"v{message['version']}", data.get("status", "")
    print("applied:", data["external_id"], version, message["event"], status, message["delivery"], flush=True)


def receive():
    """The next messages, those of one order in sequence."""
    response = sqs.receive_message(
        QueueUrl=QUEUE_URL,
        MaxNumberOfMessages=10,
        WaitTimeSeconds=20,
        VisibilityTimeout=VISIBILITY_SECONDS,
        MessageSystemAttributeNames=["MessageGroupId", "ApproximateReceiveCount"],
    )
    return response.get("Messages", [])


def handle_all(messages):
    """Handles and deletes messages. One that fails returns later, with those behind it of its order."""
    delays = {}
    for message in messages:
        order, receipt = message["Attributes"]["MessageGroupId"], message["ReceiptHandle"]
        if order not in delays:
            try:
                once.handle(json.loads(message["Body"]), handle)
                sqs.delete_message(QueueUrl=QUEUE_URL, ReceiptHandle=receipt)
                continue
            except Exception:
                traceback.print_exc()
                receives = int(message["Attributes"]["ApproximateReceiveCount"])
                delays[order] = min(2 ** (receives - 1), MAX_DELAY)
        sqs.change_message_visibility(
            QueueUrl=QUEUE_URL, ReceiptHandle=receipt, VisibilityTimeout=delays[order]
        )


if __name__ == "__main__":
    print(f"Receiving from {QUEUE_URL}; Ctrl-C stops", flush=True)
    try:
        while True:
            handle_all(receive())
    except KeyboardInterrupt:
        pass
    except (BotoCoreError, ClientError) as error:
        remedy = "check that the queue exists and can be reached, and the region and credentials"
        raise SystemExit(f"Cannot receive from {QUEUE_URL}: {error}; {remedy}") from None
