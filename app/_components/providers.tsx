'use client';

import { type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** Sets up Mantine. @param nonce nonce of the page's Content-Security-Policy; empty if the page has no policy */
export function Providers({ nonce, children }: { nonce: string; children: ReactNode }) {
  // A refresh of the page passes a new nonce. The document's first policy stays in force, so keep the first nonce.
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

const theme = createTheme({
  fontFamily:
    'system-ui, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  black: '#1a1f36',
  primaryColor: 'brand',
  primaryShade: 6,
  autoContrast: true,
  defaultRadius: 'md',
  // Never truncate the text of a badge.
  components: { Badge: { defaultProps: { miw: 'max-content' } } },
  cursorType: 'pointer',
  colors: {
    brand: [
      '#f1f1fe',
      '#e1e1fc',
      '#c3c2f8',
      '#a3a1f3',
      '#8683ef',
      '#716dea',
      '#5750dc',
      '#483fc4',
      '#3b349f',
      '#312c80',
    ],
    dark: [
      '#d7dce5',
      '#aeb6c4',
      '#8d97a9',
      '#4c566a',
      '#2c3546',
      '#222a39',
      '#1a212e',
      '#121824',
      '#0e131d',
      '#0a0e16',
    ],
  },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.4' },
    },
  },
});

/** Our CSS variables, and values for Mantine's. Most replace a color with too little contrast for WCAG AA. */
const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6478',
    '--mantine-color-default-border': '#e3e8ee',
    '--mantine-color-error': '#b42318',
    '--mantine-color-placeholder': '#6b7689',
    '--mantine-color-green-light-color': '#1f6b33',
    '--mantine-color-blue-light-color': '#1459a6',
    '--mantine-color-orange-light-color': '#9a3d08',
    '--mantine-color-red-light-color': '#b42318',
    '--w5t-subtle': '#f7f8fa',
    '--w5t-bar': '#8683ef',
  },
  dark: {
    '--mantine-color-dimmed': '#98a2b3',
    '--mantine-color-error': '#ff9b9b',
    '--mantine-color-placeholder': '#8d97a9',
    '--mantine-color-gray-light': '#2c3546',
    '--mantine-color-gray-light-color': '#d7dce5',
    '--w5t-subtle': '#0e131d',
    '--w5t-bar': '#716dea',
  },
});
