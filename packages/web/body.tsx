import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { copied, copy } from './id.tsx'
import { shortened } from './language.ts'
import { t } from './persian.ts'
import { Button, Scrolls } from './pieces.tsx'

/** Deeper or larger parts are initially folded. */
const OPEN = { depth: 4, entries: 100 }

/** Maximum number of a part's entries and of a text's characters. */
const SHOWN = { entries: 500, characters: 10_000 }

/** Numbers keep all digits: rials may exceed 2^53. */
const exact = (_name: string, value: unknown, { source = '' }: { source?: string } = {}) =>
  typeof value === 'number' ? JSON.rawJSON(source) : value

/** An object or array, also if it is encoded in a string. */
const branchIn = (value: unknown): object | undefined => {
  if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) return value
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined
  try {
    const parsed = JSON.parse(value, exact)
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

type Visible = (text: string) => string

type NodeProps = { name: string | undefined; value: unknown; depth: number; visible: Visible }

const Name = ({ name, visible }: Pick<NodeProps, 'name' | 'visible'>) =>
  name !== undefined && (
    <>
      <span class="json-name">{visible(JSON.stringify(name))}</span>
      {': '}
    </>
  )

const kindOf = (value: unknown) => {
  if (typeof value === 'string') return 'text'
  return typeof value === 'object' && value !== null ? 'number' : 'word'
}

const Leaf = ({ value, visible }: Pick<NodeProps, 'value' | 'visible'>) => (
  <bdi dir="auto" class={`json-${kindOf(value)}`}>
    {shortened(visible(JSON.stringify(value)), SHOWN.characters)}
  </bdi>
)

const Branch = ({ name, value, depth, visible, of }: NodeProps & { of: object }) => {
  const isArray = Array.isArray(of)
  const entries = Object.entries(of)
  const isOpen = useSignal(depth < OPEN.depth && entries.length <= OPEN.entries)
  const [first, last] = isArray ? '[]' : '{}'
  const more = entries.length - SHOWN.entries
  if (entries.length === 0) {
    return (
      <>
        <Name name={name} visible={visible} />
        {first}
        {last}
      </>
    )
  }
  return (
    <details
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>
        <Name name={name} visible={visible} />
        {first}
        {!isOpen.value && ` … ${last}`}
        {typeof value === 'string' && <span class="muted"> {t('JSON in a string')}</span>}
      </summary>
      {isOpen.value && (
        <>
          <ul>
            {entries.slice(0, SHOWN.entries).map(([key, each]) => (
              <li key={key}>
                <Node name={isArray ? undefined : key} value={each} depth={depth + 1} visible={visible} />
              </li>
            ))}
            {more > 0 && <li class="muted">{t('and {count} more', { count: more })}</li>}
          </ul>
          {last}
        </>
      )}
    </details>
  )
}

const Node = ({ name, value, depth, visible }: NodeProps): ComponentChildren => {
  const of = branchIn(value)
  if (of !== undefined) return <Branch name={name} value={value} depth={depth} visible={visible} of={of} />
  return (
    <>
      <Name name={name} visible={visible} />
      <Leaf value={value} visible={visible} />
    </>
  )
}

type BodyProps = {
  label: string
  text: string
  /** Escapes control characters. @default none */
  visible?: Visible
}

/** A body: JSON as a folding tree, including JSON in strings; other text unchanged. */
export const Body = ({ label, text, visible = each => each }: BodyProps) => {
  const json = branchIn(text)
  const isCopied = copied.value === text
  return (
    <div class="body">
      <div class="row spread small">
        <strong>{label}</strong>
        <Button
          kind="small"
          {...(!isCopied && { label: t('Copy {text}', { text: label }) })}
          onClick={() => copy(text)}
        >
          {isCopied ? t('Copied') : t('Copy')}
        </Button>
      </div>
      <Scrolls label={label}>
        {json === undefined ? (
          <pre dir="auto">{text.split('\n').map(visible).join('\n')}</pre>
        ) : (
          <div class="json code" dir="ltr">
            <Node name={undefined} value={json} depth={0} visible={visible} />
          </div>
        )}
      </Scrolls>
    </div>
  )
}
