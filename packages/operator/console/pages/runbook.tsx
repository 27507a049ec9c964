import { language } from '@order-relay/web/language.ts'
import { unbroken } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import type { ComponentChildren } from 'preact'
import { reads } from './api.ts'
import { t } from './persian.ts'

/** Code, emphasis and links within a line; a link leads to another page of the runbook, or is only its text. */
const inline = (text: string): ComponentChildren[] =>
  text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map(part => {
    if (part.startsWith('`')) return <code>{unbroken(part.slice(1, -1))}</code>
    if (part.startsWith('**')) return <strong>{part.slice(2, -2)}</strong>
    const [, label, target = ''] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? []
    if (label === undefined) return part
    const other = /^([\w-]+)\.md$/.exec(target)?.[1]
    return other === undefined ? label : <a href={linkTo(['runbook', other])}>{label}</a>
  })

const items = (block: string) => block.split(/\n(?=- |\d+\. )/).map(item => item.replace(/^(- |\d+\. )/, ''))

/** The Markdown that the runbook uses: headings, paragraphs and lists. */
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
            <li key={item}>{inline(item)}</li>
          ))}
        </List>
      )
    })

/** A page of the runbook, as in docs/runbook. */
export const Runbook = page(
  {
    title: ({ path: [, name = ''] }) => t('Runbook: {page}', { page: name }),
    reads: ({ path: [, name = ''] }) => ({ page: reads('runbook', { page: name }) }),
  },
  ({ page: { text } }) => (
    <>
      <PageHead title={t('Runbook: {page}', { page: /^# (.*)$/m.exec(text)?.[1] ?? '' })} />
      {language !== 'en' && <p class="muted">{t('The runbook is in English.')}</p>}
      <article class="prose" lang="en" dir="ltr">
        {blocks(text)}
      </article>
    </>
  ),
)
