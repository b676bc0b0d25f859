'use client';

import { List, Stack, Text } from '@mantine/core';
import type { Merged } from '@/lib/records/typed-record';
import { Notice } from '../../page/notice';
import { type FormPart, fieldsOf, fieldText } from './form-fields';

interface Props {
  parts: FormPart[];
  theirs: Merged['theirs'];
}

/** The other person's values of a record beside the typed ones. */
export function ConflictNotice({ parts, theirs }: Props) {
  const fields = new Map(fieldsOf(parts).map((field) => [field.name, field]));
  return (
    <Notice tone="refused">
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          Somebody else changed this meanwhile
        </Text>
        <Text size="sm">
          Nothing has been saved yet; what you typed is still here.{' '}
          {theirs.length === 0 && 'None of these fields changed. '}
          Save again to keep what the form shows now.
        </Text>
        <List size="sm" spacing={4}>
          {theirs.map(({ field: name, stored, typed }) => {
            const field = fields.get(name) ?? { name, label: name };
            return (
              <List.Item key={name} className="break-anywhere">
                <strong>{field.label}</strong>
                {`: stored now: ${fieldText(field, stored)}; `}
                {typed === null
                  ? 'you had not changed it, so the form now shows the new value'
                  : `you typed: ${fieldText(field, typed)}`}
              </List.Item>
            );
          })}
        </List>
      </Stack>
    </Notice>
  );
}
