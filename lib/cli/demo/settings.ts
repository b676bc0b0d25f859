import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StartError } from '../../errors';

const settings = z.object({
  cronSecret: z.string(),
  webhookSecret: z.string(),
  betterAuthSecret: z.string(),
  stripeSecretKey: z.string(),
  staffEmail: z.string(),
  staffPassword: z.string(),
  /** Of the demo that runs now; null where it uses a Stripe of its owner's. */
  stripeLocalUrl: z.string().nullable(),
});

/** What a demo keeps from one start to the next. */
export type DemoSettings = z.infer<typeof settings>;

/**
 * The settings of a data directory, or new ones; nothing is written.
 *
 * @throws StartError if the demo did not write the file
 */
export function readSettings(dataDir: string, randomBytes: (size: number) => Buffer): DemoSettings {
  const text = readText(fileOf(dataDir));
  if (text === undefined) return newSettings(randomBytes);
  try {
    return settings.parse(JSON.parse(text));
  } catch {
    throw new StartError([
      `${fileOf(dataDir)} is not a demo's file: delete it, and the next start makes one.`,
    ]);
  }
}

/** Whole or not at all, and for its owner alone: it holds passwords. */
export function writeSettings(dataDir: string, value: DemoSettings): void {
  const draft = `${fileOf(dataDir)}.tmp`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, fileOf(dataDir));
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function newSettings(randomBytes: (size: number) => Buffer): DemoSettings {
  const secret = (bytes: number) => randomBytes(bytes).toString('base64url');
  const hex = (bytes: number) => randomBytes(bytes).toString('hex');
  return {
    cronSecret: secret(24),
    webhookSecret: `whsec_${hex(24)}`,
    betterAuthSecret: secret(32),
    stripeSecretKey: `sk_test_${hex(24)}`,
    staffEmail: 'staff@example.com',
    staffPassword: secret(12),
    stripeLocalUrl: null,
  };
}
