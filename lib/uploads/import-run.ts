import { createReadStream, existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isDatabaseUnavailable, isQueryError, pgErrorCode } from '@/db/database';
import { perProcess } from '@/db/per-process';
import type { Actor } from '../audit/audit-log';
import { sentencesOf } from '../commands/command';
import { AppError, StartError } from '../errors';
import type { FileOptions } from '../imports/file-format';
import { importFile, rejectedPath } from '../imports/import-file';
import { stackOf } from '../log';
import type { Runtime } from '../runtime';
import { type ChosenOptions, chosenOptions } from './chosen-options';
import { UPLOAD_KEPT_MS } from './upload-limits';
import {
  deleteFolder,
  fileOf,
  findUpload,
  folderOf,
  listFolders,
  readJson,
  type Upload,
  writeJson,
} from './upload-store';

const importRun = z.object({
  status: z.enum(['running', 'done', 'stopped', 'failed']),
  dry_run: z.boolean(),
  chosen: chosenOptions,
  started_by: z.string(),
  started_at: z.coerce.date(),
  finished_at: z.coerce.date().nullable(),
  counts: z.object({ created: z.int(), changed: z.int(), unchanged: z.int(), rejected: z.int() }),
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
interface ImportJob {
  upload: Upload;
  run: ImportRun;
  stop: AbortController;
}

const imports = perProcess<{ job?: ImportJob | undefined }>('imports', () => ({}));

export const currentJob = (): ImportJob | undefined => imports.job;

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

/** Kept of a file's problems, the first ones: who mends them imports the rest again. */
const MAX_PROBLEMS = 500;

type Deps = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'log'>;

interface Wanted {
  upload: Upload;
  chosen: ChosenOptions;
  options: FileOptions;
  dryRun: boolean;
  actor: Actor;
}

/**
 * Starts an import or a dry run of an uploaded file in this process. It continues after the page is closed.
 *
 * @returns its end; a failure is noted in its run
 * @throws AppError conflict while another one runs
 */
export function startImport(
  deps: Deps,
  { upload, chosen, options, dryRun, actor }: Wanted,
): { ended: Promise<void> } {
  const busy = currentJob();
  if (busy) throw new AppError('conflict', busyText(busy));
  const job: ImportJob = {
    upload,
    stop: new AbortController(),
    run: {
      status: 'running',
      dry_run: dryRun,
      chosen,
      started_by: actor.name,
      started_at: deps.now(),
      finished_at: null,
      counts: { created: 0, changed: 0, unchanged: 0, rejected: 0 },
      encoding: null,
      bytes_read: 0,
      problems: [],
      left_out: [],
      failure: null,
    },
  };
  imports.job = job;
  return { ended: perform(deps, job, options, actor) };
}

/** Stops the import of this file after its current batch. Does nothing if none is running. */
export function stopImport(id: string): void {
  const job = currentJob();
  if (job?.upload.id === id) job.stop.abort();
}

/** @throws AppError conflict while it is imported */
export async function removeUpload(dataDir: string, id: string): Promise<void> {
  const job = currentJob();
  if (job?.upload.id === id) throw new AppError('conflict', busyText(job));
  await deleteFolder(dataDir, id);
}

/** Who is at what. */
export function busyText({ upload, run }: ImportJob): string {
  return `${run.started_by} is ${run.dry_run ? 'testing' : 'importing'} ${upload.file_name}: only one file at a time.`;
}

async function perform(deps: Deps, job: ImportJob, options: FileOptions, actor: Actor): Promise<void> {
  const { upload, run, stop } = job;
  const { db, env, now } = deps;
  const path = fileOf(env.dataDir, upload);
  try {
    await writeRun(env.dataDir, job);
    if (!run.dry_run) await rm(rejectedPath(path), { force: true });
    const result = await importFile(
      { db, now, timeZone: env.timeZone, actor, signal: stop.signal },
      upload.kind,
      path,
      { ...options, dryRun: run.dry_run },
      {
        onProblem(line, column, message) {
          if (run.problems.length < MAX_PROBLEMS) run.problems.push({ line, column, message });
        },
        onProgress({ counts, bytes }) {
          run.counts = { ...counts };
          run.bytes_read = bytes;
        },
        onLeftOut(columns) {
          run.left_out = columns;
        },
      },
    );
    run.counts = { ...result.counts };
    run.encoding = result.encoding;
    run.status = result.stopped ? 'stopped' : 'done';
  } catch (error) {
    run.status = 'failed';
    run.failure = failureOf(deps, error).replaceAll(path, upload.file_name);
  }
  run.finished_at = now();
  await writeRun(env.dataDir, job).catch((error: unknown) => {
    deps.log.warn({ code: pgErrorCode(error) }, 'what came of an import could not be kept');
  });
  imports.job = undefined;
}

function failureOf({ log, newId }: Deps, error: unknown): string {
  if (error instanceof StartError) return error.message;
  const ref = newId();
  log.error({ ref, code: pgErrorCode(error), stack: stackOf(error) }, 'import failed');
  const isKnown = isQueryError(error) || isDatabaseUnavailable(error);
  return isKnown ? sentencesOf(error).join(' ') : `Something went wrong on our side (ref ${ref}).`;
}

/** Whether rows of a file were refused when it was imported last. */
export function hasRejected(dataDir: string, upload: Upload): boolean {
  return existsSync(rejectedPath(fileOf(dataDir, upload)));
}

/** The rejected rows as a file to correct; null if it does not exist. */
export async function openRejected(dataDir: string, id: string) {
  const upload = await findUpload(dataDir, id);
  if (!upload || !hasRejected(dataDir, upload)) return null;
  const path = rejectedPath(fileOf(dataDir, upload));
  async function* text(): AsyncGenerator<string> {
    yield* createReadStream(path, 'utf8') as AsyncIterable<string>;
  }
  return { name: basename(path), text };
}

const EVERY_MS = 3_600_000;
/** Longer than a file may take to arrive. */
const ARRIVING_MS = 3_600_000;

/** Removes files that were uploaded a day ago: now, and every hour while the process lives. */
export function keepUploadsCleared(deps: Pick<Runtime, 'env' | 'now' | 'log'>): void {
  const clear = () =>
    clearUploads(deps).catch((error: unknown) => {
      deps.log.warn({ code: pgErrorCode(error) }, 'uploaded files could not be removed');
    });
  setInterval(clear, EVERY_MS).unref();
  void clear();
}

/** What is being imported stays until the next time. */
export async function clearUploads({ env: { dataDir }, now }: Pick<Runtime, 'env' | 'now'>): Promise<void> {
  for (const id of await listFolders(dataDir)) {
    if (currentJob()?.upload.id === id) continue;
    const upload = await findUpload(dataDir, id);
    const since = upload?.uploaded_at ?? (await stat(folderOf(dataDir, id))).mtime;
    const kept = upload ? UPLOAD_KEPT_MS : ARRIVING_MS;
    if (now().getTime() - since.getTime() >= kept) await deleteFolder(dataDir, id);
  }
}
