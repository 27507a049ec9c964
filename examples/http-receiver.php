<?php

// Receives the messages of an HTTP feed in plain PHP with the extension pdo_sqlite:
//
//   FEED_SECRET=... DATABASE=store.sqlite php -S 127.0.0.1:8080 examples/http-receiver.php
//
// In stores.yml, with the secret that `npx relay stores secret demo-shop` creates:
//
//   - source: demo-shop
//     feed: { http: http://127.0.0.1:8080/webhook }

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const MAX_BYTES = 1024 * 1024;

/** Whether the relay signed exactly these bytes within the last five minutes. */
function isAuthentic(string $header, string $body, array $secrets): bool
{
    if (preg_match('/^t=(\d{1,15})((?:,v1=[0-9a-f]{64})+)$/D', $header, $match) !== 1) {
        return false;
    }
    if (abs(time() - (int) $match[1]) > TOLERANCE_SECONDS) {
        return false;
    }
    $authentic = false;
    foreach ($secrets as $secret) {
        $expected = hash_hmac('sha256', "$match[1].$body", $secret);
        foreach (array_slice(explode(',v1=', $match[2]), 1) as $given) {
            $authentic = hash_equals($expected, $given) || $authentic;
        }
    }
    return $authentic;
}

/** The store's own handling of a message; its writes belong in the same transaction. */
function handle(array $message): void
{
    $data = $message['data'];
    $status = $data['status'] ?? '';
    error_log("applied: {$data['external_id']} v{$message['version']} {$message['event']} $status {$message['delivery']}");
}

/** Handles a message unless it, or a later version of its order, was handled before. */
function handleOnce(PDO $database, array $message): void
{
    $order = [$message['data']['source'], $message['data']['external_id']];
    $database->exec('BEGIN IMMEDIATE');
    try {
        $select = $database->prepare('SELECT version, deliveries FROM seen WHERE source = ? AND external_id = ?');
        $select->execute($order);
        [$last, $json] = $select->fetch(PDO::FETCH_NUM) ?: [0, '[]'];
        $deliveries = (int) $last === $message['version'] ? json_decode($json, true) : [];
        if ($message['version'] > (int) $last || ((int) $last === $message['version'] && !in_array($message['delivery'], $deliveries, true))) {
            handle($message);
            $seen = json_encode([...$deliveries, $message['delivery']]);
            $database->prepare('INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)')
                ->execute([...$order, $message['version'], $seen]);
        }
        $database->exec('COMMIT');
    } catch (Throwable $error) {
        $database->exec('ROLLBACK');
        throw $error;
    }
}

// PHP's post_max_size does not limit this stream.
$body = file_get_contents('php://input', length: MAX_BYTES + 1);
if (strlen($body) > MAX_BYTES) {
    http_response_code(413);
    return;
}
// There are two secrets during a rotation; without any, every request is refused.
$secrets = array_filter(explode(',', (string) getenv('FEED_SECRET')));
if (!isAuthentic($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $body, $secrets)) {
    http_response_code(401);
    return;
}
// The status is 500 until everything has succeeded, since PHP returns 200 for an exception if it displays errors. After
// a 500, the relay sends the message again.
http_response_code(500);
$database = new PDO('sqlite:' . (getenv('DATABASE') ?: 'store.sqlite'), null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$database->exec('CREATE TABLE IF NOT EXISTS seen (source, external_id, version INTEGER, deliveries, PRIMARY KEY (source, external_id))');
$message = json_decode($body, true, 64, JSON_THROW_ON_ERROR);
if ($message['event'] !== 'relay.test') {
    if (!isset($message['delivery'], $message['version'], $message['data']['source'], $message['data']['external_id'])) {
        throw new UnexpectedValueException('Cannot read a feed message');
    }
    handleOnce($database, $message);
}
http_response_code(200);
