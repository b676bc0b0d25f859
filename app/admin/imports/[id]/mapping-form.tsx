'use client';

import { Button, Fieldset, Group, InputBase, NativeSelect, SimpleGrid, Stack } from '@mantine/core';
import { useActionState } from 'react';
import type { FilePreview } from '@/lib/imports/preview-file';
import type { ChosenOptions } from '@/lib/uploads/chosen-options';
import { ProblemAlert } from '../../../_components/problem-alert';
import { useFirstWrong } from '../../_components/forms/use-first-wrong';
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
        <ProblemAlert problem={problems['']} />
        <Fieldset legend="Columns" radius="lg">
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
            {columns.map(({ theirs, cells }) => (
              <NativeSelect
                key={`${theirs} ${state.chosen.columns[theirs]}`}
                name={`columns.${theirs}`}
                label={theirs || '(no name)'}
                description={cells.join(' · ') || 'Empty in the first rows.'}
                error={problems[`columns.${theirs}`]}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                defaultValue={state.chosen.columns[theirs] ?? ''}
                data={options}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
        <Fieldset legend="All rows" radius="lg">
          <Stack gap="md" maw={480}>
            <NativeSelect
              key={String(state.chosen.decimal_comma)}
              name="decimal_comma"
              label="Numbers look like"
              defaultValue={state.chosen.decimal_comma ? 'on' : ''}
              data={[
                { value: '', label: '1,234.56' },
                { value: 'on', label: '1.234,56' },
              ]}
            />
            <InputBase
              component="textarea"
              multiline
              name="constants"
              label="The same value in all rows"
              description="One per line, such as currency=usd."
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
