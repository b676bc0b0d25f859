import { Alert } from '@mantine/core';

interface Props {
  /** What is wrong with no single field. */
  problem: string | undefined;
  /** What was typed before the session ended stands in the form again. */
  isKept: boolean;
}

/** What a form says above its fields. */
export function FormMessages({ problem, isKept }: Props) {
  return (
    <>
      {problem && (
        <Alert color="red" variant="light" role="alert">
          {problem}
        </Alert>
      )}
      {isKept && (
        <Alert color="blue" variant="light" role="status" data-unsaved>
          What you typed is restored here. It is not saved yet.
        </Alert>
      )}
    </>
  );
}
