'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { formatMessage } from '@/app/_components/format';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { type ChosenOptions, readChosen, toFileOptions } from '@/lib/uploads/chosen-options';
import { isTried, readRun, removeUpload, startImport, stopImport } from '@/lib/uploads/import-run';
import { findUpload } from '@/lib/uploads/upload-store';
import { leaveFor, refusalOf } from '../_components/page/staff-action';

export interface ImportState {
  chosen: ChosenOptions;
  /** Of each wrong field its sentence; of '' what concerns the whole. */
  problems: Record<string, string>;
}

/** Begins to import an uploaded file, or to try it out, and leads to the page that shows how far it is. */
export async function start(id: string, _before: ImportState, form: FormData): Promise<ImportState> {
  const staff = await requireAdmin();
  const runtime = await getRuntime();
  const upload = await findUpload(runtime.env.dataDir, id);
  if (!upload) redirect('/admin/imports?notice=gone');
  const chosen = chosenIn(form);
  const read = toFileOptions(upload.kind, chosen);
  if ('problems' in read) {
    const sentences = Object.entries(read.problems).map(([field, text]) => [field, formatMessage(text)]);
    return { chosen, problems: Object.fromEntries(sentences) };
  }
  const run = await readRun(runtime.env.dataDir, id);
  const dryRun = form.get('run') !== 'import' || !isTried(run, chosen);
  try {
    startImport(runtime, { upload, chosen, options: read.options, dryRun, actor: staffActor(staff) });
  } catch (error) {
    if (error instanceof AppError) return { chosen, problems: { '': error.message } };
    throw error;
  }
  return leaveFor(`/admin/imports/${id}`);
}

/** Ends an import behind the rows that it is at. */
export async function stop(id: string): Promise<void> {
  await requireAdmin();
  stopImport(id);
  revalidatePath('/admin/imports', 'layout');
}

/** Removes an uploaded file. */
export async function remove(id: string): Promise<void> {
  await requireAdmin();
  const { env } = await getRuntime();
  const upload = await findUpload(env.dataDir, id);
  const refused = upload && (await refusalOf(removeUpload(env.dataDir, upload.id)));
  leaveFor(refused ? `/admin/imports/${id}?notice=${refused}` : `/admin/imports?notice=removed`);
}

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
