import type { NextConfig } from 'next';

const config: NextConfig = {
  // Both load files of their own at run time (WebAssembly, worker), which a bundle would not carry.
  serverExternalPackages: ['@electric-sql/pglite', 'pino'],
  outputFileTracingIncludes: { '/**': ['./db/migrations/**'] },
  experimental: { optimizePackageImports: ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'] },
  poweredByHeader: false,
};

export default config;
