import { DataList, DataListItem, DataListItemLabel, DataListItemValue } from '@mantine/core';
import type { ReactNode } from 'react';

/** Names and values of one record: a dash for null, nothing for undefined. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return (
    <DataList p="md" gap="sm" labelWidth="8.5rem">
      {known.map(([label, value]) => (
        <DataListItem key={label}>
          <DataListItemLabel>{label}</DataListItemLabel>
          <DataListItemValue className="break-anywhere">{value ?? '–'}</DataListItemValue>
        </DataListItem>
      ))}
    </DataList>
  );
}
