'use client';

import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { IssueState } from './actions';

const CHOICES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 365 days' },
  { value: 'date', label: 'On a date' },
  { value: 'never', label: 'Never' },
];

interface Props {
  typed: IssueState['typed'];
  problem: string | undefined;
  /** YYYY-MM-DD. */
  today: string;
}

/** When a token ends, and the day where one is chosen. */
export function ExpiryFields({ typed, problem, today }: Props) {
  const [expires, setExpires] = useState(typed.expires);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <NativeSelect
        label="Expires"
        name="expires"
        data={CHOICES}
        defaultValue={typed.expires}
        onChange={({ currentTarget }) => setExpires(currentTarget.value)}
      />
      {expires === 'date' && (
        <TextInput
          label="Last day"
          type="date"
          name="last_day"
          min={today}
          defaultValue={typed.last_day}
          error={problem}
          required
          withAsterisk={false}
        />
      )}
    </SimpleGrid>
  );
}
