'use client';

import type { AutocompleteProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import { useAnswer } from '../../page/use-answer';
import { SuggestField } from './suggest-field';

interface Props extends AutocompleteProps {
  /** The customer whose number the field holds at first, or null. */
  first: CustomerChoice | null;
  /** Learns the customer once the field holds its number, and null when it no longer does. */
  onPick(customer: CustomerChoice | null): void;
}

const NONE: CustomerChoice[] = [];

/** A customer, found by any part of its name, number or e-mail address, and kept by its number. */
export function CustomerField({ first, onPick, ...input }: Props) {
  const [text, setText] = useState(String(input.defaultValue ?? ''));
  const [isTyped, setTyped] = useState(false);
  const answered = useAnswer('/admin/customers/choices', isTyped ? text.trim() : '', NONE);
  const found = answered?.answer ?? NONE;
  const picked = [...found, ...(first ? [first] : [])].find((one) => isNumber(one, text)) ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: told of another customer, not of another function
  useEffect(() => onPick(picked), [picked?.customer_number]);
  return (
    <SuggestField
      {...input}
      description={picked ? describe(picked) : hintOf(answered, text)}
      suggestions={found.map((one) => ({ value: one.customer_number, about: describe(one) }))}
      isFiltered
      onChange={(typed) => {
        setText(typed);
        setTyped(true);
      }}
    />
  );
}

const isNumber = ({ customer_number }: CustomerChoice, text: string): boolean =>
  customer_number.toLowerCase() === text.trim().toLowerCase();

function describe({ name, status }: CustomerChoice): string {
  const state = status === 'active' ? '' : ` (${status})`;
  return `${name || 'No name'}${state}`;
}

function hintOf(answered: ReturnType<typeof useAnswer<CustomerChoice[]>>, text: string): string {
  if (answered?.state === 'failed') return 'The search does not work right now. You can still type a number.';
  if (answered?.state === 'signed-out') return 'You are no longer signed in. Save to sign in again.';
  const isNone = answered?.text === text.trim() && answered.answer?.length === 0;
  return isNone ? 'No customer has this in its name, number or e-mail.' : 'Type a name, number or e-mail.';
}
