'use client';

import { MantineProvider } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { cssVariables, theme } from '../theme';

/** The nonce comes from the proxy's policy; pages without a policy need none. */
export function Providers({ nonce, children }: { nonce: string; children: ReactNode }) {
  // A refresh brings another nonce, while the document keeps the policy it came with.
  const [documentNonce] = useState(nonce);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => documentNonce}
    >
      {children}
    </MantineProvider>
  );
}
