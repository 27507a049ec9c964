import { ask } from '@order-relay/web/dialog.tsx'
import type { FieldProps } from '@order-relay/web/form.tsx'
import { formatDuration } from '@order-relay/web/format.ts'
import { Button, Section } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { act, reads } from './api.ts'
import { Findings, problemsText } from './findings.tsx'
import { t } from './persian.ts'
import { Job } from './pieces.tsx'

const WAITS = [120, 30, 600]

const FIELDS: FieldProps[] = [
  {
    name: 'handled',
    label: t('Log of handled messages'),
    help: t('A file or URL with the delivery of each handled message; it shows what was processed twice.'),
  },
  {
    name: 'wait',
    label: t('Time limit for the store'),
    options: WAITS.map(seconds => [String(seconds), formatDuration(seconds)]),
  },
]

/** Explains a test of a store before it starts. */
const askTest = (source: string, local: boolean) =>
  ask({
    title: t('Test the store {source}', { source }),
    text: t(
      'The store receives messages about test orders, whose numbers begin with relay-conformance-: repeated, late, interleaved, unreadable and, over HTTP, with wrong signatures. It treats these orders as real and keeps them. The accounting service is not called.',
    ),
    fields: local
      ? FIELDS
      : [
          ...FIELDS,
          { name: 'testStore', label: t('This is a test store without customers'), kind: 'switch' },
        ],
    action: t('Start the test'),
    submit: ({ text, isOn }) =>
      act('conformance/start', {
        source,
        wait: Number(text('wait')),
        testStore: isOn('testStore'),
        handled: text('handled') || undefined,
      }),
  })

/** What a store would lose or process twice. */
export const Conformance = ({ source }: { source: string }) => {
  const { data } = useResources({ about: reads('conformance', { source }, 'conformance') })
  if (data === undefined) return null
  const { local, job, findings, notJudged } = data.about
  const isRunning = job !== undefined && job.end === undefined
  return (
    <Section
      id="conformance"
      title={t('Conformance')}
      aside={!isRunning && <Button onClick={() => askTest(source, local)}>{t('Test the store…')}</Button>}
    >
      {job === undefined ? (
        <p class="muted">{t('A test shows what the store would lose or process twice.')}</p>
      ) : (
        <>
          <Job job={job} stop={() => act('conformance/stop', { source })} isReport />
          {job.end && job.end.failure === undefined && (
            <p class="note">{problemsText(findings, notJudged)}</p>
          )}
          <Findings findings={findings} />
        </>
      )}
    </Section>
  )
}
