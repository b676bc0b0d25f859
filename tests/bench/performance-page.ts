import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';

const FILE = 'docs/performance.md';

/** Replaces a section of docs/performance.md, or adds it at the end; the others stay. */
export async function writeSection(title: string, text: string): Promise<void> {
  const page = await readFile(FILE, 'utf8');
  const [head, ...sections] = page.trimEnd().split(/\n+(?=## )/);
  const written = `## ${title}\n\n${text.trim()}`;
  const at = sections.findIndex((section) => section.startsWith(`## ${title}\n`));
  const all = at < 0 ? [...sections, written] : sections.with(at, written);
  await writeFile(FILE, `${[head, ...all].join('\n\n')}\n`);
}

/** When and where a bench ran. */
export function measuredBy(bench: string): string {
  const [processor] = cpus();
  const machine = `${cpus().length} × ${processor?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${machine}, Node.js ${process.version}; by \`npm run bench -- ${bench}\`.`;
}

/** A table whose columns stand below each other; the first line is its head. */
export function toMarkdown(lines: string[][]): string {
  const [head = [], ...rest] = lines;
  const widths = head.map((_, i) => Math.max(3, ...lines.map((line) => line[i]?.length ?? 0)));
  const ruled = [head, widths.map((width) => '-'.repeat(width)), ...rest];
  return ruled
    .map((line) => `| ${widths.map((width, i) => (line[i] ?? '').padEnd(width)).join(' | ')} |`)
    .join('\n');
}
