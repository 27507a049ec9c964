// Elements are built with text nodes and attributes only: data from stores never passes through HTML.

/** @import { Child } from './types.d.ts' */

/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>} Props */

/** Listeners an element was drawn with, so that a later drawing can hand over its own.
 * @type {WeakMap<Node, Record<string, (event: Event) => unknown>>} */
const listeners = new WeakMap()

/** @param {Event} event */
const dispatch = event => {
  const target = event.currentTarget
  return target instanceof Element ? listeners.get(target)?.[event.type]?.(event) : undefined
}

/** @param {Element} element @param {Record<string, (event: Event) => unknown>} handlers */
const listen = (element, handlers) => {
  const before = listeners.get(element) ?? {}
  for (const type of Object.keys(handlers)) {
    if (!(type in before)) element.addEventListener(type, dispatch)
  }
  listeners.set(element, handlers)
}

/** @param {Element} element @param {Child} child */
const append = (element, child) => {
  if (Array.isArray(child)) for (const one of child) append(element, one)
  else if (child !== null && child !== undefined && child !== false) {
    element.append(child instanceof Node ? child : String(child))
  }
}

/**
 * Makes an element: `onclick`-like props are listeners, true is an empty attribute, and null, undefined
 * and false leave the attribute out.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const h = (tag, props = {}, ...children) => {
  const element = document.createElement(tag)
  /** @type {Record<string, (event: Event) => unknown>} */
  const handlers = {}
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') handlers[name.slice(2)] = value
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  listen(element, handlers)
  append(element, children)
  return element
}

/** Attributes that belong to the person at the page, not to the drawing. */
const PERSONAL = new Set(['DETAILS:open', 'DIALOG:open'])

/** @param {Element} from @param {Element} to */
const patchAttributes = (from, to) => {
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !PERSONAL.has(`${from.tagName}:${name}`)) from.removeAttribute(name)
  }
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) !== value && !PERSONAL.has(`${from.tagName}:${name}`)) {
      from.setAttribute(name, value)
    }
  }
}

/** @param {Node} node */
const keyOf = node => (node instanceof Element ? (node.getAttribute('data-key') ?? node.id) : '')

/** @param {Node} from @param {Node} to */
const isSame = (from, to) => from.nodeName === to.nodeName && keyOf(from) === keyOf(to)

/** @param {Node} from @param {Node} to */
const patchNode = (from, to) => {
  if (from instanceof Text && to instanceof Text) {
    if (from.data !== to.data) from.data = to.data
    return
  }
  if (!(from instanceof Element && to instanceof Element)) return
  // A field whose error is being shown stays as it is until it is edited.
  if (from.hasAttribute('data-invalid')) return
  patchAttributes(from, to)
  listen(from, listeners.get(to) ?? {})
  patch(from, [...to.childNodes])
}

/**
 * Makes the children of an element equal to the given ones, keeping the nodes that are already there: focus,
 * selection, typed text and opened details stay as they are when the page redraws itself.
 *
 * @param {Element} parent
 * @param {Node[]} wanted
 */
export const patch = (parent, wanted) => {
  const wantedKeys = new Set(wanted.map(keyOf))
  for (const node of [...parent.childNodes]) {
    if (!wantedKeys.has(keyOf(node)) && keyOf(node) !== '') node.remove()
  }
  const keyed = new Map([...parent.childNodes].map(node => [keyOf(node), node]))
  /** @type {ChildNode | null} */
  let at = parent.firstChild
  for (const to of wanted) {
    const key = keyOf(to)
    const known = key === '' ? at : (keyed.get(key) ?? null)
    if (known !== null && isSame(known, to)) {
      if (known === at) at = at.nextSibling
      else parent.insertBefore(known, at)
      patchNode(known, to)
    } else {
      parent.insertBefore(to, at)
    }
  }
  while (at !== null) {
    const next = at.nextSibling
    at.remove()
    at = next
  }
}

/**
 * The element with this id, which the page always has.
 *
 * @param {string} id
 */
export const byId = id => {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`Cannot find the element "${id}"`)
  return element
}
