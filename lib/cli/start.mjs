import { existsSync } from 'node:fs';

// Not built itself, so that somebody can say that nothing is.
if (existsSync('dist/start.js')) await import('../../dist/start.js');
else {
  console.error('There is no production build: run npm run build first.');
  process.exitCode = 1;
}
