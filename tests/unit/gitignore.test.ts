import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('git ignores every .env file but the example', () => {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-gitignore-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '-q');
  copyFileSync(join(import.meta.dirname, '../../.gitignore'), join(folder, '.gitignore'));
  const files = ['.env', '.env.local', '.env.production', '.env.example', 'lib/env.ts', 'tests/.env'];
  // Ends with 1 where none is ignored.
  const ignored = git('-c', 'core.excludesFile=/dev/null', 'check-ignore', ...files);
  rmSync(folder, { recursive: true, force: true });
  expect(ignored.trim().split('\n')).toEqual(['.env', '.env.local', '.env.production', 'tests/.env']);
});
