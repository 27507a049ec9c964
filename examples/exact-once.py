"""Remembers the deliveries of handled messages in a SQLite file, in the transaction that handles them."""

import sqlite3
import threading


class Once:
    def __init__(self, file):
        self.database = sqlite3.connect(file, check_same_thread=False)
        # An SQLite connection has one transaction at a time.
        self.turn = threading.Lock()
        self.database.execute("CREATE TABLE IF NOT EXISTS handled (delivery PRIMARY KEY)")

    def handle(self, message, handler):
        """Handles a message unless its delivery was handled before."""
        with self.turn, self.database as database:
            database.execute("BEGIN IMMEDIATE")
            inserted = database.execute("INSERT OR IGNORE INTO handled VALUES (?)", (message["delivery"],))
            if inserted.rowcount == 1:
                handler(message)
