"""Remembers the handled messages in a SQLite file, in the transaction that handles them."""

import json
import sqlite3
import threading


class Once:
    def __init__(self, file):
        self.database = sqlite3.connect(file, check_same_thread=False)
        # An SQLite connection has one transaction at a time.
        self.turn = threading.Lock()
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS seen (source, external_id, version, deliveries, PRIMARY KEY (source, external_id))"
        )

    def handle(self, message, handler):
        """Handles a message unless it, or a later version of its order, was handled before."""
        order = (message["data"]["source"], message["data"]["external_id"])
        version, delivery = message["version"], message["delivery"]
        with self.turn, self.database as database:
            database.execute("BEGIN IMMEDIATE")
            row = database.execute(
                "SELECT version, deliveries FROM seen WHERE source = ? AND external_id = ?", order
            ).fetchone()
            last, deliveries = (row[0], json.loads(row[1])) if row else (0, [])
            if version < last or (version == last and delivery in deliveries):
                return
            handler(message)
            seen = [*deliveries, delivery] if version == last else [delivery]
            database.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (*order, version, json.dumps(seen)))
