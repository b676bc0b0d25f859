import { DataList, DataListItem, DataListItemLabel, DataListItemValue } from '@mantine/core';
import type { ReactNode } from 'react';

/** Names and values of one record; a dash for what it does not have. */
export function Facts({ facts }: { facts: [label: string, value: ReactNode][] }) {
  return (
    <DataList p="md" gap="sm" labelWidth="8.5rem">
      {facts.map(([label, value]) => (
        <DataListItem key={label}>
          <DataListItemLabel>{label}</DataListItemLabel>
          <DataListItemValue className="break-anywhere">{value ?? '–'}</DataListItemValue>
        </DataListItem>
      ))}
    </DataList>
  );
}
