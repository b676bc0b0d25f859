// Modules of Next take this global when they load, and the first file of a worker may load them.
import 'next/dist/server/node-environment-baseline.js';
