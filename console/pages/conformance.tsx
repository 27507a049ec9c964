import { ask, type FieldProps } from '../../web/form.tsx'
import { formatDuration } from '../../web/format.ts'
import { Button, Section } from '../../web/pieces.tsx'
import { useResources } from '../../web/resources.ts'
import { act, reads } from './api.ts'
import { t } from './persian.ts'
import { Job } from './pieces.tsx'
import { Findings, problemsText } from './setup.tsx'

const WAITS = [120, 30, 600]

const FIELDS: FieldProps[] = [
  {
    ...{ name: 'handled', label: t('Where it notes what it has handled') },
    help: t('A file or URL with the delivery of each message that it has handled; it tells what is doubled.'),
  },
  {
    ...{ name: 'wait', label: t('How long it may take') },
    options: WAITS.map(seconds => [String(seconds), formatDuration(seconds)]),
  },
]

/** Says what a test of a store does before it starts. */
const askTest = (source: string, local: boolean) =>
  ask({
    title: t('Test the store {source}', { source }),
    text: t(
      'It gets messages about test orders, whose numbers begin with relay-conformance-, as the relay sends them in bad times: again, late, mixed, unreadable and, over HTTP, wrongly signed. It takes these orders for real ones and keeps them. The accounting service is not called.',
    ),
    fields: local
      ? FIELDS
      : [...FIELDS, { name: 'testStore', label: t('It is for tests and has no customers'), kind: 'switch' }],
    action: t('Start the test'),
    submit: ({ text, isOn }) =>
      act('conformance/start', {
        ...{ source, wait: Number(text('wait')), testStore: isOn('testStore') },
        handled: text('handled') || undefined,
      }),
  })

/** What a store would lose or double. */
export const Conformance = ({ source }: { source: string }) => {
  const { data } = useResources({ about: reads('conformance', { source }, 'conformance') })
  if (data === undefined) return null
  const { local, job, findings } = data.about
  const isRunning = job !== undefined && job.end === undefined
  return (
    <Section
      id="conformance"
      title={t('Conformance')}
      aside={!isRunning && <Button onClick={() => askTest(source, local)}>{t('Test the store…')}</Button>}
    >
      {job === undefined ? (
        <p class="muted">{t('A test finds out what the store would lose or double.')}</p>
      ) : (
        <>
          <Job job={job} stop={() => act('conformance/stop', { source })} />
          {job.end && job.end.failure === undefined && <p class="note">{problemsText(findings)}</p>}
          <Findings findings={findings} />
        </>
      )}
    </Section>
  )
}
