'use client';

import { Fieldset, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { spreadOverInvoices } from '@/lib/invoices/totals';
import { typedAmount } from '@/lib/read-amount';
import { formatDate, formatMoney, formatPlainAmount } from '../../../_components/format';
import { Field, type FormField, type Problem, problemText } from '../../_components/forms/field';
import {
  ActionForm,
  FormFooter,
  FormMessages,
  type FormState,
  useTypedForm,
} from '../../_components/forms/form';

interface FormProps {
  action(before: FormState, form: FormData): Promise<FormState>;
  cancel: string;
  currency: string;
  typed: Record<string, string>;
}

/** An unpaid invoice that a transfer can pay. */
export interface OpenInvoice {
  id: number;
  name: string;
  due_date: string | null;
  amount_due: number;
  /** Whether Stripe manages the invoice. The form then suggests no share for it, because Stripe collects the amount. */
  isManaged: boolean;
}

/**
 * Shows the form that records a transfer. It spreads the typed amount over the invoices that Stripe does not manage,
 * the oldest due date first.
 */
export function TransferForm({ action, cancel, currency, typed, open }: FormProps & { open: OpenInvoice[] }) {
  const first: FormState = { typed, problems: {} };
  const { form, state, isPending, kept } = useTypedForm({ label: 'Transfer', action, first, keeps: true });
  const values = kept ?? state.typed;
  const { problems } = state;
  return (
    <form {...form}>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="lg" key={kept ? 'kept' : 'typed'}>
          <FormMessages problem={problems['']} isKept={kept !== null} />
          <Shares {...{ currency, open, values, problems }} />
          {DETAILS.map((field) => (
            <Field key={field.name} field={field} value={values[field.name]} problem={problems[field.name]} />
          ))}
          <FormFooter submit="Record transfer" cancel={cancel} isPending={isPending} />
        </Stack>
      </Paper>
    </form>
  );
}

const DETAILS: FormField[] = [
  { name: 'payment_date', label: 'Date', type: 'date', required: true },
  {
    name: 'payment_reference',
    label: 'Reference',
    description: 'As on the bank statement. The payment of the second invoice adds /2 to it, and so on.',
    maxLength: 252,
    required: true,
  },
  {
    name: 'method',
    label: 'Method',
    description: 'Such as bank transfer or cash. Optional.',
    maxLength: 100,
  },
];

interface SharesProps {
  currency: string;
  open: OpenInvoice[];
  values: FormState['typed'];
  problems: Record<string, Problem>;
}

const nameOf = ({ id }: OpenInvoice) => `share_${id}`;

/** Shows the fields for the amount and each invoice's share. The form suggests a share until a person types one. */
function Shares({ currency, open, values, problems }: SharesProps) {
  const [amount, setAmount] = useState(String(values.amount ?? ''));
  const [typed, setTyped] = useState<Map<number, string>>(
    () =>
      new Map(open.flatMap((one) => (nameOf(one) in values ? [[one.id, String(values[nameOf(one)])]] : []))),
  );
  const managed = open
    .filter(({ id, isManaged }) => isManaged && !typed.has(id))
    .map(({ id }) => [id, ''] as const);
  const fixed = new Map([...typed, ...managed]);
  const numbers = new Map([...fixed].map(([id, text]) => [id, typedAmount(text)]));
  const { shares, rest } = spreadOverInvoices(typedAmount(amount), open, numbers);
  const textOf = (id: number) => {
    const share = Number(shares.get(id) ?? 0);
    return fixed.get(id) ?? (share > 0 ? formatPlainAmount(share, currency) : '');
  };
  return (
    <>
      <TextInput
        name="amount"
        label={`Amount in ${currency.toUpperCase()}`}
        inputMode="decimal"
        autoComplete="off"
        required
        withAsterisk={false}
        value={amount}
        onChange={({ currentTarget }) => setAmount(currentTarget.value)}
        error={problemText(problems.amount)}
      />
      {open.length > 0 && (
        <Fieldset legend="Invoices" radius="lg">
          <Stack gap="md">
            {open.map((one) => (
              <TextInput
                key={one.id}
                name={nameOf(one)}
                label={`Share of invoice ${one.name}`}
                description={describe(one, currency)}
                inputMode="decimal"
                autoComplete="off"
                value={textOf(one.id)}
                onChange={({ currentTarget: { value } }) => setTyped(new Map(typed).set(one.id, value))}
                error={problemText(problems[nameOf(one)])}
              />
            ))}
          </Stack>
        </Fieldset>
      )}
      <Text size="sm" role="status">
        {restText(rest, currency)}
      </Text>
    </>
  );
}

function describe({ amount_due, due_date, isManaged }: OpenInvoice, currency: string): string {
  const due = due_date ? `, due ${formatDate(due_date)}` : '';
  const note = isManaged ? '. Stripe collects this invoice, so a share does not settle it.' : '';
  return `${formatMoney(amount_due, currency)} open${due}${note}`;
}

function restText(rest: number, currency: string): string {
  if (rest < 0) return `The shares are ${formatMoney(-rest, currency)} more than the amount.`;
  if (rest === 0) return 'No credit is left over.';
  return `${formatMoney(rest, currency)} is left over and becomes customer credit.`;
}

export function TransferCorrection({ currency, ...form }: FormProps) {
  return (
    <ActionForm
      label="Transfer"
      isSheet
      keeps
      fields={[
        {
          name: 'amount',
          label: `Amount in ${currency.toUpperCase()}`,
          description: 'The credit changes by the difference. The payments keep their amounts.',
          inputMode: 'decimal',
          required: true,
        },
        ...DETAILS,
      ]}
      submit="Save"
      {...form}
    />
  );
}
