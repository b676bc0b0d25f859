import type { NextConfig } from 'next';

const config: NextConfig = {
  // The first two load files of their own at run time (WebAssembly, worker), which a bundle would not carry.
  // Of Stripe each bundle would have its own, and with it errors that no other one knows.
  serverExternalPackages: ['@electric-sql/pglite', 'pino', 'stripe'],
  outputFileTracingIncludes: { '/**': ['./db/migrations/**', './db/functions/**'] },
  experimental: {
    authInterrupts: true, // forbidden()
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'],
  },
  poweredByHeader: false,
  headers: async () => [
    {
      source: '/:path*',
      headers: [
        { key: 'X-Content-Type-Options', value: 'nosniff' },
        { key: 'X-Frame-Options', value: 'DENY' },
        { key: 'Referrer-Policy', value: 'strict-origin-when-cross-origin' },
      ],
    },
  ],
};

export default config;
