import { Alert } from '@mantine/core';

export function ProblemAlert({ problem }: { problem: string | null | undefined }) {
  if (!problem) return null;
  return (
    <Alert color="red" variant="light" role="alert">
      {problem}
    </Alert>
  );
}
