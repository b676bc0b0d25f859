import type { InvoiceDetails } from '@/lib/invoices/queries';
import { getRuntime } from '@/lib/runtime';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { TextLink } from '../../../_components/links';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { StripeId } from '../../_components/display/stripe-id';
import { Section } from '../../_components/page/section';

interface Props {
  invoice: InvoiceDetails;
  timeZone: string;
}

/** Who keeps an invoice, and what it comes from. */
export async function OriginFacts({ invoice, timeZone }: Props) {
  const { db } = await getRuntime();
  const { data: documents } = await listSalesDocuments(db, { converted_to_invoice_id: invoice.id });
  const { subscription_id: subscription, stripe_customer_id: stripeCustomer } = invoice;
  return (
    <Section title="Origin">
      <Facts
        facts={{
          Managed: invoice.stripe_invoice_id ? 'by Stripe' : 'here',
          'Stripe ID': invoice.stripe_invoice_id ? <StripeId id={invoice.stripe_invoice_id} /> : undefined,
          'Stripe customer': stripeCustomer ? (
            <StripeId id={stripeCustomer} href={`/admin/subscriptions/stripe-customers/${stripeCustomer}`} />
          ) : undefined,
          Subscription: subscription && (
            <TextLink href={`/admin/subscriptions/${subscription}`}>{subscription}</TextLink>
          ),
          'Sales document':
            documents.length > 0
              ? documents.map(({ id, document_number }) => (
                  <TextLink key={id} href={`/admin/sales-documents/${id}`} mr="xs">
                    {document_number}
                  </TextLink>
                ))
              : null,
          'Last synced': invoice.stripe_synced_at ? (
            <Instant at={invoice.stripe_synced_at} timeZone={timeZone} />
          ) : undefined,
        }}
      />
    </Section>
  );
}
