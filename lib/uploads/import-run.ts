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
  /** Encoding of the file. Null until the run has ended, and for a run that failed. */
  encoding: z.string().nullable(),
  bytes_read: z.int(),
  /** The first problems of the run. `counts` contains the total number of rejected rows. */
  problems: z.array(z.object({ line: z.int(), column: z.string().nullable(), message: z.string() })),
  /** Columns of the file that match none of our columns and that were not imported. */
  left_out: z.array(z.string()),
  /** Reason for the failure, in sentences. Null if the run did not fail. */
  failure: z.string().nullable(),
});
/** The latest import or dry run of an uploaded file, and its result. */
export type ImportRun = z.infer<typeof importRun>;

/** An import or dry run in progress in this process. */
interface ImportJob {
  upload: Upload;
  run: ImportRun;
  stop: AbortController;
}

const imports = perProcess<{ job?: ImportJob | undefined }>('imports', () => ({}));

export const currentJob = (): ImportJob | undefined => imports.job;

/** Returns whether the latest run is a completed dry run with the same options. */
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

/**
 * Reads a file's latest run. Returns null before the first run. The status is `interrupted` if the process ended during
 * the run, or if the result of the run could not be saved.
 */
export async function readRun(dataDir: string, id: string) {
  const job = currentJob();
  if (job?.upload.id === id) return job.run;
  const run = await readJson(pathOf(dataDir, id), importRun);
  return run?.status === 'running' ? { ...run, status: 'interrupted' as const } : run;
}

/** Maximum number of stored problems of a run. Further problems appear when people import the rejected rows again. */
const MAX_PROBLEMS = 500;

type Deps = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'log'>;

interface ImportRequest {
  upload: Upload;
  chosen: ChosenOptions;
  options: FileOptions;
  dryRun: boolean;
  actor: Actor;
}

/**
 * Starts an import or dry run of an uploaded file in this process. The run continues even if the page is closed.
 *
 * @returns `ended`, which resolves at the end of the run, even if the run fails; the stored run contains the failure
 * @throws AppError conflict while another import is running
 */
export function startImport(deps: Deps, { upload, chosen, options, dryRun, actor }: ImportRequest) {
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

/** Stops the import of a file after its current batch. Does nothing if the file is not being imported. */
export function stopImport(id: string): void {
  const job = currentJob();
  if (job?.upload.id === id) job.stop.abort();
}

/** Deletes an uploaded file. @throws AppError conflict while the file is being imported */
export async function removeUpload(dataDir: string, id: string): Promise<void> {
  const job = currentJob();
  if (job?.upload.id === id) throw new AppError('conflict', busyText(job));
  await deleteFolder(dataDir, id);
}

/** Returns the sentence that explains why no other import can start now. */
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
    deps.log.warn({ code: pgErrorCode(error) }, 'the result of an import could not be saved');
  });
  imports.job = undefined;
}

function failureOf({ log, newId }: Deps, error: unknown): string {
  if (error instanceof StartError || error instanceof AppError) return error.message;
  const ref = newId();
  log.error({ ref, code: pgErrorCode(error), stack: stackOf(error) }, 'import failed');
  const isKnown = isQueryError(error) || isDatabaseUnavailable(error);
  return isKnown ? sentencesOf(error).join(' ') : `Something went wrong on our side (ref ${ref}).`;
}

/** Returns whether the last import of a file rejected rows. */
export function hasRejected(dataDir: string, upload: Upload): boolean {
  return existsSync(rejectedPath(fileOf(dataDir, upload)));
}

/** Opens the file with the rejected rows. Returns null if it does not exist. */
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
/** Maximum age of an incomplete upload in milliseconds, which is longer than any upload takes. */
const ARRIVING_MS = 3_600_000;

/** Deletes expired uploads immediately, and then every hour while the process runs. */
export function keepUploadsCleared(deps: Pick<Runtime, 'env' | 'now' | 'log'>): void {
  const clear = () =>
    clearUploads(deps).catch((error: unknown) => {
      deps.log.warn({ code: pgErrorCode(error) }, 'uploaded files could not be removed');
    });
  setInterval(clear, EVERY_MS).unref();
  void clear();
}

/**
 * Deletes expired uploads. A file that is being imported is kept until the next call. If another process may still
 * import it, the file is kept for a day after the start of that import.
 */
export async function clearUploads({ env: { dataDir }, now }: Pick<Runtime, 'env' | 'now'>): Promise<void> {
  for (const id of await listFolders(dataDir)) {
    if (currentJob()?.upload.id === id) continue;
    const upload = await findUpload(dataDir, id);
    const run = await readRun(dataDir, id);
    const started = run?.status === 'interrupted' ? run.started_at : upload?.uploaded_at;
    const since = started ?? (await stat(folderOf(dataDir, id))).mtime;
    const kept = upload ? UPLOAD_KEPT_MS : ARRIVING_MS;
    if (now().getTime() - since.getTime() >= kept) await deleteFolder(dataDir, id);
  }
}
