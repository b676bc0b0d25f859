// Next's modules take this global when they load, and some tests load them before they start Next.
import 'next/dist/server/node-environment-baseline.js';
