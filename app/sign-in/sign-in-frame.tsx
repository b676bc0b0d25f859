import { Center, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { safeNextPath } from '@/lib/auth/sign-in-paths';
import { Brand } from '../_components/brand';
import type { SearchParams } from '../_components/search-params';

/** The page of people without a session: one card under the brand. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Center component="main" mih="100vh" p="md" bg="var(--w5t-subtle)">
      <Stack w="100%" maw={400} gap="lg" pb="10vh">
        <Brand />
        <Paper withBorder shadow="sm" radius="lg" p={{ base: 'lg', xs: 'xl' }}>
          <Stack gap="lg">
            <Title order={1}>{title}</Title>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  );
}

/**
 * Where a page of the sign-in leads to, and why its form came back if it was sent without scripts.
 *
 * @param wrong the sentence for what was typed wrong
 */
export async function readSignIn(searchParams: Promise<SearchParams>, wrong = '') {
  const { next, problem } = await searchParams;
  return {
    next: safeNextPath(typeof next === 'string' ? next : undefined),
    problem: problem === undefined ? null : problemText(problem, wrong),
  };
}

function problemText(code: string | string[], wrong: string): string {
  if (code === 'unauthenticated') return wrong;
  if (code === 'conflict') return 'This sign-in is over. Start again with your password.';
  if (code === 'too_many_requests') return 'Too many attempts to sign in. Wait a while, then try again.';
  return 'Signing in does not work right now. Try again in a moment.';
}
