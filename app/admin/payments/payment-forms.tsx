'use client';

import { Paper, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useActionState, useState } from 'react';
import { formatMoney } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { type OwedBy, owedAfter } from '@/lib/invoices/totals';
import { typedAmount } from '@/lib/read-amount';
import { FormFooter, FormMessages, useFirstWrong } from '../_components/forms/form';
import { useKeptTyping } from '../_components/forms/record/use-kept-typing';

/** What a payment's form shows. */
export interface PaymentState extends TypedState {
  /** The payment that has the reference already. */
  existing: Existing | null;
}

interface PaymentFormProps {
  action(before: PaymentState, form: FormData): Promise<PaymentState>;
  submit: string;
  cancel: string;
  currency: string;
  open: number | null;
  initial: Record<string, string>;
}

/** Records a payment, or changes one. */
export function PaymentForm({ currency, open, initial, ...form }: PaymentFormProps) {
  return (
    <TypedForm<PaymentState>
      label="Payment"
      first={{ typed: initial, problems: {}, existing: null }}
      {...form}
    >
      {(field, { typed, existing }) => (
        <PaymentFields
          field={field}
          currency={currency}
          open={open}
          first={typed.amount}
          isCorrection={initial.invoice !== undefined}
          {...(existing && { referenceError: <ExistingPayment existing={existing} /> })}
        />
      )}
    </TypedForm>
  );
}

interface PaymentFieldsProps {
  field: FieldProps;
  currency: string;
  /** What the invoice has open without this payment; null where a payment settles nothing. */
  open: number | null;
  first: string | undefined;
  /** The payment was recorded already, and may stand at the wrong invoice. */
  isCorrection: boolean;
  /** What is wrong with the reference, with its link. */
  referenceError?: ReactNode;
}

/** Amount, date and reference of a payment. */
function PaymentFields({ field, currency, open, first, isCorrection, referenceError }: PaymentFieldsProps) {
  const [amount, setAmount] = useState(first ?? '');
  const over = open === null ? 0 : Number(typedAmount(amount) ?? 0) - open;
  return (
    <>
      {isCorrection && (
        <TextInput
          label="Invoice"
          description="Its number. The payment moves to this invoice and its customer."
          autoComplete="off"
          {...field('invoice')}
        />
      )}
      <TextInput
        label={`Amount in ${currency.toUpperCase()}`}
        inputMode="decimal"
        autoComplete="off"
        {...field('amount')}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <Text size="sm" role="status" hidden={!(over > 0)}>
        {over > 0 &&
          `${formatMoney(over, currency)} more than the balance due. It is kept as a credit on the invoice.`}
      </Text>
      <TextInput label="Date" type="date" {...field('payment_date')} />
      <TextInput
        label="Reference"
        description="As on the bank statement or receipt. Each payment needs its own."
        maxLength={255}
        autoComplete="off"
        {...field('payment_reference')}
        {...(referenceError && { error: referenceError })}
      />
    </>
  );
}

export interface Existing {
  href: string;
  text: string;
}

/** The payment that has the reference already. */
function ExistingPayment({ existing }: { existing: Existing }) {
  return (
    <>
      Another payment has this reference:{' '}
      <TextLink href={existing.href} size="xs">
        {existing.text}
      </TextLink>
    </>
  );
}

interface Invoice extends OwedBy {
  name: string;
  isManaged: boolean;
}

interface RefundFormProps {
  action(before: TypedState, form: FormData): Promise<TypedState>;
  cancel: string;
  currency: string;
  invoice: Invoice;
  initial: Record<string, string>;
}

export function RefundForm({ currency, invoice, initial, ...form }: RefundFormProps) {
  return (
    <TypedForm<TypedState>
      label="Refund"
      submit="Record refund"
      first={{ typed: initial, problems: {} }}
      {...form}
    >
      {(field, { typed }) => (
        <RefundFields field={field} first={typed.amount ?? ''} currency={currency} invoice={invoice} />
      )}
    </TypedForm>
  );
}

interface FieldsProps extends Pick<RefundFormProps, 'currency' | 'invoice'> {
  field: FieldProps;
  first: string;
}

function RefundFields({ field, first, currency, invoice }: FieldsProps) {
  const [typed, setTyped] = useState(first);
  const amount = typedAmount(typed);
  return (
    <>
      <TextInput
        label={`Amount in ${currency.toUpperCase()}`}
        description="After a partial refund, the payment stays completed with the remaining amount."
        inputMode="decimal"
        autoComplete="off"
        {...field('amount')}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Text size="sm" role="status">
        {effectOf(invoice, amount === null ? 0 : Number(amount), currency)}
      </Text>
      <TextInput label="Refunded on" type="date" {...field('date')} />
    </>
  );
}

function effectOf(invoice: Invoice, amount: number, currency: string): string {
  if (invoice.isManaged) return `Invoice ${invoice.name} stays as it is, since Stripe manages it.`;
  return `Invoice ${invoice.name} will then owe ${formatMoney(owedAfter(invoice, amount), currency)}.`;
}

export interface TypedState {
  /** The fields as they were typed. */
  typed: Record<string, string>;
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
}

/** What a field of the form is given. */
type FieldProps = (name: string) => {
  name: string;
  defaultValue: string | undefined;
  error: string | undefined;
  required: boolean;
  withAsterisk: boolean;
};

interface TypedFormProps<State extends TypedState> {
  label: string;
  submit: string;
  cancel: string;
  action(before: State, form: FormData): Promise<State>;
  first: State;
  children(field: FieldProps, state: State): ReactNode;
}

/**
 * A form of the payments' pages: what is wrong is named, and nothing that was typed is lost by an error or an
 * expired session.
 */
function TypedForm<State extends TypedState>(props: TypedFormProps<State>) {
  const { label, submit, cancel, action, first, children } = props;
  const [state, send, pending] = useActionState<State, FormData>(action, first as Awaited<State>);
  const form = useFirstWrong(state);
  const isAnswer = Object.keys(state.problems).length > 0;
  const { kept, keep } = useKeptTyping(label, isAnswer ? state : null);
  const typed = kept ?? state.typed;
  const field: FieldProps = (name) => ({
    name,
    defaultValue: typed[name],
    error: state.problems[name],
    required: true,
    withAsterisk: false,
  });
  return (
    <form action={send} onSubmit={keep} ref={form} aria-label={label}>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md" key={kept ? 'kept' : 'typed'}>
          <FormMessages problem={state.problems['']} isKept={kept !== null} />
          {children(field, { ...state, typed })}
          <FormFooter submit={submit} cancel={cancel} pending={pending} />
        </Stack>
      </Paper>
    </form>
  );
}
