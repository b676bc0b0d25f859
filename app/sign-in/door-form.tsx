'use client';

import { Button, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ProblemAlert } from '../_components/problem-alert';
import type { Door } from './use-door';

interface Props {
  door: Door;
  /** Where it leads. */
  next: string;
  submit: string;
  children: ReactNode;
  /** Other ways, below the button. */
  otherWays: ReactNode;
}

/** The typed values of a sign-in form. */
export function DoorForm({ door: { form, problem, isPending }, next, submit, children, otherWays }: Props) {
  return (
    <form {...form}>
      <Stack gap="md">
        <ProblemAlert problem={problem} />
        <input type="hidden" name="next" value={next} />
        {children}
        <Button type="submit" loading={isPending} fullWidth mt="xs">
          {submit}
        </Button>
        {otherWays}
      </Stack>
    </form>
  );
}
