import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { all } from './implementations.ts'
import { machine } from './machine.ts'
import { markdown, type Section, targetsTable } from './report.ts'

const PAGE = 'docs/performance.md'
const PLOTS = 'docs/images'

const sectionText = ({ title, text, tables, plots = [] }: Section): string =>
  [
    `## ${title}`,
    ...text,
    ...plots.map(({ name, alt }) => `![${alt}](images/performance-${name}.svg)`),
    ...tables.map(markdown),
  ].join('\n\n')

/** Writes docs/performance.md and its plots. */
export const writePage = async (sections: readonly Section[]): Promise<void> => {
  const { date, processor, system, load, versions } = machine()
  const head = [
    '# Performance',
    `Written by \`npm run bench\` on ${date}: ${processor}, ${system}; ${versions.join(', ')}. Load when it ended: ${load}.`,
    'Read the ratios, not the times: everything was measured in turn on the same machine, against the same ' +
      'embedded DynamoDB, SQS and Parameter Store. Numbers are medians, in brackets the middle half of the runs; a ' +
      'ratio is taken run by run.',
    markdown(targetsTable(sections.flatMap(({ targets }) => targets))),
    all.map(({ name, about }) => `- **${name}**: ${about}`).join('\n'),
    await readFile('bench/findings.md', 'utf8').then(text => text.trim()),
  ]
  await mkdir(PLOTS, { recursive: true })
  for (const { name, svg } of sections.flatMap(({ plots = [] }) => plots)) {
    await writeFile(`${PLOTS}/performance-${name}.svg`, svg)
  }
  await writeFile(PAGE, `${[...head, ...sections.map(sectionText)].join('\n\n')}\n`)
}
