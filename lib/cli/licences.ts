import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { PROGRAMS } from './build';
import { runProgram } from './program';

/** Prints the licences of all shipped packages: the bundled ones, the installed ones, and their dependencies. */
runProgram(async () => {
  const folders = new Set<string>();
  const installed = Object.keys(readManifest('.').dependencies ?? {});
  for (const name of [...installed, ...(await listImports())]) addPackage(folders, name, '.');
  for (const folder of [...folders].sort()) console.log(`${describe(folder)}\n`);
});

/** Lists the packages that the pages and the programs import. */
async function listImports(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['app/**/*.ts', 'app/**/*.tsx', 'proxy.ts', ...PROGRAMS],
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm' },
    ...{ metafile: true, write: false, outdir: 'dist', logLevel: 'error' },
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const names = imports.flatMap(({ path }) => /^(?:@[^/:]+\/)?[^/:@.][^/:]*/.exec(path)?.[0] ?? []);
  return [...new Set(names)].filter((name) => existsSync(join('node_modules', name)));
}

interface Manifest {
  name: string;
  version: string;
  license?: string | { type: string };
  dependencies?: Record<string, string>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Adds the folder of a package and those of its dependencies. @param from the folder of the importing package */
function addPackage(folders: Set<string>, name: string, from: string): void {
  const folder = join(from, 'node_modules', name);
  if (!existsSync(join(folder, 'package.json'))) {
    if (from !== '.') addPackage(folders, name, dirname(from));
    return;
  }
  if (folders.has(folder)) return;
  folders.add(folder);
  for (const dependency of Object.keys(readManifest(folder).dependencies ?? {})) {
    addPackage(folders, dependency, folder);
  }
}

/** Returns the name, the version and the licence of a package, then the text of the licence if it has one. */
function describe(folder: string): string {
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const { name, version, license = texts.length > 0 ? 'see its text' : 'not stated' } = readManifest(folder);
  const title = `${name} ${version}: ${typeof license === 'string' ? license : license.type}`;
  return [title, '='.repeat(title.length), ...texts].join('\n\n');
}
