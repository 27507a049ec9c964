import { Command, Section } from '@order-relay/web/pieces.tsx'
import type { RouteData } from './api.ts'
import { t } from './persian.ts'

type Shop = RouteData<'store'>

type NameIn<Snippets> = Snippets extends object ? keyof Snippets : never

const codeOf = (file: string) => t('Code of the store: {file}', { file })

const SNIPPETS: Readonly<Record<string, string>> = {
  url: t('Queue'),
  arn: 'ARN',
  policy: t('Policy of the queue'),
  role_policy: t("Policy of the consumer's role"),
  aws_cli: 'AWS CLI',
  registration: t('Registration of the URL'),
  environment: t('Environment variables'),
  'store.mjs': codeOf('store.mjs'),
  'once.mjs': codeOf('once.mjs'),
  'store.py': codeOf('store.py'),
  'once.py': codeOf('once.py'),
  message: t('Message'),
  attributes: t('Message attributes'),
  headers: t('Additional headers'),
} satisfies Record<'url' | 'arn' | 'policy' | NameIn<Shop['snippets']>, string>

/** Information for the store's developer. */
export const ForDeveloper = ({ queue: { url, arn, policy }, snippets }: Shop) => (
  <Section id="developer" title={t('For the developer of the store')}>
    {Object.entries({ url, arn, policy, ...snippets }).map(
      ([name, content]) =>
        content && (
          <details key={name}>
            <summary>{SNIPPETS[name]}</summary>
            <Command text={typeof content === 'string' ? content : JSON.stringify(content, null, 2)} />
          </details>
        ),
    )}
  </Section>
)
