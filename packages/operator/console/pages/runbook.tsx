import { direction, language } from '@order-relay/web/language.ts'
import { Table, unbroken } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import type { ComponentChildren } from 'preact'
import { reads } from './api.ts'
import { ForShell, InConsole } from './commands.tsx'
import { t } from './persian.ts'
import { SERVICE } from './remedies.tsx'

/** A `relay` command with the options that select this relay, and the console's equivalent. */
const RelayCommand = ({ command }: { command: string }) => {
  const { data } = useResources({ service: SERVICE })
  return (
    <>
      <code dir="ltr">{unbroken(`${command}${data?.service.flags ?? ''}`)}</code>{' '}
      <InConsole command={command} />
    </>
  )
}

const Code = ({ text }: { text: string }) => {
  if (text.startsWith('npx relay ')) return <RelayCommand command={text.replaceAll(/\s+/g, ' ')} />
  if (/^(npx serverless|aws) /.test(text)) return <ForShell command={text} />
  return <code dir="ltr">{unbroken(text)}</code>
}

/** Code, emphasis and links within a line; a link leads to another page of the runbook, or is only its text. */
const inline = (text: string): ComponentChildren[] =>
  text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map(part => {
    if (part.startsWith('`')) return <Code text={part.slice(1, -1)} />
    if (part.startsWith('**')) return <strong>{part.slice(2, -2)}</strong>
    const [, label, target = ''] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? []
    if (label === undefined) return part
    const other = /^([\w-]+)\.md$/.exec(target)?.[1]
    return other === undefined ? inline(label) : <a href={linkTo(['runbook', other])}>{label}</a>
  })

const items = (block: string) => block.split(/\n(?=- |\d+\. )/).map(item => item.replace(/^(- |\d+\. )/, ''))

const cellsOf = (row: string) => row.split('|').slice(1, -1)

/** An item of a list, which may end with a table. */
const Item = ({ text }: { text: string }) => {
  const [words = '', table = ''] = text.split(/\n\n(?= *\|)/)
  const [headings = '', , ...rows] = table.split('\n')
  return (
    <li>
      {inline(words)}
      {table !== '' && (
        <Table
          caption={words}
          columns={cellsOf(headings).map((label, index) => ({
            label: label.trim(),
            cell: (row: string) => inline(cellsOf(row)[index] ?? ''),
          }))}
          rows={rows}
          keyOf={row => row}
        />
      )}
    </li>
  )
}

/** The Markdown that the runbook uses: headings, paragraphs, lists and tables in them. */
const blocks = (markdown: string) =>
  markdown
    .trim()
    .split(/\n{2,}(?!\s)/)
    .map(block => {
      if (block.startsWith('# ')) return null
      if (block.startsWith('## ')) return <h2>{block.slice(3)}</h2>
      const List = block.startsWith('- ') ? 'ul' : 'ol'
      if (!/^(- |1\. )/.test(block)) return <p>{inline(block)}</p>
      return (
        <List>
          {items(block).map(item => (
            <Item key={item} text={item} />
          ))}
        </List>
      )
    })

/** A page of the runbook in the reader's language, as in docs/runbook and docs/runbook-fa. */
export const Runbook = page(
  {
    title: ({ path: [, name = ''] }) => t('Runbook: {page}', { page: name }),
    reads: ({ path: [, name = ''] }) => ({ page: reads('runbook', { page: name, language }) }),
  },
  ({ page: { text } }) => (
    <>
      <PageHead title={t('Runbook: {page}', { page: /^# (.*)$/m.exec(text)?.[1] ?? '' })} />
      <article class="prose" dir={direction}>
        {blocks(text)}
      </article>
    </>
  ),
)
