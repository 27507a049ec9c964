import { getOrders } from './api.js'
import { byId } from './dom.js'
import { formatWait } from './format.js'
import { listenToChanges } from './live.js'
import { openPage, reloadFor, showReviewCount } from './page.js'

/** @param {'live' | 'broken'} state @param {string} text */
const showLive = (state, text) => {
  byId('live').dataset.state = state
  byId('live-text').textContent = text
}

const countReviews = async () => {
  const { counts } = await getOrders({ limit: 1 })
  showReviewCount(counts.needs_review)
}

/** A count that cannot be read now is read at the next change. */
const refreshCount = () => countReviews().catch(() => undefined)

listenToChanges({
  onChange: kind => {
    reloadFor(kind)
    if (kind === 'order') refreshCount()
  },
  onOpen: again => {
    showLive('live', 'Live')
    if (again) {
      reloadFor(undefined)
      refreshCount()
    }
  },
  onBreak: () => showLive('broken', 'Disconnected, trying again…'),
})

setInterval(() => {
  for (const element of document.querySelectorAll('[data-until]')) {
    element.textContent = formatWait(element.getAttribute('data-until') ?? '', Date.now())
  }
}, 1000)

byId('skip').addEventListener('click', event => {
  event.preventDefault()
  byId('main').focus()
})

window.addEventListener('hashchange', () => openPage(location.hash))
openPage(location.hash)
refreshCount()
