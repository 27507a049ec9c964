import { decimal, sum } from '@order-relay/web/format.ts'
import { Button, Chip, type Column, Facts, Minute, Name, Scrolls, Table } from '@order-relay/web/pieces.tsx'
import type { SchemaData } from './api.ts'
import { GOODS } from './goods.tsx'
import type { documentsOf } from './invoice-documents.tsx'
import { t } from './persian.ts'

type ReturnRow = SchemaData<'OrderDetail'>['returns'][number]['rows'][number]

const amount = (label: string, rows: readonly ReturnRow[], of: (row: ReturnRow) => string) => ({
  label,
  kind: 'number',
  cell: (row: ReturnRow) => decimal(of(row)),
  foot: decimal(sum(...rows.map(of))),
})

/** What is returned, as on an invoice. */
const columnsOf = (rows: readonly ReturnRow[]): Column<ReturnRow>[] => [
  ...GOODS,
  amount(t('Net'), rows, ({ net }) => net),
  amount(t('Tax'), rows, ({ tax }) => tax),
  amount(t('Row total'), rows, ({ net, tax }) => sum(net, tax)),
]

type SectionProps = ReturnType<typeof documentsOf>[number] & { isPrinted: boolean; onPrint: () => void }

/** A receipt, return or repayment below its invoice, or printed alone. */
export const DocumentSection = ({
  isPrinted,
  onPrint,
  id,
  title,
  tone,
  cancelled,
  ...about
}: SectionProps) => (
  <section
    id={id}
    class="document row"
    data-tone={cancelled === undefined ? tone : undefined}
    aria-label={title}
    data-printed={isPrinted || undefined}
  >
    <h3>
      {title} {cancelled && <Chip tone="undone">{t('Cancelled')}</Chip>}
    </h3>
    <Facts
      facts={{
        ...(cancelled && {
          [t('Cancelled on')]: <Minute iso={cancelled.cancelled_at} />,
          [t('Reason of the cancellation')]: cancelled.cancel_reason && (
            <Name>{cancelled.cancel_reason}</Name>
          ),
        }),
        ...about.facts,
      }}
    />
    {about.rows && (
      <Scrolls label={t('Rows of {document}', { document: title })}>
        <Table
          caption={t('Rows of {document}, in rials', { document: title })}
          kind="invoice-rows"
          columns={columnsOf(about.rows)}
          rows={about.rows}
          keyOf={({ row }) => String(row)}
        />
      </Scrolls>
    )}
    {isPrinted && <Facts facts={about.printed} />}
    <Button kind="small" label={t('Print {document}', { document: title })} onClick={onPrint}>
      {t('Print')}
    </Button>
  </section>
)
