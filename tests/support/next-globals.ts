// This import sets `globalThis.AsyncLocalStorage`. Some modules of Next read it when they load, and any test file may
// load them.
import 'next/dist/server/node-environment-baseline.js';
