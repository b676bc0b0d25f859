import { existsSync, readFileSync } from 'node:fs';

const USAGE = `Usage: npm start [-- --migrate | --version]
Starts the production server, after npm run build. --migrate migrates the database of DATABASE_URL first.
--version prints this version.`;
const args = process.argv.slice(2);
const isAsked = (...names) => names.some((name) => args.includes(name));

// This file is not built, so that it can report a missing build.
if (isAsked('--help', '-h')) console.log(USAGE);
else if (isAsked('--version', '-v')) console.log(JSON.parse(readFileSync('package.json', 'utf8')).version);
else if (existsSync('dist/start.js')) await import('../../dist/start.js');
else {
  console.error('There is no production build: run npm run build first.');
  process.exitCode = 1;
}
