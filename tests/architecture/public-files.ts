import type { Source } from './sources';

/**
 * The files of each folder of `lib` that other folders import, as text: one folder a line. A folder is a module, and a new
 * public file of it is a decision: take one that is public already, or renew the list with `npm test -- -u`.
 */
export function publicFiles(sources: Source[]): string {
  const doors = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    for (const { target } of imports) {
      const [, folder, file] = /^lib\/([^/]+)\/(.+)\.tsx?$/.exec(target) ?? [];
      if (!folder || !file || path.startsWith(`lib/${folder}/`)) continue;
      doors.set(folder, (doors.get(folder) ?? new Set()).add(file));
    }
  }
  const lines = [...doors].map(([folder, files]) => `${folder}: ${[...files].sort().join(', ')}\n`);
  return lines.sort().join('');
}
