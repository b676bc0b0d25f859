import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { perProcess } from '@/db/per-process';
import { type ChosenOptions, chosenOptions } from './chosen-options';
import { folderOf, readJson, type Upload, writeJson } from './upload-store';

const importRun = z.object({
  status: z.enum(['running', 'done', 'stopped', 'failed']),
  dry_run: z.boolean(),
  chosen: chosenOptions,
  started_by: z.string(),
  started_at: z.coerce.date(),
  finished_at: z.coerce.date().nullable(),
  counts: z.object({
    created: z.int(),
    changed: z.int(),
    unchanged: z.int(),
    rejected: z.int(),
  }),
  /** Null until the file was read to its end. */
  encoding: z.string().nullable(),
  bytes_read: z.int(),
  /** The first ones; how many rows they concern the counts tell. */
  problems: z.array(z.object({ line: z.int(), column: z.string().nullable(), message: z.string() })),
  /** Columns that the format does not know. */
  left_out: z.array(z.string()),
  /** Why it failed, in sentences. */
  failure: z.string().nullable(),
});
/** The latest import or dry run of an uploaded file, and its result. */
export type ImportRun = z.infer<typeof importRun>;

/** The import under way in this process. */
export interface ImportJob {
  upload: Upload;
  run: ImportRun;
  stop: AbortController;
}

const imports = perProcess<{ job?: ImportJob | undefined }>('imports', () => ({}));

export const currentJob = (): ImportJob | undefined => imports.job;
export const setCurrentJob = (job: ImportJob | undefined): void => {
  imports.job = job;
};

/** Whether the latest run tried exactly these options to the end, so that people saw what an import does. */
export function isTried(
  run: (Pick<ImportRun, 'dry_run' | 'chosen'> & { status: string }) | null,
  chosen: ChosenOptions,
): boolean {
  return run?.dry_run === true && run.status === 'done' && isDeepStrictEqual(run.chosen, chosen);
}

const pathOf = (dataDir: string, id: string) => join(folderOf(dataDir, id), 'run.json');

export function writeRun(dataDir: string, { upload, run }: ImportJob): Promise<void> {
  return writeJson(pathOf(dataDir, upload.id), run);
}

/** @returns null: nothing was tried with this file; `interrupted`: the process ended that was at it */
export async function readRun(
  dataDir: string,
  id: string,
): Promise<(Omit<ImportRun, 'status'> & { status: ImportRun['status'] | 'interrupted' }) | null> {
  const job = currentJob();
  if (job?.upload.id === id) return job.run;
  const run = await readJson(pathOf(dataDir, id), importRun);
  return run?.status === 'running' ? { ...run, status: 'interrupted' } : run;
}
