import { existsSync } from 'node:fs';

const USAGE = `Usage: npm start [-- --migrate]
The production server, after npm run build. --migrate brings the database of DATABASE_URL to this version first.`;

// This file is not built, so that it can report a missing build.
if (process.argv.some((argument) => argument === '--help' || argument === '-h')) console.log(USAGE);
else if (existsSync('dist/start.js')) await import('../../dist/start.js');
else {
  console.error('There is no production build: run npm run build first.');
  process.exitCode = 1;
}
