'use client';

import { useInterval } from '@mantine/hooks';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

const EVERY_MS = 2000;

/** Reloads the data of a page every few seconds while a job runs. */
export function RefreshWhile({ running }: { running: boolean }) {
  const router = useRouter();
  const { start, stop } = useInterval(() => router.refresh(), EVERY_MS);
  useEffect(() => {
    if (running) start();
    return stop;
  }, [running, start, stop]);
  return null;
}
