import { existsSync } from 'node:fs';

// Run a program of this folder: from its source, or from the build if the development packages are not installed.
const [name = ''] = process.argv.splice(2, 1);

if (existsSync('node_modules/tsx')) {
  await import('tsx');
  await import(`./${name}.ts`);
} else if (existsSync(`dist/${name}.js`)) {
  await import(`../../dist/${name}.js`);
} else {
  console.error('There is no production build: run npm ci --include=dev && npm run build first.');
  process.exitCode = 1;
}
