'use client';

import { Button, Fieldset, Group, InputBase, NativeSelect, SimpleGrid, Stack } from '@mantine/core';
import { ProblemAlert } from '@/app/_components/problem-alert';
import type { FilePreview } from '@/lib/imports/preview-file';
import type { ChosenOptions } from '@/lib/uploads/chosen-options';
import { useTypedForm } from '../../_components/forms/form';
import type { ImportState } from '../actions';

interface Props {
  action(before: ImportState, form: FormData): Promise<ImportState>;
  columns: FilePreview['columns'];
  /** The initially selected options. */
  chosen: ChosenOptions;
  /** Names of the columns that an import of this kind accepts. */
  fields: string[];
  /** Whether the latest run was a complete dry run with these options, so that the import can start. */
  isTried: boolean;
}

/** Shows the form that maps columns to fields, and asks for the decimal separator and for values common to all rows. */
export function MappingForm({ action, columns, chosen, fields, isTried }: Props) {
  const { form, state, isPending } = useTypedForm<ImportState>({
    label: 'Import',
    action,
    first: { chosen, problems: {} },
  });
  const { problems } = state;
  const options = [
    { value: '', label: 'Left out' },
    ...fields.map((field) => ({ value: field, label: field })),
  ];
  return (
    <form {...form}>
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
              key={state.chosen.decimal_separator}
              name="decimal_separator"
              label="Numbers look like"
              description="If you do not choose, ambiguous numbers such as 1.234 are rejected."
              defaultValue={state.chosen.decimal_separator}
              data={[
                { value: '', label: 'Either; detect it for each number' },
                { value: '.', label: '1,234.56' },
                { value: ',', label: '1.234,56' },
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
        <input type="hidden" name="encoding" value={chosen.encoding} />
        <input type="hidden" name="delimiter" value={chosen.delimiter} />
        <input type="hidden" name="format" value={chosen.format} />
        <Group gap="xs">
          <Button
            type="submit"
            name="run"
            value="dry"
            variant={isTried ? 'default' : 'filled'}
            loading={isPending}
          >
            Dry run
          </Button>
          {isTried && (
            <Button type="submit" name="run" value="import" loading={isPending}>
              Import
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
