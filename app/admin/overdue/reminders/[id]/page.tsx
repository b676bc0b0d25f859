import { Box, Group, Text } from '@mantine/core';
import { redirect } from 'next/navigation';
import { formatCount, formatCustomer, formatDate, formatMoney } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { toCalendarDate } from '@/lib/dates';
import { getCompany } from '@/lib/documents/company';
import {
  getReminderSettings,
  reminderLanguage,
  toRules,
  writeReminder,
} from '@/lib/documents/reminder-letter';
import { type DueInvoice, findLastReminder, listDueInvoices } from '@/lib/invoices/reminders';
import { toJsonAmount } from '@/lib/money';
import { listUsableCredits } from '@/lib/payments/queries';
import { CopyButton } from '../../../_components/display/copy-button';
import { Money, TwoLines } from '../../../_components/display/values';
import { OutcomeNotice } from '../../../_components/forms/record/record-notice';
import { SubmitButton } from '../../../_components/forms/submit-button';
import { Choice } from '../../../_components/lists/paged-list';
import { type Column, RecordList } from '../../../_components/lists/record-list';
import { Notice } from '../../../_components/page/notice';
import { Page, recordPage, Section, titleOfRow } from '../../../_components/page/staff-page';
import { LANGUAGES } from '../../../_components/records/customer-facts';
import { invoiceName } from '../../../_components/records/invoice-list';
import { remind, takeBackReminder } from '../../../customers/actions';
import { readCustomer } from '../../../customers/form-parts';
import { REMINDERS } from '../../list';

export const generateMetadata = titleOfRow(
  'Reminder',
  readCustomer,
  (one) => `Reminder of ${formatCustomer(one)}`,
);

const DONE = {
  reminded: 'The reminder is recorded for the invoices and the customer. No e-mail was sent.',
  undone: 'The reminder is withdrawn.',
};
const REFUSED = {
  conflict: 'Nothing was recorded, because other invoices are due now. This is the current text.',
  undo_conflict:
    'Nothing was withdrawn, because the last reminder has changed or was withdrawn in the meantime.',
  validation_failed: 'Nothing was recorded, because this customer was erased.',
};

/** Shows the text of a customer's reminder, a button that records it as sent, and a button that undoes the record. */
export default recordPage(
  readCustomer,
  async (customer, { id, db, search, notice, staff, timeZone, runtime: { now } }) => {
    const path = `${REMINDERS.path}/${customer.id}`;
    if (customer.id !== id) redirect(path);
    const today = toCalendarDate(now(), timeZone);
    const settings = await getReminderSettings(db);
    const due = await listDueInvoices(db, id, toRules(settings), today);
    const last = await findLastReminder(db, id);
    const company = await getCompany(db);
    const credits = (await listUsableCredits(db, id)).filter(({ currency }) =>
      due.some((one) => one.currency === currency),
    );
    const payable = due.find(
      (one) => one.stripe_invoice_id === null && credits.some(({ currency }) => currency === one.currency),
    );
    const asked = search.get('language');
    const language = asked === 'de' || asked === 'en' ? asked : reminderLanguage(customer);
    const text = due.length > 0 && writeReminder({ settings, customer, company, due, today, language });
    return (
      <Page
        back={{ href: REMINDERS.path, label: 'Reminders' }}
        title="Reminder"
        description={
          <>
            <TextLink href={`/admin/customers/${id}`} underline="always">
              {formatCustomer(customer)}
            </TextLink>
            {customer.email && ` · ${customer.email}`}
          </>
        }
        actions={
          due.length > 0 && (
            <form
              action={remind.bind(
                null,
                id,
                due.map((one) => one.id),
              )}
            >
              <SubmitButton>Mark as reminded</SubmitButton>
            </form>
          )
        }
        notice={
          <>
            <OutcomeNotice notice={notice} done={DONE} refused={REFUSED} />
            {credits.length > 0 && (
              <Notice tone="refused">
                {`The customer has ${credits.map(({ amount, currency }) => formatMoney(amount, currency)).join(' and ')} credit. `}
                {payable ? (
                  <>
                    Use it on the page of invoice{' '}
                    <TextLink href={`/admin/invoices/${payable.id}`} underline="always">
                      {invoiceName(payable)}
                    </TextLink>{' '}
                    before you send the reminder.
                  </>
                ) : (
                  'It cannot pay invoices that Stripe manages.'
                )}
              </Notice>
            )}
            {text && !company.iban && (
              <Notice tone="refused">
                The text does not name a bank account, because the company has no IBAN.{' '}
                {staff.role === 'admin' && (
                  <TextLink href="/admin/settings/company" underline="always">
                    Fill in the company
                  </TextLink>
                )}
              </Notice>
            )}
          </>
        }
      >
        {text ? (
          <>
            <Section title="Text" action={<CopyButton value={text} name="text" />}>
              <Box p="md">
                <Choice
                  label="Language"
                  mb="md"
                  current={language}
                  options={(['de', 'en'] as const).map((value) => ({
                    value,
                    text: LANGUAGES[value],
                    href: toHref(path, { language: value }),
                  }))}
                />
                <Text size="sm" lang={language} className="break-anywhere" style={{ whiteSpace: 'pre-wrap' }}>
                  {text}
                </Text>
              </Box>
            </Section>
            <Section title="Invoices in this reminder">
              <RecordList
                label="Invoices in this reminder"
                rows={due}
                hrefOf={(one) => `/admin/invoices/${one.id}`}
                columns={COLUMNS}
                entryOf={(one) => ({
                  title: invoiceName(one),
                  detail: `Due ${formatDate(one.due)}, ${formatCount(one.days, 'day')} overdue · Reminder ${one.level}`,
                  figure: moneyOf(one),
                })}
              />
            </Section>
          </>
        ) : (
          <Section title="Text" none="No invoice of this customer is due for a reminder." />
        )}
        {last && (
          <Section title="Last reminder">
            <Group justify="space-between" p="md" gap="md">
              <Text size="sm" className="break-anywhere">
                {`Reminder ${last.level} on ${formatDate(last.day)}: ${last.invoices.map(invoiceName).join(', ')}`}
              </Text>
              <form action={takeBackReminder.bind(null, id, last.day, last.recordedAt)}>
                <SubmitButton variant="default">Withdraw</SubmitButton>
              </form>
            </Group>
          </Section>
        )}
      </Page>
    );
  },
);

const moneyOf = ({ amount_due, currency }: DueInvoice) => (
  <Money amount={toJsonAmount(amount_due)} currency={currency} />
);

const COLUMNS: Column<DueInvoice>[] = [
  { label: 'Invoice', cell: (one) => <strong>{invoiceName(one)}</strong> },
  {
    label: 'Due',
    width: '25%',
    cell: ({ due, days }) => (
      <TwoLines below={`${formatCount(days, 'day')} overdue`}>{formatDate(due)}</TwoLines>
    ),
  },
  { label: 'Reminder', width: '15%', cell: ({ level }) => String(level) },
  { label: 'Balance due', width: '20%', align: 'right', cell: moneyOf },
];
