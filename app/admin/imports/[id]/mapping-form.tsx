'use client';

import { Alert, Button, Checkbox, Fieldset, Group, SimpleGrid, Stack, Textarea } from '@mantine/core';
import { useActionState } from 'react';
import type { FilePreview } from '@/lib/imports/preview-file';
import type { ChosenOptions } from '@/lib/uploads/chosen-options';
import { RecordField } from '../../_components/record/record-field';
import { useFirstWrong } from '../../_components/use-first-wrong';
import type { ImportState } from './actions';

interface Props {
  action(before: ImportState, form: FormData): Promise<ImportState>;
  columns: FilePreview['columns'];
  /** What the form begins with. */
  chosen: ChosenOptions;
  /** The names that a column can have here. */
  fields: string[];
}

/** Says which column is which, and how the file is to be read. */
export function MappingForm({ action, columns, chosen, fields }: Props) {
  const [state, submit, pending] = useActionState(action, { chosen, problems: {} });
  const form = useFirstWrong(state);
  const { problems } = state;
  const options = [
    { value: '', label: 'Left out' },
    ...fields.map((field) => ({ value: field, label: field })),
  ];
  return (
    <form action={submit} ref={form} aria-label="Import">
      <Stack gap="lg">
        {problems[''] && (
          <Alert color="red" variant="light" role="alert">
            {problems['']}
          </Alert>
        )}
        <Fieldset legend="Columns" radius="lg">
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
            {columns.map(({ theirs, cells }) => (
              <RecordField
                key={theirs}
                field={{
                  name: `columns.${theirs}`,
                  label: theirs || '(no name)',
                  kind: 'choice',
                  options,
                  description: cells.join(' · ') || 'Empty in the first rows.',
                }}
                value={state.chosen.columns[theirs] ?? ''}
                problem={problems[`columns.${theirs}`]}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
        <Fieldset legend="All rows" radius="lg">
          <Stack gap="md" maw={480}>
            <Checkbox
              name="decimal_comma"
              label="Decimal comma"
              description="Numbers look like 1.234,56."
              defaultChecked={state.chosen.decimal_comma}
            />
            <Textarea
              name="constants"
              label="The same value in all rows"
              description="One a line, such as currency=usd."
              rows={2}
              autoComplete="off"
              defaultValue={state.chosen.constants}
              error={problems.constants}
            />
          </Stack>
        </Fieldset>
        <input type="hidden" name="delimiter" value={chosen.delimiter} />
        <input type="hidden" name="format" value={chosen.format} />
        <Group gap="xs">
          <Button type="submit" name="run" value="dry" variant="default" loading={pending}>
            Dry run
          </Button>
          <Button type="submit" name="run" value="import" loading={pending}>
            Import
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
