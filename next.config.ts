import type { NextConfig } from 'next';
import { FIXED_HEADERS } from './lib/http/fixed-headers';

const config: NextConfig = {
  // The first two load files of their own at run time (WebAssembly, worker), which a bundle would not carry.
  // Of Stripe each bundle would have its own, and with it errors that no other one knows.
  serverExternalPackages: ['@electric-sql/pglite', 'pino', 'stripe'],
  outputFileTracingIncludes: { '/**': ['./db/migrations/**', './db/functions/**'] },
  experimental: {
    authInterrupts: true, // forbidden()
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'],
  },
  // The demo and the tests need the same build sooner; `npm run check` looks at types.
  typescript: { ignoreBuildErrors: process.env.BUILD_WITHOUT_TYPES === '1' },
  poweredByHeader: false,
  images: { unoptimized: true }, // no page uses it, and its route prints the address it was asked for
  headers: async () => [
    {
      source: '/:path*',
      headers: Object.entries(FIXED_HEADERS).map(([key, value]) => ({ key, value })),
    },
  ],
};

export default config;
