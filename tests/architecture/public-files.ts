import type { Source } from './sources';

/**
 * Lists the files of each folder of `lib` that other folders import, one folder per line. A folder is a module, so a
 * new public file is a decision: use a file that is already public, or update the list with `npm test -- -u`.
 */
export function publicFiles(sources: Source[]): string {
  const filesOf = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    for (const { target } of imports) {
      const [, folder, file] = /^lib\/([^/]+)\/(.+)\.tsx?$/.exec(target) ?? [];
      if (!folder || !file || path.startsWith(`lib/${folder}/`)) continue;
      filesOf.set(folder, (filesOf.get(folder) ?? new Set()).add(file));
    }
  }
  const lines = [...filesOf].map(([folder, files]) => `${folder}: ${[...files].sort().join(', ')}\n`);
  return lines.sort().join('');
}
