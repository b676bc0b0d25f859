'use client';

import { InputError, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './choice-group.module.css';

interface Props {
  label: string;
  error?: string | undefined;
  children: ReactNode;
}

/** Check boxes or radio buttons of one question. */
export function ChoiceGroup({ label, error, children }: Props) {
  return (
    <fieldset className={classes.group}>
      <legend className={classes.legend}>{label}</legend>
      <Stack gap="sm">
        {children}
        {error && <InputError role="alert">{error}</InputError>}
      </Stack>
    </fieldset>
  );
}
