// Some modules of Next read this global when they load, and any test file may load them.
import 'next/dist/server/node-environment-baseline.js';
