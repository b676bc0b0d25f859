'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { z } from 'zod';
import { type ChosenOptions, readChosen, toFileOptions } from '@/lib/uploads/chosen-options';
import { isTried, readRun, removeUpload, startImport, stopImport } from '@/lib/uploads/import-run';
import { findUpload } from '@/lib/uploads/upload-store';
import { formatMessage } from '../../_components/format';
import { staffAction, staffFormAction } from '../_components/page/staff-action';

export interface ImportState {
  chosen: ChosenOptions;
  /** Error message of each invalid field. The key '' holds the message for the form as a whole. */
  problems: Record<string, string>;
}

/**
 * Starts an import of an uploaded file, and redirects to the page with its progress. It starts a dry run instead if the
 * form asks for one, or if the latest run was not a completed dry run with the same options.
 */
export const start = staffFormAction({
  role: 'admin',
  input: [z.string()],
  form: ['run'],
  run: async ({ runtime, actor }, id, { run: wanted }, form): Promise<ImportState | null> => {
    const { dataDir } = runtime.env;
    const upload = await findUpload(dataDir, id);
    if (!upload) redirect('/admin/imports?notice=gone');
    const chosen = chosenIn(form);
    const read = toFileOptions(upload.kind, chosen);
    if ('problems' in read) {
      const sentences = Object.entries(read.problems).map(([field, text]) => [field, formatMessage(text)]);
      return { chosen, problems: Object.fromEntries(sentences) };
    }
    const dryRun = wanted !== 'import' || !isTried(await readRun(dataDir, id), chosen);
    startImport(runtime, { upload, chosen, options: read.options, dryRun, actor });
    return null;
  },
  done: (state, id) => state ?? `/admin/imports/${id}`,
  refused: ({ error }, _id, _typed, form): ImportState => ({
    chosen: chosenIn(form),
    problems: { '': error.message },
  }),
});

function chosenIn(form: FormData): ChosenOptions {
  const text = (name: string) => String(form.get(name) ?? '').replaceAll('\r\n', '\n');
  const columns = [...form].flatMap(([name, ours]) =>
    name.startsWith('columns.') ? [[name.slice('columns.'.length), String(ours)]] : [],
  );
  return readChosen({
    columns: Object.fromEntries(columns),
    constants: text('constants'),
    decimal_separator: text('decimal_separator'),
    encoding: text('encoding'),
    delimiter: text('delimiter'),
    format: text('format'),
  });
}

/** Stops an import after its current batch of rows. */
export const stop = staffAction({
  role: 'admin',
  input: [z.string()],
  run: async (_call, id) => stopImport(id),
  done: () => revalidatePath('/admin/imports', 'layout'),
});

/** Deletes an uploaded file. Refused while an import reads the file. */
export const remove = staffAction({
  role: 'admin',
  input: [z.string()],
  run: async ({ runtime: { env } }, id) => {
    const upload = await findUpload(env.dataDir, id);
    if (upload) await removeUpload(env.dataDir, upload.id);
  },
  done: () => '/admin/imports?notice=removed',
  refused: ({ code }, id) => `/admin/imports/${id}?notice=${code}`,
});
