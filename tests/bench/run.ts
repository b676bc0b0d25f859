import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// npm run bench -- NAME runs the bench of that name in this folder.
const name = process.argv[2] ?? '';
const file = join(import.meta.dirname, name, 'bench.ts');
if (!/^[a-z-]+$/.test(name) || !existsSync(file)) {
  console.error('Usage: npm run bench -- NAME; there is: mcp');
  process.exit(2);
}
await import(pathToFileURL(file).href);
