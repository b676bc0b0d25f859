import { rm } from 'node:fs/promises';
import { DrizzleQueryError } from 'drizzle-orm';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import type { Actor } from '../audit/audit-log';
import { sentencesOf } from '../commands/sentences-of';
import { AppError, StartError } from '../errors';
import type { FileOptions } from '../imports/file-format';
import { importFile } from '../imports/import-file';
import { rejectedPath } from '../imports/rejected-file';
import { stackOf } from '../log';
import type { Runtime } from '../runtime';
import type { ChosenOptions } from './chosen-options';
import { currentJob, type ImportJob, setCurrentJob, writeRun } from './import-run';
import { deleteFolder, fileOf, type Upload } from './upload-store';

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
  setCurrentJob(job);
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
  setCurrentJob(undefined);
}

function failureOf({ log, newId }: Deps, error: unknown): string {
  if (error instanceof StartError) return error.message;
  const ref = newId();
  log.error({ ref, code: pgErrorCode(error), stack: stackOf(error) }, 'import failed');
  const isKnown = error instanceof DrizzleQueryError || isDatabaseUnavailable(error);
  return isKnown ? sentencesOf(error).join(' ') : `Something went wrong on our side (ref ${ref}).`;
}
