import { Center, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { safeNextPath } from '@/lib/auth/sign-in-paths';
import { Brand } from '../_components/links';
import type { SearchParams } from '../_components/search-params';

/** Shows a sign-in or consent page as a card below the product's logo, without the navigation of the staff pages. */
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
 * Reads the query of a sign-in page: the path to open next, and the error of a form sent without JavaScript.
 *
 * @param wrong the error message for wrong credentials
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
  if (code === 'conflict') return 'This sign-in has expired. Start again with your password.';
  if (code === 'too_many_requests') return 'Too many attempts to sign in. Wait a while, then try again.';
  return 'Signing in does not work right now. Try again in a moment.';
}
