import { Alert, Group, Stack, Text } from '@mantine/core';
import { StartError } from '@/lib/errors';
import { toColumns } from '@/lib/imports/columns';
import { IMPORT_KINDS } from '@/lib/imports/kinds';
import { previewFile } from '@/lib/imports/preview-file';
import { DELIMITERS, formatsOf } from '@/lib/uploads/chosen-options';
import type { ImportRun } from '@/lib/uploads/import-run';
import { fileOf, type Upload } from '@/lib/uploads/upload-store';
import { withParams } from '../../../_components/with-params';
import { Choice } from '../../_overview/choice';
import { PATH } from '../path';
import { start } from './actions';
import { MappingForm } from './mapping-form';

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

interface Props {
  upload: Upload;
  /** The latest, which the form goes on from. */
  run: Pick<ImportRun, 'chosen'> | null;
  /** What the address asks to read otherwise. */
  query: URLSearchParams;
  dataDir: string;
}

/** The first rows of a file, and what its columns are to be. */
export async function Mapping({ upload, run, query, dataDir }: Props) {
  const path = fileOf(dataDir, upload);
  const isAsked = query.has('format') || query.has('delimiter');
  const before = isAsked ? null : run?.chosen;
  const delimiter = nameToDelimiter(query.get('delimiter')) || before?.delimiter || undefined;
  const format = query.get('format')?.replace(/^ours$/, '') ?? before?.format;
  const preview = await previewFile(path, upload.kind, { delimiter, format }).catch((error: unknown) => {
    if (error instanceof StartError) return error.message.replaceAll(path, upload.file_name);
    throw error;
  });
  const separators = (current: string) => (
    <Choice
      label="Separator"
      current={current}
      options={DELIMITERS.map((value) => ({
        value,
        text: DELIMITER_NAMES[value] ?? value,
        href: hrefWith('delimiter', DELIMITER_NAMES[value] ?? ''),
      }))}
    />
  );
  const hrefWith = (name: string, value: string) =>
    withParams(`${PATH}/${upload.id}`, query, { [name]: value });
  if (typeof preview === 'string') {
    return (
      <Stack gap="md">
        <Alert color="red" variant="light" role="alert">
          {preview}
        </Alert>
        {separators(delimiter ?? '')}
      </Stack>
    );
  }
  const guessed = {
    columns: Object.fromEntries(preview.columns.map(({ theirs, ours }) => [theirs, ours])),
    constants: '',
    decimal_comma: false,
    delimiter: preview.delimiter,
    format: preview.format,
  };
  const formats = ['', ...formatsOf(upload.kind)];
  return (
    <Stack gap="md">
      <Group gap="lg">
        <Text size="sm">{`${preview.encoding}, cells separated by`}</Text>
        {separators(preview.delimiter)}
        {formats.length > 1 && (
          <Choice
            label="Columns"
            current={preview.format}
            options={formats.map((value) => ({
              value,
              text: value === '' ? 'our column names' : `columns of ${value.toUpperCase()}`,
              href: hrefWith('format', value || 'ours'),
            }))}
          />
        )}
      </Group>
      <MappingForm
        key={JSON.stringify([preview.format, preview.delimiter])}
        action={start.bind(null, upload.id)}
        columns={preview.columns}
        chosen={before ?? guessed}
        fields={toColumns(IMPORT_KINDS[upload.kind].fields).map(({ name }) => name)}
      />
    </Stack>
  );
}

function nameToDelimiter(name: string | null): string | undefined {
  return DELIMITERS.find((delimiter) => DELIMITER_NAMES[delimiter] === name);
}
