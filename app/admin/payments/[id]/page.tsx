import { Alert, SimpleGrid } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatMoney } from '@/app/_components/format';
import { listAudit } from '@/lib/audit/audit-log';
import { getPaymentContext } from '@/lib/payments/list';
import { isUndecided, listMoneyBack, ofPayment } from '@/lib/payments/money-back';
import { getPayment, toDeletedPayment } from '@/lib/payments/queries';
import { findStripePayment } from '@/lib/payments/stripe-payment';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { orNotFound, orNull } from '../../../_components/or-not-found';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { RecordTitle } from '../../_components/display/status';
import { Instant } from '../../_components/display/values';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { Page } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { rowIdIn, staffPage } from '../../_components/page/staff-page';
import { titleOfRow } from '../../_components/page/title-of';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { RecordTasks } from '../../_components/records/record-tasks';
import { ContextFacts, PaymentActions, PaymentFacts } from './payment-parts';

export const generateMetadata = titleOfRow('Payment', async (db, id) => {
  const { payment_reference } = await getPayment(db, id);
  return `Payment ${payment_reference}`;
});

/** Limit for refunds and disputes, far more than one payment has. */
const MAX_ROWS = 100;

/** Shows a payment. A deleted payment is shown as it was before its deletion. */
export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = rowIdIn(params);
  const { timeZone } = env;
  const held = await orNull(getPayment(db, id));
  const history = await listAudit(db, 'payment', id);
  const deleted = held ? null : toDeletedPayment(history);
  const payment = held ?? deleted?.payment ?? notFound();
  const notice = search.get('notice');
  const context = await orNotFound(getPaymentContext(db, payment));
  const stripePayment = held && (await findStripePayment(db, id));
  const moneyBack = await listMoneyBack(db, ofPayment(id), MAX_ROWS);
  const status = moneyBack.some(isUndecided) ? 'disputed' : payment.status;
  const lastCheck = await getLastCheck(db, history);
  return (
    <Page
      back={{ href: '/admin/payments', label: 'Payments' }}
      title={
        <RecordTitle status={deleted ? 'deleted' : status}>
          {formatMoney(payment.amount, payment.currency)}
        </RecordTitle>
      }
      description={payment.payment_reference}
      actions={
        held && (
          <PaymentActions
            key={notice}
            payment={held}
            invoice={context.invoice}
            isAtStripe={Boolean(stripePayment || context.invoice.stripe_invoice_id)}
          />
        )
      }
      notice={
        <>
          <RecordNotice notice={notice} done={DONE} refused={REFUSED} />
          <RecordTasks entity="payment" id={id} />
          <CheckNotice outcome={search.get('check')} last={lastCheck} />
          {deleted && (
            <Alert color="orange" variant="light" mb="lg" title="This payment was deleted">
              {deleted.deleted_by} deleted it on <Instant at={deleted.deleted_at} timeZone={timeZone} />. This
              is its last version.
            </Alert>
          )}
        </>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Section title="Payment">
          <PaymentFacts payment={payment} stripePayment={stripePayment} timeZone={timeZone} />
        </Section>
        <ContextFacts {...context} />
      </SimpleGrid>
      <MoneyBackSection rows={moneyBack} timeZone={timeZone} />
      <LastCheckSection last={lastCheck} timeZone={timeZone} />
      <Section title="History">
        <AuditTrail entries={history} timeZone={timeZone} />
      </Section>
    </Page>
  );
});

const DONE = {
  recorded: 'The payment is recorded.',
  refunded: 'The payment is marked as refunded.',
  'refund-recorded': 'The refund is recorded.',
  completed: 'The payment is confirmed. It counts towards its invoice now.',
  failed: 'The payment is marked as failed. It does not count towards its invoice.',
  edited: 'The payment is changed.',
};
const REFUSED = {
  precondition_failed: 'The payment changed meanwhile, so nothing was saved. This is the latest version.',
  not_decided:
    'Nothing was saved: the payment does not fit its invoice, or its date is in the future. Correct it first.',
  not_found: 'The payment was deleted meanwhile. This is its last version.',
  validation_failed: 'Nothing was saved: the payment does not fit its invoice.',
};
