'use client';

import { PasswordInput } from '@mantine/core';

/** A password for another person. If empty, one is generated. */
export function PasswordField({ error }: { error: string | undefined }) {
  return (
    <PasswordInput
      label="Password"
      description="Leave empty to generate one. Otherwise 12 to 128 characters."
      name="password"
      autoComplete="new-password"
      maxLength={128}
      error={error}
    />
  );
}
