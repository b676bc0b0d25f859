import type { NextConfig } from 'next';
import { FIXED_HEADERS } from './lib/http/fixed-headers';
import { LIMITS } from './lib/server/limits';

const config: NextConfig = {
  // PGlite and pino load files of their own at run time (WebAssembly, a worker), which a bundle would not contain.
  // nodemailer, prom-client, OpenTelemetry and the packages that make documents are loaded only when they are used.
  // If Stripe were bundled, each bundle would have its own error classes, and `instanceof` would fail across bundles.
  serverExternalPackages: [
    ...['@e-invoice-eu/core', '@electric-sql/pglite', 'fontkit', 'nodemailer', 'pdfkit', 'pino'],
    ...['prom-client', 'stripe'],
    ...['api', 'core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace-node'].map(
      (name) => `@opentelemetry/${name}`,
    ),
  ],
  outputFileTracingIncludes: {
    '/**': [
      ...['./db/migrations/**', './db/functions/**', './node_modules/pdfkit/js/data/**'],
      './node_modules/@expo-google-fonts/open-sans/{400Regular,700Bold}/*.ttf',
    ],
  },
  experimental: {
    authInterrupts: true, // This enables `forbidden()`.
    serverActions: { bodySizeLimit: LIMITS.formBody },
    turbopackSourceMaps: false, // Nothing reads source maps, which took 88 MB of the build.
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'],
  },
  // The demo and the tests skip type checking for a faster build. `npm run check` checks the types.
  typescript: { ignoreBuildErrors: process.env.BUILD_WITHOUT_TYPES === '1' },
  poweredByHeader: false,
  // No page needs Next's image optimizer, and its route logs requested URLs.
  images: { unoptimized: true },
  // In version 1.0, each list had its own route for its CSV file, and overdue invoices were filtered by age.
  redirects: async () => [
    {
      source: '/admin/overdue/export',
      has: [{ type: 'query', key: 'age' }],
      destination: '/admin/export/overdue-invoices',
      permanent: false,
    },
    { source: '/admin/:list([a-z-]+)/export', destination: '/admin/export/:list', permanent: false },
  ],
  headers: async () => [
    {
      source: '/:path*',
      headers: Object.entries(FIXED_HEADERS).map(([key, value]) => ({ key, value })),
    },
  ],
};

export default config;
