import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

export function ProblemAlert({ problem }: { problem: ReactNode }) {
  if (!problem) return null;
  return (
    <Alert color="red" variant="light" role="alert">
      {problem}
    </Alert>
  );
}
