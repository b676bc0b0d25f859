'use client';

import { Text } from '@mantine/core';
import { type OwedBy, owedAfter } from '@/lib/invoices/totals';
import { typedAmount } from '@/lib/read-amount';
import { formatMoney } from '../../_components/format';
import type { FormField } from '../_components/forms/field';
import { ActionForm, type FormState } from '../_components/forms/form';

interface FormProps {
  action(before: FormState, form: FormData): Promise<FormState>;
  submit: string;
  cancel: string;
  currency: string;
  typed: Record<string, string>;
}

interface PaymentFormProps extends FormProps {
  /** Amount that is open on the initial invoice, not counting this payment. Null if Stripe manages the invoice. */
  open: number | null;
}

/** Shows the form for a new payment or a correction. A correction can also move the payment to another invoice. */
export function PaymentForm({ currency, open, ...form }: PaymentFormProps) {
  const isMoved = (invoice: string) => 'invoice' in form.typed && invoice.trim() !== form.typed.invoice;
  const over = (amount: string, invoice: string) =>
    open === null || isMoved(invoice) ? 0 : Number(typedAmount(amount) ?? 0) - open;
  const invoice: FormField = {
    name: 'invoice',
    label: 'Invoice',
    description: 'Its number. The payment moves to this invoice and its customer.',
    required: true,
  };
  return (
    <ActionForm
      label="Payment"
      isSheet
      keeps
      fields={[
        ...('invoice' in form.typed ? [invoice] : []),
        {
          ...amountIn(currency),
          after(amount, textOf) {
            const more = over(amount, textOf('invoice'));
            return (
              <Text size="sm" role="status" hidden={!(more > 0)}>
                {more > 0 &&
                  `${formatMoney(more, currency)} more than the balance due. It is kept as a credit on the invoice.`}
              </Text>
            );
          },
        },
        { name: 'payment_date', label: 'Date', type: 'date', required: true },
        {
          name: 'payment_reference',
          label: 'Reference',
          description: 'As on the bank statement or receipt. Each payment needs its own.',
          maxLength: 255,
          required: true,
        },
      ]}
      {...form}
    />
  );
}

interface RefundFormProps extends FormProps {
  version: string;
  invoice: OwedBy & { name: string; isManaged: boolean };
}

/** Shows the form for a full or partial refund. It says what the invoice will then owe, or that Stripe manages it. */
export function RefundForm({ currency, invoice, ...form }: RefundFormProps) {
  const effectOf = (amount: string) =>
    invoice.isManaged
      ? `Invoice ${invoice.name} stays as it is, because Stripe manages it.`
      : `The balance due of invoice ${invoice.name} will be ${formatMoney(owedAfter(invoice, Number(typedAmount(amount) ?? 0)), currency)}.`;
  return (
    <ActionForm
      label="Refund"
      isSheet
      keeps
      fields={[
        {
          ...amountIn(currency),
          description: 'After a partial refund, the payment stays completed with the remaining amount.',
          after: (amount) => (
            <Text size="sm" role="status">
              {effectOf(amount)}
            </Text>
          ),
        },
        { name: 'date', label: 'Refunded on', type: 'date', required: true },
      ]}
      {...form}
    />
  );
}

const amountIn = (currency: string): FormField => ({
  name: 'amount',
  label: `Amount in ${currency.toUpperCase()}`,
  inputMode: 'decimal',
  required: true,
});
