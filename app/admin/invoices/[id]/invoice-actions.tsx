import { IconExternalLink, IconPlus } from '@tabler/icons-react';
import type { StripeMode } from '@/lib/env-contradictions';
import type { InvoiceDetails } from '@/lib/invoices/queries';
import { invoiceSteps } from '@/lib/invoices/save-invoices';
import { takesPayments } from '@/lib/payments/lock-payment';
import { dashboardUrl } from '@/lib/stripe/dashboard';
import { formatMoney } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { CheckButton } from '../../_components/audit/check/check-button';
import { RecordActions } from '../../_components/forms/record/record-actions';
import { PageActions } from '../../_components/page/page-actions';
import { invoiceName } from '../../_components/records/invoice-list';
import { isOwnDraft, isOwnUnpaid } from '../own-invoice';
import { check } from './actions';
import { STEPS } from './step-text';

/** The actions of an invoice. Stripe's invoices are changed at Stripe, so the first action opens them there. */
export function InvoiceActions({ invoice, mode }: { invoice: InvoiceDetails; mode: StripeMode | null }) {
  const { id, customer, version, stripe_invoice_id: stripeId } = invoice;
  const payment = takesPayments(invoice) && (
    <LinkButton
      href={toHref('/admin/payments/new', { invoice: `#${id}` })}
      size="sm"
      leftSection={<IconPlus size={16} aria-hidden />}
      {...(stripeId !== null && { variant: 'default' })}
    >
      Record payment
    </LinkButton>
  );
  if (stripeId !== null) {
    const open = (
      <LinkButton
        href={dashboardUrl(mode, `invoices/${stripeId}`)}
        rel="noreferrer"
        size="sm"
        leftSection={<IconExternalLink size={16} aria-hidden />}
      >
        Open in Stripe
      </LinkButton>
    );
    return (
      <PageActions primary={open}>
        {payment}
        <CheckButton action={check.bind(null, id)} />
        <LinkButton href={toHref('/admin/webhooks', { id: stripeId })} size="sm" variant="default">
          Events
        </LinkButton>
      </PageActions>
    );
  }
  const name = [
    invoiceName(invoice),
    formatMoney(invoice.total, invoice.currency),
    customer.name || customer.customer_number,
  ];
  return (
    <RecordActions
      key={version}
      kind="invoice"
      steps={invoiceSteps}
      texts={STEPS}
      record={invoice}
      noun="draft"
      name={name.join(', ')}
      primary={payment}
      edit={editOf(invoice)}
      except={invoice.amount_paid > 0 ? ['cancel'] : []}
      removal={
        isOwnDraft(invoice)
          ? 'It has no number yet, so no number is lost. The document it came from can be converted again.'
          : null
      }
    />
  );

  function editOf(one: InvoiceDetails) {
    if (isOwnDraft(one)) return { href: `/admin/invoices/${id}/edit` };
    return isOwnUnpaid(one) ? { href: `/admin/invoices/${id}/due-date`, label: 'Change due date' } : null;
  }
}
