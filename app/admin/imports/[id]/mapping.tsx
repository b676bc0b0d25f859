import { Alert, Group, Stack, Text } from '@mantine/core';
import { StartError } from '@/lib/errors';
import { toColumns } from '@/lib/imports/columns';
import { ENCODING_NAMES, ENCODINGS } from '@/lib/imports/file-format';
import { IMPORT_KINDS } from '@/lib/imports/kinds';
import type { Runtime } from '@/lib/runtime';
import { DELIMITERS, firstChoice, formatsOf } from '@/lib/uploads/chosen-options';
import { type ImportRun, isTried } from '@/lib/uploads/import-run';
import { fileOf, type Upload } from '@/lib/uploads/upload-store';
import { withParams } from '../../../_components/with-params';
import { Choice } from '../../_components/lists/paged-list';
import { start } from '../actions';
import { MappingForm } from './mapping-form';

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

interface Props {
  upload: Upload;
  /** The latest run, whose options are selected at first. Null before the first run. */
  run: (Pick<ImportRun, 'chosen' | 'dry_run'> & { status: string }) | null;
  /** Query of the page's address, which can set options. */
  query: URLSearchParams;
  db: Runtime['db'];
  dataDir: string;
}

/** Shows the first rows of an uploaded file, and the form that maps its columns. */
export async function Mapping({ upload, run, query, db, dataDir }: Props) {
  const path = fileOf(dataDir, upload);
  const asked = {
    delimiter: nameToDelimiter(query.get('delimiter')),
    encoding: ENCODINGS.find((encoding) => encoding === query.get('encoding')),
    format: query.get('format')?.replace(/^ours$/, ''),
  };
  const first = await firstChoice({ db, dataDir }, upload, asked, run?.chosen).catch((error: unknown) => {
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
    withParams(`/admin/imports/${upload.id}`, query, { [name]: value });
  if (typeof first === 'string') {
    return (
      <Stack gap="md">
        <Alert color="red" variant="light" role="alert">
          {first}
        </Alert>
        {separators(asked.delimiter ?? '')}
      </Stack>
    );
  }
  const { preview, chosen, isRemembered } = first;
  const formats = ['', ...formatsOf(upload.kind)];
  return (
    <Stack gap="md">
      <Group gap="lg">
        <Choice
          label="Encoding"
          current={preview.encoding}
          options={ENCODINGS.map((value) => ({
            value: ENCODING_NAMES[value],
            text: ENCODING_NAMES[value],
            href: hrefWith('encoding', value),
          }))}
        />
        <Text size="sm">cells separated by</Text>
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
      {isRemembered && (
        <Alert color="blue" variant="light" role="status">
          The columns are chosen as in the last import of a file with the same header.
        </Alert>
      )}
      <MappingForm
        key={JSON.stringify([preview.format, preview.delimiter, preview.encoding])}
        action={start.bind(null, upload.id)}
        columns={preview.columns}
        chosen={chosen}
        isTried={isTried(run, chosen)}
        fields={toColumns(IMPORT_KINDS[upload.kind].fields).map(({ name }) => name)}
      />
    </Stack>
  );
}

function nameToDelimiter(name: string | null): string | undefined {
  return DELIMITERS.find((delimiter) => DELIMITER_NAMES[delimiter] === name);
}
