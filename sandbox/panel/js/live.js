/** @import { ChangeKind } from './types.d.ts' */

const RECONNECT_MS = 2000

/**
 * Listens to the service's changes and connects again whenever the line breaks.
 *
 * @param {{
 *   onChange: (kind: ChangeKind) => void,
 *   onOpen: (again: boolean) => void,
 *   onBreak: () => void,
 * }} hooks `again` tells that changes may have been missed since the line broke
 */
export const listenToChanges = ({ onChange, onOpen, onBreak }) => {
  let opened = false

  const connect = () => {
    const events = new EventSource('/panel/events')
    events.addEventListener('open', () => {
      onOpen(opened)
      opened = true
    })
    events.addEventListener('change', event => onChange(JSON.parse(event.data).kind))
    events.addEventListener('error', () => {
      onBreak()
      // The browser reconnects by itself after a broken line, but gives up after an answer that is no stream.
      if (events.readyState === EventSource.CLOSED) setTimeout(connect, RECONNECT_MS)
    })
  }

  connect()
}
