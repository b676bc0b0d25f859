import { Box } from '@mantine/core';
import type { findPayableInvoices } from '@/lib/payments/payable-invoices';
import { formatDate } from '../../../_components/format';
import { toHref } from '../../../_components/search-params';
import { Money } from '../../_components/display/money';
import { StatusBadge } from '../../_components/display/status-badge';
import { RecordList } from '../../_components/lists/record-list';
import { Section } from '../../_components/page/section';
import { invoiceName } from '../../_components/records/invoice-list';

type Match = Awaited<ReturnType<typeof findPayableInvoices>>[number];

/** Invoices that may be meant, unpaid ones first; each leads to the form. */
export function InvoiceMatches({ matches }: { matches: Match[] }) {
  return (
    <Box mt="xl">
      <Section title="Which invoice?">
        <RecordList
          label="Matching invoices"
          rows={matches}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => toHref('/admin/payments/new', { invoice: `#${id}` })}
          columns={[
            { label: 'Invoice', width: '26%', cell: (invoice) => <strong>{invoiceName(invoice)}</strong> },
            { label: 'Customer', cell: nameOf, title: nameOf },
            { label: 'Status', width: '18%', cell: ({ status }) => <StatusBadge status={status} /> },
            { label: 'Open', width: '20%', align: 'right', cell: openOf },
          ]}
          entryOf={(invoice) => ({
            title: invoiceName(invoice),
            detail: [nameOf(invoice), invoice.due_date && `due ${formatDate(invoice.due_date)}`]
              .filter(Boolean)
              .join(' · '),
            figure: openOf(invoice),
            state: <StatusBadge status={invoice.status} />,
          })}
        />
      </Section>
    </Box>
  );
}

const nameOf = ({ customer }: Match) => customer.name || customer.customer_number;
const openOf = ({ amount_due, currency }: Match) => <Money amount={amount_due} currency={currency} />;
